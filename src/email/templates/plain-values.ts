import { TemplateError } from "./template-error.ts";

/** Elements whose text is no HTML; a value in one of the first two could not be made harmless. */
const rawElements = ["script", "style", "title", "textarea"] as const;
const closedElements = new Set<string>(["script", "style"]);

/**
 * Refuses a template of HTML that puts a value where escaping does not help: into a tag without quotes around it, into a
 * script or a style, or into an attribute that is one. Goes over the text once.
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
      if (closedElements.has(raw)) refuseValueIn(html, raw, [at, end]);
      at = end;
    } else at += 1;
  }
}

/** Where the tag that begins at `start` has ended. */
function skipTag(html: string, start: number, after: (text: string, from: number) => number): number {
  let quote = "";
  let program: string | undefined;
  for (let at = start; at < html.length;) {
    const character = html.charAt(at);
    if (/^\{[{%]/.test(html.slice(at, at + 2))) {
      const end = after(html[at + 1] === "{" ? "}}" : "%}", at);
      if (findValue(html.slice(at, end)) >= 0) refuseValueAt(html, at, quote, program);
      at = end;
    } else {
      if (quote === "" && character === ">") return at + 1;
      if (quote === "" && (character === '"' || character === "'")) {
        quote = character;
        program = programs.exec(html.slice(Math.max(start, at - longestName), at))?.[1];
      } else if (character === quote) quote = "";
      at += 1;
    }
  }
  return html.length;
}

function refuseValueIn(html: string, element: string, [start, end]: readonly [number, number]): void {
  const at = findValue(html.slice(start, end));
  if (at >= 0) throw problemAt(html, start + at, `a value cannot stand in a ${element}`);
}

/** An attribute, before its quote, whose text is read as a program, as styles or as a page of its own. */
const programs = /[\s"'/](on[a-z]+|style|srcdoc)\s*=\s*$/i;
const longestName = 40;

function refuseValueAt(html: string, at: number, quote: string, program: string | undefined): void {
  if (quote === "") throw problemAt(html, at, 'a value in a tag needs quotes around it: href="{{ … }}"');
  if (program !== undefined)
    throw problemAt(html, at, `a value cannot stand in ${program.toLowerCase()}="…"`);
}

/** Where a value is put out first; -1 where none is. */
function findValue(template: string): number {
  return template.search(/\{\{|\{%-?\s*(?:echo|liquid)\b/);
}

/** As long as the text is, which letters of other scripts need not be in the other case. */
function toAsciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function problemAt(html: string, index: number, says: string): TemplateError {
  const before = html.slice(0, index).split("\n");
  return new TemplateError("html", says, {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
  });
}
