/** Column names that hold a field: unambiguous ones, and vague ones that may mean something else. */
export interface FieldSynonyms {
  readonly plain: readonly string[];
  readonly vague: readonly string[];
}

/**
 * Declares a field's synonyms, separated by `|`. Case, accents, and the characters between words are ignored.
 */
export function synonyms(plain: string, vague = ""): FieldSynonyms {
  const split = (list: string) => list.split("|").filter((name) => name !== "");
  return { plain: split(plain), vague: split(vague) };
}
