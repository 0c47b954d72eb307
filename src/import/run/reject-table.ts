import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import iconv from "iconv-lite";
import { delimiters } from "../csv/text-format.ts";
import type { FileFormat } from "../csv/file-format.ts";
import { rejectColumns } from "../mapping/header-file.ts";
import type { SourceRow } from "../item.ts";
import { writeFully } from "./write-fully.ts";

/** A file of the run, as far as its rejects need it. */
export interface RejectedInput {
  readonly header: readonly string[];
  readonly format: FileFormat;
  /** What makes columns of several files one: the field that a column holds, where that is more than its name. */
  readonly fieldOf: (column: number) => string | undefined;
}

/** What the person said of the files, which the same command says again of their rejects. */
export interface ToldFormat {
  readonly delimiter?: string | undefined;
  readonly encoding?: string | undefined;
}

interface TableFormat {
  readonly delimiter: string;
  readonly encoding: string;
  readonly hasMark: boolean;
}

/** Why a row is in the table. */
export interface RejectPlace {
  readonly column: string;
  readonly code: string;
  readonly reason: string;
}

/** The rows of some files that were not taken, as they stood, each with line, column, code and reason. */
export class RejectTable {
  readonly path: string;
  readonly #format: TableFormat;
  readonly #inputs: ReadonlyMap<number, RejectedInput>;
  /** The columns written: those of all files, the reject columns of an earlier round left out. */
  readonly #columns: readonly string[];
  /** For each file, which of its cells stands in which written column; -1 where it has none. */
  readonly #cellOf: ReadonlyMap<number, readonly number[]>;
  #descriptor: number | undefined;

  /** A resume writes all of it anew, and takes the place of what was written before when it is as far. */
  constructor(path: string, inputs: ReadonlyMap<number, RejectedInput>, told: ToldFormat) {
    this.path = path;
    this.#inputs = inputs;
    this.#format = chooseFormat(
      [...inputs.values()].map(({ format }) => format),
      told,
    );
    const keyed = new Map([...inputs].map(([file, input]) => [file, keyColumns(input)] as const));
    const names = new Map<string, string>();
    for (const [file, keys] of keyed) {
      for (const [at, key] of keys.entries()) {
        const name = inputs.get(file)?.header[at] ?? "";
        if (!names.has(key) && !isRejectColumn(name)) names.set(key, name);
      }
    }
    this.#columns = [...names.values()];
    this.#cellOf = new Map(
      [...keyed].map(([file, keys]) => [file, [...names.keys()].map((key) => keys.indexOf(key))]),
    );
  }

  /** Whether there is a file with rejects, of this attempt or one before. */
  get isThere(): boolean {
    return existsSync(this.path);
  }

  add({ file, line, cells }: SourceRow, place: RejectPlace): void {
    if (this.#descriptor === undefined) {
      this.#descriptor = openSync(`${this.path}.new`, "w", 0o600);
      this.#write([...this.#columns, ...rejectColumns], true);
    }
    const count = this.#inputs.get(file)?.header.length ?? 0;
    const fitted = fitCells(cells, count, this.#format.delimiter);
    const own = (this.#cellOf.get(file) ?? []).map((at) => fitted[at] ?? "");
    this.#write([...own, String(line), place.column, place.code, place.reason], false);
  }

  /** Ends the writing; what was written counts from here on, unless `isKept` is false. */
  close(isKept: boolean): void {
    if (this.#descriptor !== undefined) {
      fsyncSync(this.#descriptor);
      closeSync(this.#descriptor);
    }
    if (!isKept) rmSync(`${this.path}.new`, { force: true });
    else if (this.#descriptor === undefined) rmSync(this.path, { force: true });
    else renameSync(`${this.path}.new`, this.path);
  }

  #write(cells: readonly string[], isFirst: boolean): void {
    const { delimiter, encoding, hasMark } = this.#format;
    const text = stringify([cells], { delimiter, quoted_match: /\r/ });
    writeFully(this.#descriptor ?? -1, iconv.encode(text, encoding, { addBOM: isFirst && hasMark }));
  }
}

/**
 * How rejects are written, so that the same command takes them back: as was told; else as the files are, where all
 * of them are alike and it would be found out again.
 * Assumed: what was guessed to be Windows-1252 is given back as UTF-8 with a mark, which needs no guess and holds
 * every letter.
 */
function chooseFormat(formats: readonly FileFormat[], told: ToldFormat): TableFormat {
  const common = (values: readonly string[]) => (new Set(values).size === 1 ? values[0] : undefined);
  const delimiter = told.delimiter ?? common(formats.map((format) => format.delimiter)) ?? ",";
  const isFound = told.delimiter !== undefined || (delimiters as readonly string[]).includes(delimiter);
  const encoding = told.encoding ?? common(formats.map((format) => format.encoding));
  const isUtf16 = encoding !== undefined && /^utf-?16/i.test(encoding);
  const isFoundAgain = told.encoding !== undefined || isUtf16 || encoding === "utf-8";
  return {
    delimiter: isFound ? delimiter : ",",
    encoding: isFoundAgain ? (encoding ?? "utf-8") : "utf-8",
    hasMark: isUtf16 || !isFoundAgain,
  };
}

/** Columns of one name are told apart by their order, since a shop's export may have several. */
function keyColumns({ header, fieldOf }: RejectedInput): string[] {
  return header.map((name, at) => {
    const field = fieldOf(at);
    if (field !== undefined) return `field ${field}`;
    return `column ${header.slice(0, at).filter((other) => other === name).length} ${name}`;
  });
}

function isRejectColumn(name: string): boolean {
  return (rejectColumns as readonly string[]).includes(name);
}

/** Gives a row no more cells than its header has; what is too much stays together in the last. */
function fitCells(cells: readonly string[], count: number, delimiter: string): readonly string[] {
  if (cells.length <= count) return cells;
  return [...cells.slice(0, count - 1), cells.slice(count - 1).join(delimiter)];
}
