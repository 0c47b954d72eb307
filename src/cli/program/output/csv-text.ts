import { markFormula } from "../../../export/formula-mark.ts";
import type { Globals } from "../global-flags.ts";
import type { Io } from "../io.ts";

/**
 * How texts are written in CSV output: protected from spreadsheets that would run them as formulas; on a terminal, also
 * without line breaks, with which data could forge rows.
 */
export function csvTextOf({ isStdoutTerminal }: Io, { raw }: Globals, isFile = false): (text: string) => string {
  const mark = raw ? (text: string) => text : markFormula;
  if (isFile || !isStdoutTerminal) return mark;
  return (text) => mark(text).replaceAll(/\r\n|\r|\n/g, (found) => JSON.stringify(found).slice(1, -1));
}
