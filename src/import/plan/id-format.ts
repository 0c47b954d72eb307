/**
 * Normalizes an ID so that two spellings of the same one become equal: spreadsheets drop leading zeros, and people and
 * shops vary case and surrounding whitespace.
 * Assumed: full-width letters and the like are the same letters; the service itself distinguishes all of them.
 */
export function normalizeId(id: string): string {
  return id
    .normalize("NFKC")
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, "");
}
