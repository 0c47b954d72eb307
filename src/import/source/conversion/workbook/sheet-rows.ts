import { FileFormatError } from "../../../import-error.ts";
import { formatIsoDate, formatNumber, unescapeText } from "./cell-text.ts";
import type { NumberFormat } from "./number-formats.ts";
import { maxTextLength, type SharedStrings, workbookLimits } from "./shared-strings.ts";
import { damagedWorkbook, type XmlHandler } from "./xml.ts";

/** What the cells of a sheet refer to. */
export interface CellContext {
  readonly strings: SharedStrings;
  readonly formats: readonly (NumberFormat | undefined)[];
  readonly is1904: boolean;
}

/** The limits of .xlsx files. */
const maxRows = 1_048_576;
const maxColumns = 16_384;

/** Reads the rows of a sheet. Cells that the file omits are empty; of merged cells, the first has the value. */
export class SheetReader implements XmlHandler {
  readonly #context: CellContext;
  readonly #onRow: (row: number, cells: string[]) => void;
  #row = 0;
  #cells: string[] = [];
  #column = -1;
  #type = "n";
  #style = -1;
  #value = "";
  #isValue = false;
  #isHint = false;
  #isFormula = false;
  #othersLeft: number = workbookLimits.otherElements;
  /** Formulas whose result the file does not contain, and the row of the first. */
  readonly unsaved = { count: 0, firstRow: 0 };

  constructor(context: CellContext, onRow: (row: number, cells: string[]) => void) {
    this.#context = context;
    this.#onRow = onRow;
  }

  readonly open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name === "c") {
      this.#openCell(attributes);
      return;
    }
    if (name === "row") {
      this.#openRow(attributes["r"]);
      return;
    }
    this.#othersLeft -= 1;
    if (this.#othersLeft < 0) throw tooManyElements();
    if (name === "v") this.#isValue = true;
    else if (name === "t") this.#isValue = !this.#isHint;
    else if (name === "f") this.#isFormula = true;
    else if (name === "rPh") this.#isHint = true;
  };

  readonly text = (text: string): void => {
    if (!this.#isValue) return;
    this.#value += text;
    if (this.#value.length > maxTextLength)
      throw new FileFormatError(`a cell in row ${this.#row} is larger than 1 MiB`);
  };

  readonly close = (name: string): void => {
    if (name === "v" || name === "t") this.#isValue = false;
    else if (name === "rPh") this.#isHint = false;
    else if (name === "c") this.#closeCell();
    else if (name === "row") this.#onRow(this.#row, this.#cells);
  };

  #openRow(number: string | undefined): void {
    const row = number === undefined ? this.#row + 1 : Number(number);
    if (!(Number.isInteger(row) && row > this.#row && row <= maxRows)) throw damagedWorkbook();
    this.#row = row;
    this.#cells = [];
    this.#column = -1;
  }

  #openCell({ r: reference, t: type = "n", s: style }: Readonly<Record<string, string>>): void {
    const column = reference === undefined ? this.#column + 1 : columnOf(reference);
    if (column <= this.#column || column >= maxColumns) throw damagedWorkbook();
    this.#column = column;
    this.#othersLeft += workbookLimits.otherElementsPerCell;
    this.#type = type;
    this.#style = style === undefined ? -1 : Number(style);
    this.#value = "";
    this.#isFormula = false;
  }

  #closeCell(): void {
    if (this.#isFormula && this.#value === "" && this.#type !== "str") {
      this.unsaved.count++;
      this.unsaved.firstRow ||= this.#row;
    }
    const text = this.#readCell();
    if (text === "") return;
    while (this.#cells.length < this.#column) this.#cells.push("");
    this.#cells.push(text);
  }

  #readCell(): string {
    const { strings, formats, is1904 } = this.#context;
    const value = this.#value;
    if (value === "") return "";
    switch (this.#type) {
      case "s": {
        const text = strings.get(Number(value));
        if (text === undefined) throw damagedWorkbook();
        return text;
      }
      case "inlineStr":
      case "str":
        return unescapeText(value);
      case "b":
        return value === "1" || value === "true" ? "TRUE" : "FALSE";
      case "d":
        return formatIsoDate(value);
      case "n":
        return formatNumber(value, formats[this.#style], is1904);
      default:
        return value;
    }
  }
}

function tooManyElements(): FileFormatError {
  return new FileFormatError(
    "the sheet has more than 4,000,000 elements that are not cells",
    "export the sheet as CSV, and import that",
  );
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference) {
    const code = letter.charCodeAt(0) & ~32;
    if (code < 65 || code > 90) break;
    column = column * 26 + code - 64;
  }
  return column - 1;
}
