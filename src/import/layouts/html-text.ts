import { compile } from "html-to-text";

const convert = compile({
  wordwrap: false,
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

/** The text that a reader of the page would see, with paragraphs, lists, and tables as lines. */
export function readHtml(html: string): string {
  return convert(html).replaceAll("\u00a0", " ").trim();
}
