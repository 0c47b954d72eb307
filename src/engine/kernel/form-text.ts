import { isBlank } from "../../contract/index.ts";

/** Removes spaces around a line of a form, and collapses those in it. */
export function collapseSpaces(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

/** Line breaks count as one character, as in browsers. */
export function normalizeBreaks(text = ""): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

interface TextRule {
  /** Begins a message: "The title". */
  readonly name: string;
  /** The message if there is no text. */
  readonly required: string;
  /** In UTF-16 code units, as browsers count. */
  readonly limit: number;
}

/** Returns what is wrong with a text of a form, for shoppers. */
export function findTextProblem(text: string, { name, required, limit }: TextRule): string | undefined {
  if (isBlank(text)) return required;
  if (!text.isWellFormed() || text.includes("\u0000")) {
    return `${name} contains a character that cannot be stored. Remove it and try again.`;
  }
  if (text.length <= limit) return undefined;
  return `${name} is longer than ${limit.toLocaleString("en-GB")} characters; it has ${text.length.toLocaleString("en-GB")}.`;
}
