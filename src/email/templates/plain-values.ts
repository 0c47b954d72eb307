import { TemplateError } from "./template-error.ts";

/** Elements whose content is not parsed as HTML. In the first two, values cannot be escaped safely. */
const rawElements = ["script", "style", "title", "textarea"] as const;
const unsafeElements = new Set<string>(["script", "style"]);

/**
 * Rejects HTML templates that output a value where escaping is not sufficient: unquoted in a tag, in a script or style
 * element, or in an attribute that contains code, styles, or HTML. Runs in linear time.
 * @throws TemplateError
 */
export function rejectUnsafeValues(html: string): void {
  const lower = toAsciiLowerCase(html);
  const after = (text: string, from: number) => {
    const found = lower.indexOf(text, from);
    return found < 0 ? html.length : found + text.length;
  };
  for (let at = 0; at < html.length;) {
    if (html.startsWith("{{", at)) at = after("}}", at);
    else if (html.startsWith("{%", at)) at = after("%}", at);
    else if (html.startsWith("<!--", at)) at = after("-->", at);
    else if (/^<\/?[a-z]/.test(lower.slice(at, at + 3))) {
      const raw = rawElements.find((name) => lower.startsWith(`<${name}`, at));
      at = skipTag(html, at, after);
      if (raw === undefined) continue;
      const end = after(`</${raw}`, at);
      if (unsafeElements.has(raw)) rejectValueIn(html, raw, [at, end]);
      at = end;
    } else at += 1;
  }
}

/** Returns the position after the tag that begins at `start`. */
function skipTag(html: string, start: number, after: (text: string, from: number) => number): number {
  let quote = "";
  let codeAttribute: string | undefined;
  for (let at = start; at < html.length;) {
    const character = html.charAt(at);
    if (/^\{[{%]/.test(html.slice(at, at + 2))) {
      const end = after(html[at + 1] === "{" ? "}}" : "%}", at);
      if (findValue(html.slice(at, end)) >= 0) rejectValueAt(html, at, quote, codeAttribute);
      at = end;
    } else {
      if (quote === "" && character === ">") return at + 1;
      if (quote === "" && (character === '"' || character === "'")) {
        quote = character;
        codeAttribute = codeAttributes.exec(html.slice(Math.max(start, at - maxNameLength), at))?.[1];
      } else if (character === quote) quote = "";
      at += 1;
    }
  }
  return html.length;
}

function rejectValueIn(html: string, element: string, [start, end]: readonly [number, number]): void {
  const at = findValue(html.slice(start, end));
  if (at >= 0) throw errorAt(html, start + at, `values are not allowed in <${element}>`);
}

/** An attribute that contains code, styles, or HTML, before its opening quote. */
const codeAttributes = /[\s"'/](on[a-z]+|style|srcdoc)\s*=\s*$/i;
const maxNameLength = 40;

function rejectValueAt(html: string, at: number, quote: string, codeAttribute: string | undefined): void {
  if (quote === "") throw errorAt(html, at, 'values in a tag must be quoted: href="{{ … }}"');
  if (codeAttribute !== undefined)
    throw errorAt(html, at, `values are not allowed in ${codeAttribute.toLowerCase()}="…"`);
}

/** Returns the position of the first output of a value, or -1. */
function findValue(template: string): number {
  return template.search(/\{\{|\{%-?\s*(?:echo|liquid)\b/);
}

/** Converts only ASCII letters, so that the length of the text does not change. */
function toAsciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function errorAt(html: string, index: number, problem: string): TemplateError {
  const before = html.slice(0, index).split("\n");
  return new TemplateError("html", problem, {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
  });
}
