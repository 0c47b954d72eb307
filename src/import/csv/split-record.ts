const quote = 34;

/**
 * Splits a record at its delimiters. A cell that begins with a quote ends at the next quote that is not doubled; in other
 * cells, quotes are text. Source: RFC 4180; any text is read outside quotes, as csv-parse does with `relax_quotes`.
 * @param delimiter one character
 * @throws Error if a quoted cell is not closed correctly, which the scanner finds before
 */
export function splitRecord(text: string, delimiter: string): string[] {
  const cells: string[] = [];
  const delimiterCode = delimiter.charCodeAt(0);
  for (let at = 0; ; at++) {
    if (text.charCodeAt(at) === quote) {
      const end = findClosingQuote(text, at);
      const cell = text.slice(at + 1, end);
      cells.push(cell.includes('"') ? cell.replaceAll('""', '"') : cell);
      at = end + 1;
    } else {
      const end = text.indexOf(delimiter, at);
      cells.push(end < 0 ? text.slice(at) : text.slice(at, end));
      at = end < 0 ? text.length : end;
    }
    if (at === text.length) return cells;
    if (text.charCodeAt(at) !== delimiterCode) throw new Error("a quoted cell is followed by text");
  }
}

function findClosingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1);
  while (at >= 0 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2);
  if (at < 0) throw new Error("a quoted cell is not closed");
  return at;
}
