/** Control characters except tab and line feed. */
const controlCharacters = /[^\P{Cc}\t\n]/gu;
/** Characters that change the text direction until they are closed or the paragraph ends. */
const directionMarks = /[\u202A-\u202E\u2066-\u2069]/gu;

/** Replaces line breaks and control characters with spaces. */
export function asOneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Normalizes line breaks to LF and removes control characters. */
export function normalizeLines(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/gu, "\n")
    .replaceAll(controlCharacters, "");
}

/** Removes characters that change the text direction, which would affect other text in a list of emails. */
export function removeDirectionMarks(text: string): string {
  return text.replaceAll(directionMarks, "");
}

/** Truncates a text with an ellipsis. `length` is in code points. */
export function truncate(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
