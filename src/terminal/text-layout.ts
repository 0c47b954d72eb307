import { indentLabels } from "./safe-text.ts";

/** Measures, truncates, and wraps text by the terminal columns that it fills. */
export interface TextLayout {
  widthOf(text: string): number;
  /** Shortens text that is wider than `width`, ending it in `…`. Never splits a grapheme. */
  truncate(text: string, width: number): string;
  /** Breaks text between words. A word wider than `width` gets a line of its own. */
  wrap(text: string, width: number): string[];
}

// oxlint-disable-next-line no-control-regex -- Color sequences start with a control character.
const colors = /\u001b\[[0-9;]*m/g;

/** Text in which every UTF-16 unit fills one column. */
const narrowText = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2015\u2018-\u201f\u2026\u2190-\u2193]*$/;

/**
 * The layout for Latin text, with or without colors; it assumes that every character fills one column.
 * It does not use `wrap-ansi` and `cli-truncate` for two measured reasons: importing them takes about 40 ms, and
 * `--help` must load no package; and `cli-truncate` takes 0.1 ms per cell, 20 seconds for 200,000 rows.
 */
export const narrowLayout: TextLayout = {
  widthOf: measureNarrow,
  truncate: (text, width) => {
    if (measureNarrow(text) <= width) return text;
    return width < 1 ? "" : `${text.slice(0, width - 1).trimEnd()}…`;
  },
  wrap: (text, width) => {
    const lines: string[] = [];
    let line: string | undefined;
    for (const word of text.split(" ")) {
      const longer: string = line === undefined ? word : `${line} ${word}`;
      if (line === undefined || measureNarrow(longer.trimEnd()) <= width) line = longer;
      else {
        lines.push(line.trimEnd());
        line = word === "" ? undefined : word;
      }
    }
    return line === undefined ? lines : [...lines, line];
  },
};

/** Returns a layout for these texts. Loads the packages for wide scripts only if one of the texts needs them. */
export async function layoutFor(texts: Iterable<string>): Promise<TextLayout> {
  for (const text of texts) if (!narrowText.test(text)) return loadLayout();
  return narrowLayout;
}

/** Loads the layout for text in any script: East Asian characters and emoji fill two columns, combining marks none. */
export async function loadLayout(): Promise<TextLayout> {
  const [{ default: stringWidth }, { default: cliTruncate }, { default: wrapAnsi }] = await Promise.all([
    import("string-width"),
    import("cli-truncate"),
    import("wrap-ansi"),
  ]);
  const isNarrow = (text: string) => narrowText.test(text);
  return {
    widthOf: (text) => (isNarrow(text) ? text.length : stringWidth(text)),
    truncate: (text, width) => {
      if (isNarrow(text)) return narrowLayout.truncate(text, width);
      const truncated = cliTruncate(text, width);
      // It keeps a wide character that starts in the last column, so the result can be one column too wide.
      return stringWidth(truncated) > width ? cliTruncate(text, width - 1) : truncated;
    },
    wrap: (text, width) => wrapAnsi(text, width).split("\n"),
  };
}

function measureNarrow(text: string): number {
  return text.replaceAll(colors, "").length;
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolates right-to-left text, so that it does not reorder the text next to it. */
export function isolateDirection(text: string): string {
  return rightToLeft.test(text) ? `\u2068${text}\u2069` : text;
}

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
