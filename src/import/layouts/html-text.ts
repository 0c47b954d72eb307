import { compile, type DomNode, type FormatCallback } from "html-to-text";
import { tooComplex } from "../check/damaged-values.ts";

/** Limits that keep the time and memory for any text small. A span is a number of columns or rows of a table cell. */
const most = { depth: 256, tags: 20_000, span: 10 } as const;

/** Elements without content, and those that the next one of their kind ends. */
const unnested = new Set(
  "area base br col embed hr img input link meta source track wbr p li dt dd option tr td th thead tbody tfoot".split(
    " ",
  ),
);

/** The same as the library's formatter of tables, without absurd spans, which it would fill with cells. */
const formatTable: FormatCallback = (table, walk, builder, options) => {
  boundSpans(table.children);
  builder.options.formatters?.["dataTable"]?.(table, walk, builder, options);
};

const convert = compile({
  wordwrap: false,
  // Elements below are replaced by the mark.
  limits: { maxDepth: most.depth, ellipsis: tooComplex },
  formatters: { boundedTable: formatTable },
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "style", format: "skip" },
    { selector: "script", format: "skip" },
    { selector: "ul", options: { itemPrefix: "- " } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: "table", format: "boundedTable", options: { uppercaseHeaderCells: false } },
  ],
});

/**
 * The text that a reader of the page would see, with paragraphs, lists, and tables as lines.
 * @returns `tooComplex` if the elements are nested too deeply or too many
 */
export function readHtml(html: string): string {
  if (isTooComplex(html)) return tooComplex;
  const text = convert(html);
  return text.includes(tooComplex) ? tooComplex : text.replaceAll("\u00a0", " ").trim();
}

/** Checks nesting before the HTML is parsed, because the parser needs quadratic time for deeply nested elements. */
function isTooComplex(html: string): boolean {
  let depth = 0;
  let tags = 0;
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-z][a-z0-9]{0,19})/gi)) {
    if (++tags > most.tags) return true;
    if (unnested.has(name.toLowerCase())) continue;
    depth = slash === "/" ? Math.max(0, depth - 1) : depth + 1;
    if (depth > most.depth) return true;
  }
  return false;
}

function boundSpans(table: readonly DomNode[]): void {
  const open = [...table];
  for (let node = open.pop(); node; node = open.pop()) {
    const { attribs, children } = node;
    for (const name of ["colspan", "rowspan"]) {
      if (attribs?.[name] !== undefined && !(Number(attribs[name]) <= most.span)) delete attribs[name];
    }
    for (const child of children ?? []) open.push(child);
  }
}
