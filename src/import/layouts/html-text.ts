import { compile } from "html-to-text";
import { tooDeep } from "../check/damaged-values.ts";

const convert = compile({
  wordwrap: false,
  // Elements below are replaced by the mark.
  limits: { maxDepth: 256, ellipsis: tooDeep },
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "style", format: "skip" },
    { selector: "script", format: "skip" },
    { selector: "ul", options: { itemPrefix: "- " } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
  ],
});

/**
 * The text that a reader of the page would see, with paragraphs, lists, and tables as lines.
 * @returns `tooDeep` if the elements are too deeply nested
 */
export function readHtml(html: string): string {
  const text = convert(html);
  return text.includes(tooDeep) ? tooDeep : text.replaceAll("\u00a0", " ").trim();
}
