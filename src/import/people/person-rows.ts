import { createHash } from "node:crypto";
import { existsSync, readdirSync, type Dirent, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { readPieces, stampFile } from "../source/containers/file-pieces.ts";
import { openSource, readUtf8 } from "../csv/byte-source.ts";
import { readFileHead } from "../csv/file-format.ts";
import { readRowBatches } from "../csv/row-batches.ts";
import {
  isHeld,
  listManifests,
  type Manifest,
  type ManifestFile,
  runGroupPath,
  runPaths,
  findRun,
  lockRun,
  writeManifest,
} from "../run/run-folder.ts";
import { findFiles } from "../run/kept-files.ts";
import type { RunState } from "../summary.ts";
import { StringDecoder } from "node:string_decoder";
import { addressPattern } from "../../contract/customers/address-pattern.ts";
import { emailKeyOf } from "../../contract/email-address.ts";
import { type JournalEntry, readJournal } from "../run/journal.ts";

/** A row of an imported file that contains a person's address. */
export interface PersonRow {
  readonly file: string;
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
}

/** A run whose files contain a person's address. */
export interface PersonRun {
  readonly import_id: string;
  readonly kind: string;
  readonly files: readonly string[];
  readonly state: RunState;
  readonly started_at: string;
  readonly rows: readonly PersonRow[];
  /** The user's own files that contain the address. */
  readonly outside: readonly string[];
}

/**
 * Finds the runs of an account whose files, or the copies that the runs keep, contain an address, newest first. Files that
 * are gone or unreadable are ignored.
 * @param onMoved receives the files of these runs, and of runs that cannot be searched, that are no longer where they were
 */
export async function findPersonRuns(
  email: string,
  { runsFolder, target }: { readonly runsFolder: string; readonly target: string },
  onMoved: (file: string) => void = () => {},
): Promise<PersonRun[]> {
  const finder = new AddressFinder(email);
  const runs: PersonRun[] = [];
  for (const manifest of listManifests(runsFolder)) {
    if (manifest.target !== target || manifest.files_removed_at !== undefined) continue;
    using places = await findFiles(manifest, runPaths(runsFolder, manifest.import_id).folder, "all");
    const found = findPersonRun(manifest, places.files, finder, runsFolder);
    runs.push(...found);
    const isSearched = places.files.length === manifest.files.length;
    if (found.length === 0 && isSearched) continue;
    const own = manifest.files.filter(({ given, path }) => given !== "-" && !path.startsWith(join(runsFolder, sep)));
    for (const { path } of own) if (!existsSync(path)) onMoved(path);
  }
  return runs;
}

/** @param places the files of the run where they are, or copies of them */
function findPersonRun(
  manifest: Manifest,
  places: readonly ManifestFile[],
  finder: AddressFinder,
  runsFolder: string,
): PersonRun[] {
  const { folder } = runPaths(runsFolder, manifest.import_id);
  const isFound = (file: ManifestFile) =>
    ignoreUnreadable(() => {
      if (!finder.isIn(readUtf8(openSource(file.path, file.entry), file.format.encoding))) return false;
      // Exports often have the same name every day, so it may not be the file that was imported.
      const hash = createHash("sha256");
      for (const piece of readPieces(stampFile(file.path))) hash.update(piece);
      return hash.digest("hex") === file.sha256;
    }, false);
  const found = places.filter(isFound);
  const originals = manifest.files.filter((file) => found.some(({ path }) => path === file.path) || isFound(file));
  const { rejects_file } = manifest;
  const rejects = rejects_file !== null && isInFile(rejects_file, finder) ? [rejects_file] : [];
  if (found.length === 0 && rejects.length === 0 && !isInFolder(folder, finder)) return [];
  // Of a file that was converted, the run has a copy; of standard input, nothing else exists.
  const own = originals.map(({ given, path }) => (path.startsWith(join(folder, sep)) ? given : path));
  const outside = [...new Set([...own.filter((path) => path !== "-"), ...rejects])];
  return [
    {
      import_id: manifest.import_id,
      kind: manifest.kind,
      files: manifest.files.map(({ given }) => given),
      state: manifest.state === "running" && !isHeld(folder) ? "interrupted" : manifest.state,
      started_at: manifest.started_at,
      rows: found.flatMap((file) => ignoreUnreadable(() => [...findRows(file, finder)], [])),
      outside: outside.filter((path) => !path.startsWith(join(runsFolder, sep))),
    },
  ];
}

/** Finds the folders of syncs with files that contain an address, unless a sync is in progress. */
export function findGroupsWith(email: string, runsFolder: string): string[] {
  const finder = new AddressFinder(email);
  return ignoreUnreadable(() => readdirSync(runsFolder), [])
    .map((name) => join(runsFolder, name))
    .filter((folder) => existsSync(runGroupPath(folder)) && !isHeld(folder) && isInFolder(folder, finder));
}

function* findRows(file: ManifestFile, finder: AddressFinder): Generator<PersonRow> {
  const { path, entry, format, given } = file;
  const head = readFileHead(path, { entry, known: format });
  for (const { rows, lines } of readRowBatches(head.source, head.format, undefined)) {
    for (const [at, cells] of rows.entries()) {
      if (!cells.some((cell) => finder.isInText(cell))) continue;
      const values = Object.fromEntries(cells.map((cell, column) => [head.header[column] ?? String(column + 1), cell]));
      yield { file: given, line: lines[at] ?? 0, values };
    }
  }
}

/** Whether a file in the run's own folder contains the address, such as the previous values of an undo. */
function isInFolder(folder: string, finder: AddressFinder): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() && isInFile(join(folder, entry.name), finder),
  );
}

/** The number of characters around an address that may make it a part of a longer one. */
const margin = 8;

/** Finds an address, as given or as its key, in UTF-8 bytes. */
export class AddressFinder {
  readonly #pattern: RegExp;
  readonly #overlap: number;

  constructor(email: string) {
    const spellings = [email, emailKeyOf(email)];
    this.#pattern = addressPattern(spellings);
    this.#overlap = Math.max(...spellings.map((spelling) => encodeURIComponent(spelling).length)) + 2 * margin;
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

/** The files of a run that contain nothing of its rows. */
const keptNames: ReadonlySet<string> = new Set(["manifest.json", "journal.ndjson", "lock"]);

/**
 * Removes the files of a finished run, except its summary. Then the run can no longer be verified or undone.
 * @throws ImportError `usage` while another process holds the run
 */
export async function removeRunFiles(
  importId: string,
  { runsFolder, clock }: { readonly runsFolder: string; readonly clock: () => number },
): Promise<void> {
  const { notices: _quoted, ...manifest } = findRun(runsFolder, importId);
  const { folder, journal } = runPaths(runsFolder, manifest.import_id);
  using _ = lockRun(runsFolder, manifest.import_id);
  await writeManifest(runsFolder, {
    ...manifest,
    rejects_file: manifest.rejects_file?.startsWith(join(folder, sep)) === true ? null : manifest.rejects_file,
    files_removed_at: new Date(clock()).toISOString(),
  });
  // The errors of rows quote their values.
  const redact = (entry: JournalEntry) =>
    entry.t === "done" ? { ...entry, problems: [] } : entry.t === "refused" ? { ...entry, reason: "" } : entry;
  const entries = readJournal(journal).map((entry) => `${JSON.stringify(redact(entry))}\n`);
  writeFileSync(journal, entries.join(""), { mode: 0o600 });
  for (const name of readdirSync(folder)) {
    if (!keptNames.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Removes the folders of finished syncs whose lists contain an address. Their imports are runs of their own. */
export function removeGroups(email: string, runsFolder: string): void {
  for (const folder of findGroupsWith(email, runsFolder)) rmSync(folder, { recursive: true, force: true });
}
