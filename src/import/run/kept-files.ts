import { createReadStream, createWriteStream, existsSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createBrotliDecompress } from "node:zlib";
import { workFolderPrefix } from "../csv/rows-on-disk.ts";
import type { Manifest, ManifestFile } from "./run-folder.ts";

/**
 * Fast, with little memory. A file of orders takes an eighth of its size, which would be a sixth with gzip.
 * Units: the quality from 0 to 11, and the binary logarithm of the window in bytes.
 */
const compression = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 20 };

/** How much is read, and written, at a time, in bytes: each time costs the importer's thread a while. */
const pieces = { read: 256 * 1024, written: 64 * 1024 } as const;

/** The compressed copy of a run's file, by its position among the paths of the run. */
const copyOf = (folder: string, at: number) => join(folder, `file-${at + 1}.br`);

/** The files that the run read, each once: several files of a run may be in one archive. */
function pathsOf({ files }: Pick<Manifest, "files">): string[] {
  return [...new Set(files.map(({ path }) => path))];
}

/**
 * Copies the files of a run, compressed, into its folder, so that it can be verified and undone when they are gone. Files
 * that the run had to copy anyway, such as standard input, are there already.
 * @throws an `AbortError`, and errors of the file system
 */
export async function keepFiles(manifest: Manifest, folder: string, signal: AbortSignal): Promise<void> {
  for (const [at, path] of pathsOf(manifest).entries()) {
    const copy = copyOf(folder, at);
    if (dirname(path) === folder || existsSync(copy)) continue;
    const part = `${copy}.part`;
    try {
      // Opened first: a stream that is aborted while it opens its file creates it after the `rmSync` below.
      const target = (await open(part, "w", 0o600)).createWriteStream();
      const source = createReadStream(path, { highWaterMark: pieces.read });
      const compress = createBrotliCompress({ params: compression, chunkSize: pieces.written });
      await pipeline(source, compress, target, { signal });
      renameSync(part, copy);
    } finally {
      rmSync(part, { force: true });
    }
  }
}

/** The files of a run where they are now: in their places, or restored from their copies until this is disposed. */
export interface FoundFiles extends Disposable {
  readonly files: readonly ManifestFile[];
}

/** Which files are restored from their copies: none, those that are missing or have another size, or all. */
export type Restored = "none" | "missing" | "all";

/** Finds the files of a run. A file without a copy stays as it was. */
export async function findFiles(manifest: Manifest, folder: string, restored: Restored): Promise<FoundFiles> {
  const places = new Map<string, string>();
  let work: string | undefined;
  for (const [at, path] of pathsOf(manifest).entries()) {
    const { size_bytes: size } = manifest.files.find((file) => file.path === path) ?? {};
    const copy = copyOf(folder, at);
    // The folder of the run may have been moved.
    const inside = join(folder, basename(path));
    const isThere = statSync(path, { throwIfNoEntry: false })?.size === size;
    if (isThere && restored !== "all") continue;
    if (basename(dirname(path)) === basename(folder) && existsSync(inside)) places.set(path, inside);
    else if (restored !== "none" && existsSync(copy)) {
      work ??= mkdtempSync(join(folder, workFolderPrefix));
      const place = join(work, `${at + 1}-${basename(path)}`);
      await pipeline(createReadStream(copy), createBrotliDecompress(), createWriteStream(place, { mode: 0o600 }));
      places.set(path, place);
    }
  }
  return {
    files: manifest.files.map((file) => ({ ...file, path: places.get(file.path) ?? file.path })),
    [Symbol.dispose]: () => {
      if (work !== undefined) rmSync(work, { recursive: true, force: true });
    },
  };
}
