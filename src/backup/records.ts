import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { readFileIfExists, writePrivateFile } from "../config/private-file.ts";
import { withFileLock } from "../config/with-file-lock.ts";

/** A backup that was made on this machine, as it is stored. */
export interface BackupRecord {
  readonly file: string;
  /** When it began, in ISO 8601. */
  readonly created_at: string;
  /** The path or address, without a password. */
  readonly database: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The size of the database, in bytes; older versions did not record it. */
  readonly database_size?: number;
  /** Whether the schedule of a server made it, and may delete it. */
  readonly scheduled: boolean;
  /** Whether it can only be read with a secret key; older versions made none. */
  readonly encrypted?: boolean;
}

/** How the schedule of a database is going. */
export interface ScheduleState {
  readonly every_ms: number;
  /** When a scheduled backup was last tried, in ISO 8601. */
  readonly tried_at: string;
  /** Why it failed; null if it did not. */
  readonly error: string | null;
}

interface Records {
  /** In the order in which they were made. */
  readonly backups: readonly BackupRecord[];
  /** By database. */
  readonly schedules: Readonly<Record<string, ScheduleState>>;
}

/** Older records are forgotten. */
const maxRecords = 1_000;

/** Reads the list of backups. A damaged list counts as empty, because it must not prevent a backup. */
export async function readRecords({ dataFolder }: Pick<Paths, "dataFolder">): Promise<Records> {
  const empty: Records = { backups: [], schedules: {} };
  const text = await readFileIfExists(join(dataFolder, "backups.json"));
  if (text === undefined) return empty;
  try {
    const { backups, schedules } = JSON.parse(text) as Partial<Records>;
    return { backups: Array.isArray(backups) ? backups : [], schedules: { ...schedules } };
  } catch {
    return empty;
  }
}

/**
 * Changes the list of backups while holding a lock.
 * @throws UserError `failed` if the data folder is not writable
 */
export function changeRecords(
  paths: Pick<Paths, "dataFolder">,
  change: (records: Records) => Partial<Records>,
): Promise<void> {
  return withFileLock(join(paths.dataFolder, "backups.lock"), async () => {
    const records = await readRecords(paths);
    const { backups, schedules } = { ...records, ...change(records) };
    const kept = { backups: backups.slice(-maxRecords), schedules };
    await writePrivateFile(join(paths.dataFolder, "backups.json"), `${JSON.stringify(kept, undefined, 2)}\n`);
  });
}
