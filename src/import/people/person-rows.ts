import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { readPieces, stampFile } from "../source/containers/file-pieces.ts";
import { AddressFinder, ignoreUnreadable, isInFile } from "./address-finder.ts";
import { openSource, readUtf8 } from "../csv/byte-source.ts";
import { readFileHead } from "../csv/file-format.ts";
import { readRowBatches } from "../csv/row-batches.ts";
import { isHeld, listManifests, type ManifestFile, runGroupPath, runPaths } from "../run/run-folder.ts";
import type { RunState } from "../summary.ts";

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

/** Finds the runs of an account whose files contain an address, newest first. Files that are gone or unreadable are ignored. */
export function findPersonRuns(
  email: string,
  { runsFolder, target }: { readonly runsFolder: string; readonly target: string },
): PersonRun[] {
  const finder = new AddressFinder(email);
  return listManifests(runsFolder).flatMap((manifest) => {
    if (manifest.target !== target || manifest.files_removed_at !== undefined) return [];
    const { folder } = runPaths(runsFolder, manifest.import_id);
    const found = manifest.files.filter((file) =>
      ignoreUnreadable(() => finder.isIn(readText(file)) && isUnchanged(file), false),
    );
    const { rejects_file } = manifest;
    const rejects = rejects_file !== null && isInFile(rejects_file, finder) ? [rejects_file] : [];
    if (found.length === 0 && rejects.length === 0 && !isInFolder(folder, finder)) return [];
    return [
      {
        import_id: manifest.import_id,
        kind: manifest.kind,
        files: manifest.files.map(({ given }) => given),
        state: manifest.state === "running" && !isHeld(folder) ? "interrupted" : manifest.state,
        started_at: manifest.started_at,
        rows: found.flatMap((file) => ignoreUnreadable(() => [...findRows(file, finder)], [])),
        outside: [...new Set([...found.flatMap((file) => namePlace(file, folder)), ...rejects])].filter(
          (path) => !path.startsWith(join(runsFolder, sep)),
        ),
      },
    ];
  });
}

/** Whether a file is still the one that was imported. Exports often have the same name every day. */
function isUnchanged({ path, sha256 }: ManifestFile): boolean {
  const hash = createHash("sha256");
  for (const piece of readPieces(stampFile(path))) hash.update(piece);
  return hash.digest("hex") === sha256;
}

function readText({ path, entry, format }: ManifestFile): Iterable<Buffer> {
  return readUtf8(openSource(path, entry), format.encoding);
}

/** Finds the folders of syncs with files that contain an address, unless a sync is in progress. */
export function findGroupsWith(email: string, runsFolder: string): string[] {
  const finder = new AddressFinder(email);
  const names = ignoreUnreadable(() => readdirSync(runsFolder), []);
  return names
    .map((name) => join(runsFolder, name))
    .filter((folder) => existsSync(runGroupPath(folder)) && !isHeld(folder) && isInFolder(folder, finder));
}

function* findRows(file: ManifestFile, finder: AddressFinder): Generator<PersonRow> {
  const { path, entry, format, given } = file;
  const known = format.origin === undefined ? undefined : format;
  const { encoding, delimiter } = format;
  const head = readFileHead(path, { encoding, delimiter, entry, known });
  for (const { rows, lines } of readRowBatches(head.source, head.format, undefined)) {
    for (const [at, cells] of rows.entries()) {
      if (!cells.some((cell) => finder.isInText(cell))) continue;
      const values = Object.fromEntries(cells.map((cell, column) => [head.header[column] ?? String(column + 1), cell]));
      yield { file: given, line: lines[at] ?? 0, values };
    }
  }
}

/** The user's own file. Of a file that was converted, the run has a copy; of standard input, nothing else exists. */
function namePlace({ given, path }: ManifestFile, folder: string): string[] {
  if (!path.startsWith(join(folder, sep))) return [path];
  return given === "-" ? [] : [given];
}

/** Whether a file in the run's own folder contains the address, such as the previous values of an undo. */
function isInFolder(folder: string, finder: AddressFinder): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() && isInFile(join(folder, entry.name), finder),
  );
}
