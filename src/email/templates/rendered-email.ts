/** Control characters but tab and line end; no mail has use for them. */
const controls = /[^\P{Cc}\t\n]/gu;
/** Marks that turn the direction of the text after them, until they are closed or the paragraph ends. */
const turning = /[\u202A-\u202E\u2066-\u2069]/gu;

/** A value for a line of its own: line ends and control characters become spaces. */
export function asOneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** A value of several lines, ended by LF. */
export function asLines(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/gu, "\n")
    .replaceAll(controls, "");
}

/** For what stands beside others' in a list of mails: nothing that turns it round. */
export function withoutTurns(text: string): string {
  return text.replaceAll(turning, "");
}

/** Cuts a text, and says so. `length` is in characters, and counts none by halves. */
export function shorten(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
