import type { FileFormat } from "../../../csv/file-format.ts";
import { type HeaderSearch, maxSearched } from "../../../csv/locate-header.ts";
import { FileFormatError, usageError } from "../../../import-error.ts";
import { listNames } from "../../../mapping/names.ts";
import type { StampedFile } from "../../containers/file-pieces.ts";
import { showName, readZipDirectory, type ZipEntry, rejectUnreadable } from "../../containers/zip-directory.ts";
import { formatOf, TableWriter } from "../table-writer.ts";
import { collectFormats, type NumberFormat } from "./number-formats.ts";
import { collectStrings, SharedStrings, tooMuchText, workbookLimits } from "./shared-strings.ts";
import { SheetReader } from "./sheet-rows.ts";
import { posix } from "node:path";
import { inflateEntry } from "../../containers/inflate.ts";
import { damagedWorkbook, parseXml, prefixedAttribute, type XmlHandler } from "./xml.ts";

interface SheetRequest {
  /** As messages name the file. */
  readonly given: string;
  /** The name of the sheet; by default, the first visible one. */
  readonly sheet: string | undefined;
  readonly search?: HeaderSearch | undefined;
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
  { given, sheet: requested, search, copy, notice }: SheetRequest,
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
  if (stylesPart !== undefined) parseList(workbook.parse, stylesPart, collectFormats(formats));
  if (stringsPart !== undefined) {
    const handler = limitElements(collectStrings(strings), workbookLimits.textElements, tooMuchText);
    for (const _ of workbook.parse(stringsPart, handler)) yield { rows: 0 };
  }
  const writer = new TableWriter(copy);
  const rows = new SheetRows(writer, search);
  const reader = new SheetReader({ strings, formats, is1904 }, (row, cells) => rows.add(row, cells));
  try {
    for (const _ of workbook.parse(sheet.part, reader)) yield { rows: rows.count };
    rows.end();
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

/** Writes rows with the number of cells of the header; those above it as they are. */
class SheetRows {
  readonly #writer: TableWriter;
  readonly #search: HeaderSearch | undefined;
  /** The first rows, among which the header is searched. */
  #first: { readonly row: number; readonly cells: string[] }[] | undefined = [];
  width = 0;
  count = 0;
  /** Rows with cells beyond the header, and the first of them. */
  readonly wide = { count: 0, firstRow: 0 };

  constructor(writer: TableWriter, search: HeaderSearch | undefined) {
    this.#writer = writer;
    this.#search = search;
  }

  add(row: number, cells: string[]): void {
    if (cells.length === 0) return;
    if (!this.#first) {
      this.#write(row, cells);
      return;
    }
    if (this.#first.length === 0 && isBlank(cells)) return;
    this.#first.push({ row, cells });
    const headerRow = this.#search ? this.#search.row : row;
    if (
      headerRow === undefined
        ? this.#first.filter((one) => !isBlank(one.cells)).length === maxSearched
        : row >= headerRow
    )
      this.end();
  }

  /** Writes the first rows once the header can be found among them. */
  end(): void {
    const first = this.#first;
    if (!first) return;
    this.#first = undefined;
    const header = this.#search?.find(first)?.record ?? first[0];
    this.width = header?.cells.length ?? 0;
    for (const { row, cells } of first) {
      if (row < (header?.row ?? 0)) this.#writer.add(row, cells);
      else this.#write(row, cells);
    }
    this.count = Math.max(0, this.count - 1);
  }

  #write(row: number, cells: string[]): void {
    this.count++;
    if (cells.length > this.width) {
      this.wide.count++;
      this.wide.firstRow ||= row;
      cells.length = this.width;
    }
    while (cells.length < this.width) cells.push("");
    this.#writer.add(row, cells);
  }
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
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

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** The path of its contents. */
  readonly part: string;
}

/** The sheets of an .xlsx file, and where their contents are. Source: ECMA-376, parts 1 and 2. */
export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** Whether days are counted from 1904, as in files from old Macs. */
  readonly is1904: boolean;
  readonly stringsPart: string | undefined;
  readonly stylesPart: string | undefined;
  /** Parses a part of the workbook, piece by piece. */
  readonly parse: (part: string, handler: XmlHandler) => Generator<void>;
}

interface Relation {
  readonly id: string;
  /** The last part of its type, such as `worksheet`. */
  readonly type: string;
  readonly target: string;
}

/** Other documents in the same kind of archive, by the extension of their main part. */
const otherDocuments: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\.bin$/i, "a binary Excel workbook (.xlsb)"],
  [/^word\//i, "a Word document"],
  [/^ppt\//i, "a PowerPoint presentation"],
];

/**
 * Opens an .xlsx file.
 * @throws FileFormatError if it is damaged, or another kind of document
 */
export function openWorkbook(file: StampedFile): Workbook {
  const entries = new Map<string, ZipEntry>();
  for (const entry of readZipDirectory(file)) entries.set(keyOf(entry.name), entry);
  const parse = function* (part: string, handler: XmlHandler): Generator<void> {
    const entry = entries.get(keyOf(part));
    if (!entry) throw damagedWorkbook();
    rejectUnreadable(entry);
    yield* parseXml(inflateEntry(file, entry), handler);
  };
  const main = readRelations("", parse).find(({ type }) => type === "officeDocument")?.target;
  if (main === undefined) throw damagedWorkbook();
  const other = otherDocuments.find(([pattern]) => pattern.test(main));
  if (other) throw new FileFormatError(`the file is ${other[1]}`, "save the table as .xlsx or CSV, and import that");
  const relations = readRelations(main, parse);
  const targetOf = (type: string) => relations.find((relation) => relation.type === type)?.target;
  return {
    ...readSheets(main, relations, parse),
    stringsPart: targetOf("sharedStrings"),
    stylesPart: targetOf("styles"),
    parse,
  };
}

/** Names of parts do not depend on case; some programs write backslashes. */
function keyOf(name: string): string {
  return name.replaceAll("\\", "/").toLowerCase();
}

/** The relations of a part; those of the whole package if it is empty. */
function readRelations(part: string, parse: Workbook["parse"]): Relation[] {
  const relations: Relation[] = [];
  const folder = posix.dirname(part);
  const open: XmlHandler["open"] = (name, { Id: id = "", Type: type = "", Target: target = "" }) => {
    if (name !== "Relationship") return;
    const path = posix.join("/", target.startsWith("/") ? "" : folder, target).slice(1);
    relations.push({ id, type: type.slice(type.lastIndexOf("/") + 1), target: path });
  };
  parseList(parse, posix.join(folder, "_rels", `${posix.basename(part)}.rels`), { open });
  return relations;
}

function readSheets(
  main: string,
  relations: readonly Relation[],
  parse: Workbook["parse"],
): Pick<Workbook, "sheets" | "is1904"> {
  const sheets: Sheet[] = [];
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  let is1904 = false;
  const open: XmlHandler["open"] = (name, attributes) => {
    if (name === "workbookPr") is1904 = ["1", "true"].includes(attributes["date1904"] ?? "");
    if (name !== "sheet") return;
    const id = prefixedAttribute(attributes, "id");
    const relation = id === undefined ? undefined : byId.get(id);
    // Charts and dialogs are sheets too.
    if (relation?.type !== "worksheet") return;
    const isHidden = (attributes["state"] ?? "visible") !== "visible";
    sheets.push({ name: attributes["name"] ?? "", isHidden, part: relation.target });
  };
  parseList(parse, main, { open });
  return { sheets, is1904 };
}

function limitElements(handler: XmlHandler, max: number, exceeded: () => Error): XmlHandler {
  let count = 0;
  return {
    ...handler,
    open: (name, attributes) => {
      count += 1;
      if (count > max) throw exceeded();
      handler.open?.(name, attributes);
    },
  };
}

/** Parses a part with sheets, relations, or formats to its end. */
function parseList(parse: Workbook["parse"], part: string, handler: XmlHandler): void {
  const exceeded = () =>
    new FileFormatError(
      `${showName(part)} in the Excel workbook has more than 1,000,000 elements`,
      "export the sheet as CSV, and import that",
    );
  for (const _ of parse(part, limitElements(handler, workbookLimits.listElements, exceeded)));
}
