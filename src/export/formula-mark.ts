/**
 * Cells that a spreadsheet would run as a formula, with any number of marks before them. Spreadsheets ignore quotes, and
 * East Asian ones accept full-width characters. Source: OWASP, "CSV Injection".
 */
const formula = /^'*(?:[\t\r\n]|["\p{White_Space}\p{Cf}]*[=+\-@＝＋－＠])/u;

/**
 * Puts `'` before a text that a spreadsheet would run as a formula, and before one that already has such a mark, so that
 * `unmarkFormula` always returns the original text.
 */
export function markFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/**
 * Removes the mark of a cell.
 * Assumed: in any file, because other programs protect their exports in the same way; only a text that begins with `'`
 * and such a character, written by a program that does not protect its exports, loses the `'`.
 */
export function unmarkFormula(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}
