import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

/** A file that replaces the one at its path only when it is complete and on disk; only its owner can read it. */
export class NewFile {
  readonly #path: string;
  readonly #descriptor: number;

  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(`${path}.new`, "w", 0o600);
  }

  write(content: Buffer | string): void {
    writeFully(this.#descriptor, typeof content === "string" ? Buffer.from(content) : content);
  }

  /** Ends writing; the file takes effect unless `isKept` is false. */
  close(isKept: boolean): void {
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    if (isKept) renameSync(`${this.#path}.new`, this.#path);
    else rmSync(`${this.#path}.new`, { force: true });
  }
}

/** Writes all bytes or throws. On a nearly full disk, a single write may accept fewer bytes without an error. */
export function writeFully(descriptor: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written);
}
