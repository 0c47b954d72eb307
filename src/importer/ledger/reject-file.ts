import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import iconv from "iconv-lite";
import { writeWhole } from "./whole-write.ts";
import { rejectColumns } from "../header.ts";
import type { SourceRow } from "../kinds/kind.ts";

/** How the rejects are written: as the input was, so that the same command takes them back. */
export interface RejectFormat {
  /** The header of each file of the run. */
  readonly headers: readonly (readonly string[])[];
  readonly delimiter: string;
  readonly encoding: string;
}

/** The rows that were not taken, as they stood, each with line, column, code and reason. */
export class RejectFile {
  readonly path: string;
  readonly #format: RejectFormat;
  /** The columns written: those of all files, the reject columns of an earlier round left out. */
  readonly #columns: readonly string[];
  /** For each file, which of its cells stands in which written column; -1 where it has none. */
  readonly #cellOf: readonly (readonly number[])[];
  #descriptor: number | undefined;

  /** A resume writes all of it anew, and takes the place of what was written before when it is as far. */
  constructor(path: string, format: RejectFormat) {
    this.path = path;
    this.#format = format;
    const named = format.headers.map(nameColumns);
    const names = [...new Set(named.flat())].filter((name) => !isRejectColumn(nameOf(name)));
    this.#columns = names.map(nameOf);
    this.#cellOf = named.map((own) => names.map((name) => own.indexOf(name)));
  }

  /** Whether there is a file with rejects, of this attempt or one before. */
  get isThere(): boolean {
    return existsSync(this.path);
  }

  add({ file, line, cells }: SourceRow, place: { column: string; code: string; reason: string }): void {
    if (this.#descriptor === undefined) {
      this.#descriptor = openSync(`${this.path}.new`, "w", 0o600);
      this.#write([...this.#columns, ...rejectColumns], true);
    }
    const fitted = fitCells(cells, this.#format.headers[file]?.length ?? 0, this.#format.delimiter);
    const own = (this.#cellOf[file] ?? []).map((at) => fitted[at] ?? "");
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
    const { delimiter, encoding } = this.#format;
    const addBOM = isFirst && /^utf-?16/i.test(encoding);
    writeWhole(this.#descriptor ?? -1, iconv.encode(stringify([cells], { delimiter }), encoding, { addBOM }));
  }
}

/** Tells columns of one name apart by their order, since a shop's export may have several. */
function nameColumns(header: readonly string[]): string[] {
  return header.map((name, at) => `${header.slice(0, at).filter((other) => other === name).length} ${name}`);
}

function nameOf(numbered: string): string {
  return numbered.slice(numbered.indexOf(" ") + 1);
}

function isRejectColumn(name: string): boolean {
  return (rejectColumns as readonly string[]).includes(name);
}

/** Gives a row no more cells than its header has; what is too much stays together in the last. */
function fitCells(cells: readonly string[], count: number, delimiter: string): readonly string[] {
  if (cells.length <= count) return cells;
  return [...cells.slice(0, count - 1), cells.slice(count - 1).join(delimiter)];
}
