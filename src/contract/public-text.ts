import { hasHiddenCharacters } from "./email-address.ts";

/** Maximum lengths of the name of a person, and of who makes changes, which can be a person with the run of an import. */
export const maxActorName = { person: 100, any: 150 } as const;

/** Whether a text can name who makes changes: it is shown in tables and histories. */
export function isActorName(text: string, maxLength: number): boolean {
  const isVisible = !/\p{Cc}/u.test(text) && !hasHiddenCharacters(text);
  return text.trim() !== "" && text.length <= maxLength && text.isWellFormed() && isVisible;
}

/** Scripts in which names are usually written family name first, and often without a space. */
const familyFirstScripts = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}]/u;

/** Commas of all scripts. After one, the given name follows. */
const commas = /[,;،؛՝፣，；、､]/u;

/** What may follow a name after a comma instead of the given name. */
const nameSuffix = /^(?:jr|sr|i{2,3}|iv|esq|ph\.?d)\.?$/iu;

/** Separates words like a space does: `J.Smith`, `Ann/Lee`. */
const separators = /[./|&+·•\u200B](?=[^./|&+·•\u200B])/u;

const initialOf = (text: string) => /[\p{L}\p{N}]/u.exec(text)?.[0] ?? "";

function wordsOf(name: string): string[] {
  const words = name.split(/\s+/u).flatMap((word) =>
    // Of an email address, only the part before the @ counts.
    /[^@]@/.test(word) ? word.replace(/^(@*[^@]+)@.*$/, "$1").split(/[.+_-]+/) : word.split(separators),
  );
  return words.filter((word) => word !== "");
}

/**
 * Shortens a name for public display: the given name and the initial of the family name.
 * Source: practice of services of this kind. Assumed: the last word is the family name, unless a comma follows it ("O'Brien,
 * Pat" is "Pat O."); a name in Chinese, Japanese, or Korean script is reduced to its first character.
 */
export function shortenName(displayName: string): string {
  const name = displayName.normalize("NFC");
  if (familyFirstScripts.test(name)) return initialOf(name);
  const [start = "", ...afterComma] = name.split(commas);
  const before = wordsOf(start);
  const after = afterComma.filter((part) => !nameSuffix.test(part.trim())).map(wordsOf);
  const given = afterComma.length === 0 ? before.shift() : after.find((words) => words.length > 0)?.[0];
  // In upper case, a letter such as ß is two.
  const [initial = ""] = initialOf(before.at(-1) ?? "").toUpperCase();
  return [given ?? "", initial === "" ? "" : `${initial}.`].filter((part) => part !== "").join(" ");
}

/** A colon before slashes, and a dot before a letter or a digit, except in numbers; invisible characters may be in between. */
const linkParts = /:(?=\p{Cf}*[/\\])|(?<![\d.])[.․﹒．](?=\p{Cf}*[\p{L}\p{N}])|[.․﹒．](?=\p{Cf}*\p{L})/gu;

/** Adds spaces to URLs and domain names, so that no email client turns them into links. */
export function breakLinks(text: string): string {
  return text.replaceAll(linkParts, "$& ");
}
