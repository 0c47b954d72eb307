import { createReadStream, createWriteStream, existsSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { stampFile } from "./containers/file-pieces.ts";
import { findZipFiles, isOfficeDocument, showName } from "./containers/zip-directory.ts";
import { recognizePacking } from "../csv/byte-source.ts";
import { FileFormatError, ImportError, usageError } from "../import-error.ts";
import type { ImportContext } from "../context.ts";
import { type FileFormat, type FileHead, readFileHead } from "../csv/file-format.ts";
import type { HeaderSearch } from "../csv/locate-header.ts";
import { createHeaderSearch, type HeaderKind } from "../mapping/header-row.ts";
import { listNames } from "../mapping/names.ts";
import type { ImportOptions } from "../options.ts";
import { convertFile } from "./conversion/convert.ts";

/** A file as given, and where its bytes are. */
export interface LocatedFile {
  /** As messages name it; a file in a zip archive is `exports.zip/orders.csv`. */
  readonly given: string;
  readonly path: string;
  /** The name in the zip archive at `path`. */
  readonly entry?: string | undefined;
  /** The zip archive, as given. */
  readonly archive?: string;
  /** The format of a file that was converted, and the file that it was converted from. */
  readonly converted?: { readonly format: FileFormat; readonly from: string };
}

/** The flags that decide how files are converted. */
export interface LocatingOptions extends Pick<ImportOptions, "encoding" | "sheet"> {
  readonly search?: HeaderSearch;
}

type LocatingDeps = Pick<ImportContext, "cwd" | "stdin" | "abort" | "report">;

/**
 * Locates the files, including those in zip archives; copies input that can be read only once (standard input and
 * pipes) to `folder`, and converts files that are not CSV.
 * @throws ImportError `usage` if a file does not exist or cannot be read
 */
export async function locateFiles(
  given: readonly string[],
  folder: string,
  deps: LocatingDeps,
  options: LocatingOptions = {},
): Promise<LocatedFile[]> {
  const doubled = given.find((name, at) => given.indexOf(name) !== at);
  if (doubled !== undefined) throw usageError(`${doubled}: the file is listed twice`);
  const located: LocatedFile[] = [];
  const paths = new Set<string>();
  for (const [at, name] of given.entries()) {
    const kept = join(folder, `input-${at + 1}.csv`);
    const path = await keepStream(name, kept, deps);
    if (paths.has(path)) throw usageError(`${name}: the file is listed twice`);
    paths.add(path);
    const parts: LocatedFile[] = [];
    for (const part of nameParts(name, path, deps)) {
      const copy = join(folder, `table-${located.length + parts.length + 1}.csv`);
      parts.push(await convert(part, copy, deps, options));
    }
    const isNeeded = parts.some((part) => part.path === path);
    if (path === kept && !isNeeded) rmSync(kept);
    located.push(...parts);
  }
  const twice = located.find((file, at) => located.findIndex(({ given: other }) => other === file.given) !== at);
  if (twice) throw usageError(`${twice.given}: two files have this name`);
  return located;
}

async function keepStream(name: string, copy: string, deps: LocatingDeps): Promise<string> {
  const path = resolve(deps.cwd, name);
  const found = name === "-" ? undefined : namingFile(name, () => statSync(path));
  if (found?.isDirectory()) throw usageError(`${name}: this is a folder, not a file`);
  if (found?.isFile()) return path;
  const source: Readable = name === "-" ? deps.stdin : createReadStream(path);
  let bytes = 0;
  const count = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      bytes += piece.length;
      deps.report({ type: "reading", doing: "keeping", file: name, bytes });
      yield piece;
    }
  };
  await pipeline(source, count, createWriteStream(copy, { mode: 0o600 }), { signal: deps.abort });
  return copy;
}

/** The file, or the table that it was converted to. */
async function convert(
  file: LocatedFile,
  copy: string,
  deps: LocatingDeps,
  options: LocatingOptions,
): Promise<LocatedFile> {
  try {
    const format = await convertFile({ ...file, copy }, options, deps);
    if (!format) return file;
    const { entry: _, ...whole } = file;
    return { ...whole, path: copy, converted: { format, from: file.path } };
  } catch (error) {
    throw describeFileError(file.given, error);
  }
}

/** A file itself, or each table in a zip archive. */
function nameParts(given: string, path: string, { report }: LocatingDeps): LocatedFile[] {
  return namingFile(given, () => {
    const file = stampFile(path);
    if (recognizePacking(file) !== "zip" || isOfficeDocument(file)) return [{ given, path }];
    const { usable, passedOver } = findZipFiles(file);
    if (passedOver.length > 0) {
      report({ type: "notice", message: `${given}: ignored files in the archive: ${listNames(passedOver)}` });
    }
    return usable.map(({ name }) => ({ given: `${given}/${showName(name)}`, path, entry: name, archive: given }));
  });
}

/**
 * Reads the format and the header of a file.
 * @throws ImportError `usage` if it cannot be read
 */
export function readHead(
  { given, path, entry, converted }: LocatedFile,
  options: Pick<ImportOptions, "encoding" | "delimiter" | "headerRow" | "map">,
  kind: HeaderKind,
): FileHead {
  const { encoding, delimiter } = options;
  const search = createHeaderSearch(kind, options);
  return namingFile(given, () => readFileHead(path, { encoding, delimiter, entry, known: converted?.format, search }));
}

/** The columns that `--map` names; a file without a header has no names to map. */
export function mapOf({ format }: FileHead, { map }: Pick<ImportOptions, "map">): Readonly<Record<string, string>> {
  return format.hasNoHeader ? {} : map;
}

/** Calls a function that reads a file; its errors name the file. */
export function namingFile<T>(given: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw describeFileError(given, error);
  }
}

/** Converts the error of an unreadable file to the error that a person sees; rethrows bugs. */
export function describeFileError(given: string, error: unknown): ImportError {
  if (error instanceof ImportError) return error;
  if (error instanceof FileFormatError) {
    const place = error.line > 0 ? `${given}:${error.line}` : given;
    return usageError(`${place}: ${error.message}`, error.hint, { cause: error });
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "no such file",
    ENOTDIR: "no such file",
    EACCES: "permission denied",
    EPERM: "permission denied",
  };
  return usageError(`${given}: ${reasons[code] ?? "cannot read the file"}`, undefined, { cause: error });
}

/**
 * Replaces patterns with the files that they match, sorted by name. A file whose name is literally the pattern takes
 * precedence; a file that several patterns match is used once. Hidden files are matched only by patterns that start with
 * a dot.
 * @throws ImportError `usage` if a pattern matches nothing
 */
export async function expandGlobs(
  given: readonly string[],
  { cwd, report }: Pick<ImportContext, "cwd" | "report">,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of given) {
    const isPattern = name !== "-" && /[*?[{]/.test(name) && !existsSync(resolve(cwd, name));
    if (!isPattern) {
      found.push(name);
      continue;
    }
    const matches = await match(name, cwd);
    if (matches.length === 0) {
      throw usageError(
        `${name}: no file matches`,
        "in a pattern, * matches names in one folder, and ** also matches subfolders",
      );
    }
    const taken = new Set(found.map((file) => resolve(cwd, file)));
    const fresh = matches.filter((file) => !taken.has(resolve(cwd, file)));
    const count = matches.length === 1 ? "1 file" : `${matches.length} files`;
    report({ type: "notice", message: `${name}: ${count}: ${listNames(matches)}` });
    found.push(...fresh);
  }
  return found;
}

async function match(pattern: string, cwd: string): Promise<string[]> {
  const { glob } = await import("tinyglobby");
  const found = await glob(pattern, { cwd, absolute: isAbsolute(pattern), expandDirectories: false });
  return found.toSorted();
}
