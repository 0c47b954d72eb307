import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { addressPattern } from "../../contract/customers/address-pattern.ts";
import { readPieces, stampFile } from "../source/containers/file-pieces.ts";

/** The number of characters around an address that may make it a part of a longer one. */
const margin = 8;

/** Finds an address in UTF-8 bytes. */
export class AddressFinder {
  readonly #pattern: RegExp;
  readonly #overlap: number;

  constructor(email: string) {
    this.#pattern = addressPattern([email]);
    this.#overlap = encodeURIComponent(email).length + 2 * margin;
  }

  isIn(pieces: Iterable<Buffer>): boolean {
    const decoder = new StringDecoder("utf8");
    let end = "";
    for (const piece of pieces) {
      const text = end + decoder.write(piece);
      // What begins or ends at the edge is compared together with the previous or the next piece.
      const isInside = ({ index, 0: found }: RegExpExecArray) =>
        (end === "" || index >= margin) && index + found.length + margin <= text.length;
      if ([...text.matchAll(this.#pattern)].some(isInside)) return true;
      end = text.slice(Math.max(0, text.length - this.#overlap));
    }
    return this.isInText(end);
  }

  isInText(text: string): boolean {
    return text.search(this.#pattern) >= 0;
  }
}

/** Whether a file contains the address; false if it cannot be read. */
export function isInFile(path: string, finder: AddressFinder): boolean {
  return ignoreUnreadable(() => finder.isIn(readPieces(stampFile(path))), false);
}

export function ignoreUnreadable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/**
 * Finds the files in folders that contain an address, such as aliases and logs.
 * @param skipped names in the folders that are not read
 */
export function findFilesWith(email: string, folders: readonly string[], skipped: RegExp): string[] {
  const finder = new AddressFinder(email);
  const search = (folder: string, isTop: boolean): string[] =>
    ignoreUnreadable<Dirent[]>(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (isTop && skipped.test(entry.name)) return [];
      if (entry.isDirectory()) return search(path, false);
      return entry.isFile() && isInFile(path, finder) ? [path] : [];
    });
  return [...new Set(folders)].flatMap((folder) => search(folder, true));
}
