import { ownColor } from "./colors.ts";

/**
 * Characters that control a terminal, break a line, reorder text, or are invisible. Joiners, which emoji and several
 * scripts need, and format characters that are visible are not included.
 */
const unsafe = String.raw`\p{Cc}\p{Zl}\p{Zp}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{1D173}-\u{1D17A}\u{E0000}-\u{E007F}`;
const breaksOrControls = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const unsafeCharacter = new RegExp(`[${unsafe}]`, "gu");
const colorOrUnsafe = new RegExp(String.raw`(${ownColor.source})|[${unsafe}]`, "gu");

/** Makes data printable on one line: replaces control characters and line breaks with spaces, and removes the others. */
export function sanitizeText(text: string): string {
  return text.replaceAll(unsafeCharacter, toSpace);
}

/** Like `sanitizeText`, but keeps the program's own colors. */
export function sanitizeLine(line: string): string {
  return line.replaceAll(colorOrUnsafe, (found, color: string | undefined) => color ?? toSpace(found));
}

const labelAtLineStart = new RegExp(String.raw`^(?:${ownColor.source}|\u2068)*(?:error|hint):`, "gimu");

/** Indents lines of data that start like the program's own errors, so that nobody mistakes them for one. */
export function indentLabels(text: string): string {
  return text.replaceAll(labelAtLineStart, (found) => ` ${found}`);
}

function toSpace(character: string): string {
  return breaksOrControls.test(character) ? " " : "";
}

/** Characters that are safe in a complete output: line breaks, tabs, and the isolates of right-to-left text. */
const isAllowed: ReadonlySet<string> = new Set(["\n", "\t", "\u2068", "\u2069"]);

/**
 * Escapes everything in an output that a terminal would interpret, in the notation of JSON (`\u001b`), so that JSON
 * remains valid and has the same values. The program's own colors become color sequences.
 */
export function escapeForTerminal(text: string): string {
  return text.replaceAll(colorOrUnsafe, (found, color: string | undefined, code: string | undefined) => {
    if (color !== undefined) return `\u001B[${code ?? "0"}m`;
    return isAllowed.has(found) ? found : escapeUnits(found);
  });
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
