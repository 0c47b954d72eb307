import { createReadStream, createWriteStream, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FileFormatError, readFileHead, type FileHead } from "./csv/file-format.ts";
import { surveyFile, type Survey } from "./csv/survey.ts";
import { matchHeader, type ColumnMap } from "./header.ts";
import type { Importing } from "./kinds/kind.ts";
import { ImportError, type ImportDeps, type ImportOptions, type KindName } from "./types.ts";

/** A file of an import, looked through and ready to be read. */
export interface InputFile {
  readonly given: string;
  readonly path: string;
  readonly head: FileHead;
  readonly columns: ColumnMap;
  readonly keyColumn: number;
  readonly survey: Survey;
}

/** A file as given, and where its bytes are. */
export interface LocatedFile {
  readonly given: string;
  readonly path: string;
}

/**
 * Finds the files, and keeps a copy of what can be read only once, standard input and pipes, in `folder`.
 * @throws ImportError `usage` when a file is not there or cannot be read
 */
export async function locateFiles(
  given: readonly string[],
  folder: string,
  deps: Pick<ImportDeps, "cwd" | "stdin" | "abort">,
): Promise<LocatedFile[]> {
  const twice = given.find((name, at) => given.indexOf(name) !== at);
  if (twice !== undefined) throw new ImportError("usage", `${twice}: the file is given twice`);
  const located: LocatedFile[] = [];
  for (const [at, name] of given.entries()) {
    const path = resolve(deps.cwd, name);
    const isStream = name === "-" || !isRegularFile(name, path);
    if (!isStream) {
      located.push({ given: name, path });
      continue;
    }
    const copy = join(folder, `input-${at + 1}.csv`);
    const source: Readable = name === "-" ? deps.stdin : createReadStream(path);
    await pipeline(source, createWriteStream(copy, { mode: 0o600 }), { signal: deps.abort });
    located.push({ given: name, path: copy });
  }
  return located;
}

function isRegularFile(given: string, path: string): boolean {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new ImportError("usage", `${given}: is a folder, not a file`);
    return stat.isFile();
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw describeFileError(given, error);
  }
}

function describeFileError(given: string, error: unknown): ImportError {
  const { code } = error as NodeJS.ErrnoException;
  const says: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    ENOTDIR: "there is no such file",
    EACCES: "the file may not be read (permission denied)",
    EPERM: "the file may not be read (permission denied)",
  };
  return new ImportError("usage", `${given}: ${says[code ?? ""] ?? "the file cannot be read"}`, {
    cause: error,
  });
}

/**
 * Reads each file's header and looks it through once; nothing is sent before all of them stand.
 * @throws ImportError `usage` when a header is not understood or the text is not in its encoding
 */
export async function openFiles(
  located: readonly LocatedFile[],
  importing: Importing,
  kind: KindName,
  options: ImportOptions,
): Promise<InputFile[]> {
  const heads = located.map((file) => {
    const head = readHead(file, options);
    return {
      ...file,
      head,
      columns: matchHeader(file.given, head.header, importing.fields, kind, options.map),
    };
  });
  const opened: InputFile[] = [];
  for (const file of heads) {
    const keyField = importing.groupField ?? importing.idField;
    const keyColumn = keyField === undefined ? -1 : (file.columns.columnOf.get(keyField) ?? -1);
    const survey = await surveyFile(file.path, file.head.format, keyColumn);
    if (survey.invalidUtf8Line > 0) {
      throw new ImportError("usage", `${file.given}:${survey.invalidUtf8Line}: the text is not UTF-8`, {
        hint: "say how it is encoded, for example --encoding windows-1252",
      });
    }
    opened.push({ ...file, keyColumn, survey });
  }
  return opened;
}

function readHead({ given, path }: LocatedFile, options: ImportOptions): FileHead {
  try {
    return readFileHead(path, options);
  } catch (error) {
    if (error instanceof FileFormatError) {
      throw new ImportError("usage", `${given}: ${error.message}`, { hint: error.hint, cause: error });
    }
    throw describeFileError(given, error);
  }
}

/** What was found out about the files and a person should know before anything happens. */
export function describeFiles(files: readonly InputFile[], importing: Importing): string[] {
  return files.flatMap(({ given, head, columns, survey }) => {
    const { encoding, delimiter } = head.format;
    const said: string[] = [];
    const name = basename(given);
    if (encoding !== "utf-8" || delimiter !== ",") {
      const shown = delimiter === "\t" ? "tab" : `'${delimiter}'`;
      said.push(`${name}: read as ${encoding}, columns parted by ${shown}`);
    }
    if (columns.unknown.length > 0) {
      said.push(`${name}: passed over, not known: ${columns.unknown.slice(0, 40).join(", ")}`);
    }
    if (survey.records === 0) said.push(`${name}: has a header and no rows: there is nothing to import`);
    if (importing.idField && survey.repeatedKeys > 0) {
      const rows = survey.repeatedKeys === 1 ? "1 row repeats" : `${survey.repeatedKeys} rows repeat`;
      said.push(
        `${name}: ${rows} a ${importing.idField}, first on line ${survey.firstRepeatLine}: the last one counts`,
      );
    }
    return said;
  });
}
