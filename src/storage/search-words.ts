/** Words of a text beyond this number cannot be found. PostgreSQL does not store the positions of more. */
const maxWords = 16_000;

/** Longer words are indexed and searched by their first characters. */
const maxWordLength = 64;

/** Scripts without spaces between words. Each of their characters counts as a word. */
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/**
 * Lists the words of a text in a form that ignores case, accents, and punctuation, so that both databases find the same.
 * Words consist of letters and digits: `Don't` has two.
 */
export function listWords(text: string): readonly string[] {
  const isPlain = /^[\0-\x7F]*$/.test(text);
  const folded = isPlain ? text.toLowerCase() : foldText(text);
  const spaced = isPlain ? folded.replaceAll(/[^a-z\d]/g, " ") : folded.replaceAll(/[^\p{L}\p{N}]/gu, " ");
  const words = spaced.split(" ").filter((word) => word !== "");
  return words.slice(0, maxWords).map(shorten);
}

/** Removes accents before and after the conversion to lower case, which can add some. */
function foldText(text: string): string {
  const lower = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return lower.replaceAll(/\p{M}/gu, "").replaceAll("ς", "σ").replaceAll(ideographs, " $& ");
}

function shorten(word: string): string {
  if (word.length <= maxWordLength) return word;
  // Not within a surrogate pair.
  return word.slice(0, maxWordLength).replace(/[\uD800-\uDBFF]$/, "");
}

/**
 * Reads what a user searches for: all words must occur, and words in quotation marks next to each other. Any text is valid.
 * @returns the phrases, each a list of words; a word that consists of several, such as `Don't`, is a phrase
 */
export function listPhrases(search: string): readonly (readonly string[])[] {
  const parts = search.match(/["“”„][^"“”„]*["“”„]?|[^\s"“”„]+/gu) ?? [];
  return parts.map(listWords).filter((words) => words.length > 0);
}

/**
 * The words of an account's text as they are indexed. They contain the account, so that searching reads only the part of
 * the index that belongs to it.
 */
export function toIndexed(accountId: number, words: readonly string[]): readonly string[] {
  return words.map((word) => `${accountId}_${word}`);
}

/** The tags of an account's record as they are indexed. No word contains a hyphen. */
export function toIndexedTags(accountId: number, tags: readonly string[]): readonly string[] {
  return tags.map((tag) => `${accountId}-${tag}`);
}
