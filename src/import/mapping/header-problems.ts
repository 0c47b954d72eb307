import type { ImportBehavior } from "../kind.ts";

/**
 * Explains a first row that is not a header: another delimiter separates its cells, or it contains data.
 * @param delimiter the one that a flag specifies
 */
export function describeHeader(
  header: readonly string[],
  { fields }: Pick<ImportBehavior, "fields">,
  delimiter: string | undefined,
): string | undefined {
  const required = fields.filter(({ required: isRequired }) => isRequired);
  const [first = ""] = header;
  if (header.length === 1 && required.length > 1) {
    if (delimiter !== undefined) {
      return `the first row has only one column with the delimiter '${delimiter}'; to detect the delimiter, remove --delimiter`;
    }
    const separator = findSeparator(first);
    if (separator !== undefined) {
      return `the first row has only one column; if '${separator}' separates the columns, pass --delimiter '${separator}'`;
    }
  }
  const filled = header.filter((name) => name !== "");
  if (filled.filter(isValue).length * 2 < filled.length) return undefined;
  const names = required.map(({ name }) => name).join(",");
  return `the first row looks like data, but it must name the columns; insert a first row such as:\n  ${names}`;
}

/** The character between the names of a header that is used most. */
function findSeparator(header: string): string | undefined {
  const counts = new Map<string, number>();
  for (const [character] of header.matchAll(/[^\p{L}\p{N}\s"'`._\\-]/gu)) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const [[character, count] = ["", 0]] = [...counts].toSorted(([, a], [, b]) => b - a);
  return count >= 2 && character.length === 1 ? character : undefined;
}

/** Whether a cell is a number, a date, an email address, or a URL, which are not names of columns. */
function isValue(cell: string): boolean {
  return /^[\p{Sc}#+-]?\d[\d.,:/ TZ+-]*$/u.test(cell) || /^[^\s@]+@[^\s@]+$/.test(cell) || /^https?:\/\//i.test(cell);
}
