import { plainRuler, type Ruler } from "./display-width.ts";

/** What stays free for words beside the columns of a line; columns that leave less are not kept. */
const leastRoom = 24;

/**
 * A line on as many lines as a screen needs for it, broken between words. What follows goes under the line's last
 * column: that is behind two spaces or more.
 */
export function foldLine(text: string, width: number, ruler: Ruler = plainRuler): string[] {
  return foldUnder(text, width, findIndent(text, width), ruler);
}

/** The same, with what follows the first line moved in by `indent` columns. A word that is too wide stays whole. */
export function foldUnder(text: string, width: number, indent: number, ruler: Ruler = plainRuler): string[] {
  const lines: string[] = [];
  let open = text;
  while (ruler.widthOf(open) > width) {
    const fitting = ruler.fit(open, width);
    const before = open.lastIndexOf(" ", fitting);
    const end = before > indent ? before : open.indexOf(" ", Math.max(fitting, indent + 1));
    if (end <= indent) break;
    lines.push(open.slice(0, end).trimEnd());
    open = " ".repeat(indent) + open.slice(end).trimStart();
  }
  return [...lines, open];
}

function findIndent(text: string, width: number): number {
  const columns = [...text.matchAll(/ {2,}(?=\S)|^ (?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return columns.findLast((column) => column <= width - leastRoom) ?? 0;
}
