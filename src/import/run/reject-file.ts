import { existsSync, rmSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import iconv from "iconv-lite";
import { delimiters } from "../csv/text-format.ts";
import type { FileFormat } from "../csv/file-format.ts";
import { isRejectColumn, rejectColumns } from "../mapping/names.ts";
import type { SourceRow } from "../item.ts";
import { NewFile } from "./new-file.ts";

/** What the rejects of a file depend on. */
interface RejectedInput {
  readonly header: readonly string[];
  readonly format: FileFormat;
  /**
   * Identifies columns of different files with each other: the field that a column holds, if that is more than its
   * name.
   */
  readonly fieldOf: (column: number) => string | undefined;
}

/** The format flags of the command, which it needs again to import the rejects. */
export interface FormatFlags {
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
}

interface TableFormat {
  readonly delimiter: string;
  readonly encoding: string;
  readonly hasMark: boolean;
}

/** Why a row is in the table. */
interface RejectPlace {
  readonly column: string;
  readonly code: string;
  readonly reason: string;
}

/** The rejected rows of some files, unchanged, each with line, column, code, and reason. */
class RejectTable {
  readonly path: string;
  readonly #format: TableFormat;
  readonly #inputs: ReadonlyMap<number, RejectedInput>;
  /** The columns written: those of all files, without the reject columns of an earlier round. */
  readonly #columns: readonly string[];
  /** For each file, the index of its cell for each written column; -1 if it has none. */
  readonly #cellOf: ReadonlyMap<number, readonly number[]>;
  #file: NewFile | undefined;

  /** A resume writes the table from scratch and replaces the previous one once it has caught up. */
  constructor(path: string, inputs: ReadonlyMap<number, RejectedInput>, flags: FormatFlags) {
    this.path = path;
    this.#inputs = inputs;
    const formats = [...inputs.values()].map(({ format }) => format);
    this.#format = chooseFormat(formats, flags);
    const keyed = new Map([...inputs].map(([file, input]) => [file, keyColumns(input)] as const));
    const names = new Map<string, string>();
    for (const [file, keys] of keyed) {
      for (const [at, key] of keys.entries()) {
        const name = inputs.get(file)?.header[at] ?? "";
        if (!names.has(key) && !isRejectColumn(name)) names.set(key, name);
      }
    }
    this.#columns = [...names.values()];
    this.#cellOf = new Map([...keyed].map(([file, keys]) => [file, [...names.keys()].map((key) => keys.indexOf(key))]));
  }

  /** Whether there is a table from this attempt or an earlier one. */
  get isThere(): boolean {
    return existsSync(this.path);
  }

  add({ file, line, cells }: SourceRow, place: RejectPlace): void {
    if (this.#file === undefined) {
      this.#file = new NewFile(this.path);
      this.#write([...this.#columns, ...rejectColumns], true);
    }
    const count = this.#inputs.get(file)?.header.length ?? 0;
    // The excess of a row is joined into its last cell.
    const excess = cells.length > count ? [cells.slice(count - 1).join(this.#format.delimiter)] : [];
    const fitted = [...cells.slice(0, count - excess.length), ...excess];
    const own = (this.#cellOf.get(file) ?? []).map((at) => fitted[at] ?? "");
    this.#write([...own, String(line), place.column, place.code, place.reason], false);
  }

  /** Ends writing; the table takes effect unless `isKept` is false. */
  close(isKept: boolean): void {
    if (this.#file) this.#file.close(isKept);
    else rmSync(isKept ? this.path : `${this.path}.new`, { force: true });
  }

  #write(cells: readonly string[], isFirst: boolean): void {
    const { delimiter, encoding, hasMark } = this.#format;
    const text = stringify([cells], { delimiter, quoted_match: /\r/ });
    this.#file?.write(iconv.encode(text, encoding, { addBOM: isFirst && hasMark }));
  }
}

/**
 * Chooses a format in which the same command can import the rejects: the format of the flags, or else the files' own,
 * if all of them share it and it would be detected again.
 * Assumed: text detected as Windows-1252 is written as UTF-8 with a byte order mark, which needs no detection and has
 * every character.
 */
function chooseFormat(formats: readonly FileFormat[], flags: FormatFlags): TableFormat {
  const common = (values: readonly string[]) => (new Set(values).size === 1 ? values[0] : undefined);
  const delimiter = flags.delimiter ?? common(formats.map((format) => format.delimiter)) ?? ",";
  const isFound = flags.delimiter !== undefined || (delimiters as readonly string[]).includes(delimiter);
  const encoding = flags.encoding ?? common(formats.map((format) => format.encoding));
  const isUtf16 = encoding !== undefined && /^utf-?16/i.test(encoding);
  const isFoundAgain = flags.encoding !== undefined || isUtf16 || encoding === "utf-8";
  return {
    delimiter: isFound ? delimiter : ",",
    encoding: isFoundAgain ? (encoding ?? "utf-8") : "utf-8",
    // A spreadsheet program recognizes UTF-8 only by a byte order mark.
    hasMark: isUtf16 || !isFoundAgain || formats.some(({ origin }) => origin === "sheet"),
  };
}

/** Distinguishes columns of the same name by their order, since an export may have several. */
function keyColumns({ header, fieldOf }: RejectedInput): string[] {
  return header.map((name, at) => {
    const field = fieldOf(at);
    if (field !== undefined) return `field ${field}`;
    return `column ${header.slice(0, at).filter((other) => other === name).length} ${name}`;
  });
}

/** A file of the run, and the group of files with which its rejects may share a table. */
export interface GroupedInput extends RejectedInput {
  readonly group: string;
}

/**
 * The rows that were not accepted, in a format that the same command can import. Files that must be read differently
 * have separate tables, next to the first.
 */
export class RejectFile {
  readonly #tables: readonly RejectTable[];
  readonly #tableOf: readonly number[];

  constructor(path: string, inputs: readonly GroupedInput[], flags: FormatFlags) {
    const groups = [...new Set(inputs.map(({ group }) => group))];
    this.#tableOf = inputs.map(({ group }) => groups.indexOf(group));
    this.#tables = groups.map((group, at) => {
      const own = [...inputs.entries()].filter(([, input]) => input.group === group);
      // `rejects.csv`, `rejects-2.csv`
      const numbered = at === 0 ? path : path.replace(/(\.[^./]*)?$/, `-${at + 1}$1`);
      return new RejectTable(numbered, new Map(own), flags);
    });
  }

  /** The tables with rejects from this attempt or an earlier one. */
  get written(): readonly string[] {
    return this.#tables.filter((table) => table.isThere).map((table) => table.path);
  }

  add(row: SourceRow, place: RejectPlace): void {
    this.#tables[this.#tableOf[row.file] ?? 0]?.add(row, place);
  }

  /** Ends writing; the tables take effect unless `isKept` is false. */
  close(isKept: boolean): void {
    for (const table of this.#tables) table.close(isKept);
  }
}
