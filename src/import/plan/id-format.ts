/**
 * The form in which two ids are taken for one id that was written in two ways: a spreadsheet eats zeros at the left,
 * people and shops differ in case and in blanks at the ends.
 * Assumed: letters of full width and the like are the same letters; the service itself keeps all of them apart.
 */
export function normalizeId(id: string): string {
  return id
    .normalize("NFKC")
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, "");
}
