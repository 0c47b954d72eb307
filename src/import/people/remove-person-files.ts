import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { type JournalEntry, readJournal } from "../run/journal.ts";
import { findRun, lockRun, runPaths, writeManifest } from "../run/run-folder.ts";
import { findGroupsWith } from "./person-rows.ts";

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
  const manifest = findRun(runsFolder, importId);
  const { folder, journal } = runPaths(runsFolder, manifest.import_id);
  using _ = lockRun(runsFolder, manifest.import_id);
  await writeManifest(runsFolder, {
    ...manifest,
    rejects_file: manifest.rejects_file?.startsWith(join(folder, sep)) === true ? null : manifest.rejects_file,
    files_removed_at: new Date(clock()).toISOString(),
  });
  const entries = readJournal(journal).map((entry) => `${JSON.stringify(withoutValues(entry))}\n`);
  writeFileSync(journal, entries.join(""), { mode: 0o600 });
  for (const name of readdirSync(folder)) {
    if (!keptNames.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** The errors of rows quote their values. */
function withoutValues(entry: JournalEntry): JournalEntry {
  if (entry.t === "done") return { ...entry, problems: [] };
  return entry.t === "refused" ? { ...entry, reason: "" } : entry;
}

/** Removes the folders of finished syncs whose lists contain an address. Their imports are runs of their own. */
export function removeGroups(email: string, runsFolder: string): void {
  for (const folder of findGroupsWith(email, runsFolder)) rmSync(folder, { recursive: true, force: true });
}
