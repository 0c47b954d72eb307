const safe: unique symbol = Symbol("safe HTML");

/** HTML that is safe as it is: made by `markup`, or written by us. Nothing that was read as JSON can be one. */
export interface Html {
  readonly [safe]: string;
}

/** What a template takes: text is escaped, and what is not there leaves nothing. */
export type Part = Html | string | number | false | null | undefined | readonly Part[];

/**
 * A template of HTML: everything that is put into it is escaped, unless it is HTML itself. Attributes must be quoted.
 * It is not called `html`, by which formatters know templates whose spaces they may change.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = strings.reduce((made, string, at) => made + renderPart(parts[at - 1]) + string);
  return { [safe]: text };
}

/** Our own text as it is; never what anybody else wrote. */
export function trusted(text: string): Html {
  return { [safe]: text };
}

export function render(made: Html): string {
  return made[safe];
}

function renderPart(part: Part): string {
  if (part === undefined || part === null || part === false) return "";
  if (typeof part === "string") return escapeText(part);
  if (typeof part === "number") return String(part);
  return isList(part) ? part.map(renderPart).join("") : part[safe];
}

function isList(part: Html | readonly Part[]): part is readonly Part[] {
  return Array.isArray(part);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters but tab and line ends; HTML has none of them. */
const controls = /[^\P{Cc}\t\n\r]/gu;

/** Text as HTML, also inside of quoted attributes. */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(controls, "\uFFFD")
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
