import { closeSync, openSync } from "node:fs";
import type { FileFormat } from "../../csv/file-format.ts";
import { FileFormatError } from "../../import-error.ts";
import { writeFully } from "../../run/new-file.ts";

/** Maximum size of a row, in characters; a CSV record may have twice as many bytes. */
export const maxRowLength = 8 * 1024 * 1024;

const pieceLength = 256 * 1024;

/**
 * The format of a converted table. Lines end in CR, and no cell contains one, so the number of a line is the number of
 * a row in the original, whatever its cells contain.
 */
export function formatOf(origin: NonNullable<FileFormat["origin"]>): FileFormat {
  return { encoding: "utf-8", delimiter: ",", isCrOnly: true, origin };
}

/** Writes a converted table; lines that are skipped are blank. */
export class TableWriter {
  readonly #descriptor: number;
  #waiting = "";
  #nextLine = 1;

  constructor(path: string) {
    this.#descriptor = openSync(path, "w", 0o600);
  }

  /** @param line from 1, and greater than the previous one */
  add(line: number, cells: readonly string[]): void {
    if (line < this.#nextLine) throw new Error(`line ${line} follows line ${this.#nextLine - 1}`);
    const text = formatRecord(cells);
    if (text.length > maxRowLength) throw new FileFormatError(`row ${line} is larger than 8 MiB`);
    this.#waiting += "\r".repeat(line - this.#nextLine) + text;
    this.#nextLine = line + 1;
    if (this.#waiting.length >= pieceLength) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#descriptor);
  }

  #flush(): void {
    writeFully(this.#descriptor, Buffer.from(this.#waiting));
    this.#waiting = "";
  }
}

/** A record with its line end. */
export function formatRecord(cells: readonly string[]): string {
  if (cells.every((cell) => cell === "")) return "\r";
  const quote = (cell: string) => `"${cell.replaceAll(/\r\n?/g, "\n").replaceAll('"', '""')}"`;
  return `${cells.map((cell) => (/["\r\n,]/.test(cell) ? quote(cell) : cell)).join(",")}\r`;
}
