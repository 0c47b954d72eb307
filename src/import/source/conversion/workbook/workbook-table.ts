import type { FileFormat } from "../../../csv/file-format.ts";
import { FileFormatError, usageError } from "../../../import-error.ts";
import type { StampedFile } from "../../containers/file-pieces.ts";
import { listNames, showName } from "../../containers/zip-files.ts";
import { formatOf, TableWriter } from "../table-writer.ts";
import { collectFormats, type NumberFormat } from "./number-formats.ts";
import { collectStrings, SharedStrings } from "./shared-strings.ts";
import { SheetReader } from "./sheet-rows.ts";
import { openWorkbook, runThrough, type Sheet } from "./workbook.ts";

interface SheetRequest {
  /** As messages name the file. */
  readonly given: string;
  /** The name of the sheet; by default, the first visible one. */
  readonly sheet: string | undefined;
  /** The path of the table. */
  readonly copy: string;
  readonly notice: (message: string) => void;
}

/**
 * Converts a sheet of an .xlsx file to a table with the same row numbers.
 * @throws FileFormatError if the file is damaged or too large, or the sheet is empty
 * @throws ImportError `usage` if it has no such sheet
 */
export function* convertSheet(
  file: StampedFile,
  { given, sheet: requested, copy, notice }: SheetRequest,
): Generator<{ readonly rows: number }, FileFormat> {
  const workbook = openWorkbook(file);
  const sheet = chooseSheet(given, workbook.sheets, requested);
  const others = workbook.sheets.filter((other) => other !== sheet);
  if (others.length > 0 && requested === undefined) {
    notice(`${given}: using the sheet ${quote(sheet)}, not ${listSheets(others)}; to choose another, pass --sheet`);
  }
  const formats: (NumberFormat | undefined)[] = [];
  const strings = new SharedStrings();
  const { stringsPart, stylesPart, is1904 } = workbook;
  if (stylesPart !== undefined) runThrough(workbook.parse(stylesPart, collectFormats(formats)));
  if (stringsPart !== undefined) {
    for (const _ of workbook.parse(stringsPart, collectStrings(strings))) yield { rows: 0 };
  }
  const writer = new TableWriter(copy);
  const rows = new SheetRows(writer);
  const reader = new SheetReader({ strings, formats, is1904 }, (row, cells) => rows.add(row, cells));
  try {
    for (const _ of workbook.parse(sheet.part, reader)) yield { rows: rows.count };
  } finally {
    writer.close();
  }
  if (rows.width === 0) {
    const hint = others.length > 0 ? `to import another sheet, pass --sheet: ${listSheets(others)}` : undefined;
    throw new FileFormatError(`the sheet ${quote(sheet)} is empty`, hint);
  }
  for (const message of describeLosses(rows, reader)) notice(`${given}: ${message}`);
  return formatOf("sheet");
}

/** Writes rows with the number of cells of the header, which is the first row with any. */
class SheetRows {
  readonly #writer: TableWriter;
  width = 0;
  count = 0;
  /** Rows with cells beyond the header, and the first of them. */
  readonly wide = { count: 0, firstRow: 0 };

  constructor(writer: TableWriter) {
    this.#writer = writer;
  }

  add(row: number, cells: string[]): void {
    if (cells.length === 0 || (this.width === 0 && cells.every((cell) => cell.trim() === ""))) return;
    if (this.width === 0) this.width = cells.length;
    else this.count++;
    if (cells.length > this.width) {
      this.wide.count++;
      this.wide.firstRow ||= row;
      cells.length = this.width;
    }
    while (cells.length < this.width) cells.push("");
    this.#writer.add(row, cells);
  }
}

function* describeLosses({ wide }: SheetRows, { unsaved }: SheetReader): Generator<string> {
  if (wide.count > 0) {
    const rows = wide.count === 1 ? "1 row has" : `${wide.count} rows have`;
    yield `${rows} cells to the right of the header, which are ignored; first: row ${wide.firstRow}`;
  }
  if (unsaved.count > 0) {
    const formulas = unsaved.count === 1 ? "1 formula has" : `${unsaved.count} formulas have`;
    const advice = "open the workbook in a spreadsheet program and save it again";
    yield `${formulas} no saved result (first: row ${unsaved.firstRow}); their cells are empty; ${advice}`;
  }
}

function chooseSheet(given: string, sheets: readonly Sheet[], requested: string | undefined): Sheet {
  const same = (one: Sheet) => one.name.toLowerCase() === requested?.toLowerCase();
  const found =
    requested === undefined
      ? (sheets.find(({ isHidden }) => !isHidden) ?? sheets[0])
      : (sheets.find(({ name }) => name === requested) ?? sheets.find(same));
  if (found) return found;
  if (requested === undefined) throw new FileFormatError("the Excel workbook contains no sheet with cells");
  throw usageError(`${given}: no sheet is named "${requested}"`, `its sheets are ${listSheets(sheets)}`, {
    misnamed: { given: requested, known: sheets.map(({ name }) => name) },
  });
}

function listSheets(sheets: readonly Sheet[]): string {
  return listNames(sheets.map(quote));
}

function quote({ name }: Sheet): string {
  return `'${showName(name)}'`;
}
