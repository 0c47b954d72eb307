import { indentLabels } from "./safe-text.ts";
import { narrowLayout, type TextLayout } from "./text-layout.ts";

/** The fewest columns left for the text next to aligned columns; with less, continuation lines start further left. */
const minTextWidth = 24;

/** Wraps a line at `width`. Continuation lines align with its last column, which is text after two or more spaces. */
export function wrapLine(text: string, width: number, layout: TextLayout = narrowLayout): string[] {
  return wrapIndented(text, width, findIndent(text, width), layout);
}

/** Wraps a line at `width`, and indents the continuation lines by `indent` columns. Never splits a word. */
export function wrapIndented(text: string, width: number, indent: number, layout: TextLayout = narrowLayout): string[] {
  if (layout.widthOf(text) <= width) return [text];
  const [first = "", ...rest] = layout.wrap(text.slice(indent), width - indent);
  return [text.slice(0, indent) + first, ...rest.map((line) => indentLabels(" ".repeat(indent) + line))];
}

function findIndent(text: string, width: number): number {
  const columns = [...text.matchAll(/(?<! ) {2,}(?=\S)|^ (?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return columns.findLast((column) => column <= width - minTextWidth) ?? 0;
}
