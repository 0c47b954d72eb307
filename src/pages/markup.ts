const safe: unique symbol = Symbol("safe HTML");

/** Safe HTML: made by `markup` or `trusted`. The symbol ensures that parsed JSON can never pass for it. */
export interface Html {
  readonly [safe]: string;
}

/** A value in a template. Text is escaped; `false`, `null`, and `undefined` produce nothing. */
export type Part = Html | string | number | false | null | undefined | readonly Part[];

/**
 * A template tag that escapes every value except HTML. Attributes must be quoted.
 * It is not called `html`, because formatters reformat the whitespace of templates with that tag.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = strings.reduce((html, string, at) => html + renderPart(parts[at - 1]) + string);
  return { [safe]: text };
}

/** Marks text as safe HTML. Only for text in the source code, never for input. */
export function trusted(text: string): Html {
  return { [safe]: text };
}

export function render(html: Html): string {
  return html[safe];
}

function renderPart(part: Part): string {
  if (part === undefined || part === null || part === false) return "";
  if (typeof part === "string") return escapeText(part);
  if (typeof part === "number") return String(part);
  return safe in part ? part[safe] : part.map(renderPart).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters that are invalid in HTML: all except tab and line breaks. */
const controls = /[^\P{Cc}\t\n\r]/gu;

/** Escapes text for HTML, including quoted attributes. */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(controls, "\uFFFD")
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** Whether a URL may be used in a link or image. Other schemes, such as `javascript:`, can contain code. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url);
}
