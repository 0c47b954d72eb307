import { fork } from "node:child_process";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BackupReply, BackupRequest, BackupSchedule, ServerSettings } from "../ports.ts";
import { hashFile } from "../../backup/archive.ts";
import { readManifest } from "../../backup/manifest.ts";
import { type BackupRecord, changeRecords, readRecords, type ScheduleState } from "../../backup/records.ts";
import { createPrivateFolder } from "../../config/private-file.ts";
import { withFileLock } from "../../config/with-file-lock.ts";
import { findThreadFile } from "../../service/thread-file.ts";
import type { WorkerLog } from "../../worker/job.ts";

/** How long to wait after a failure, in milliseconds, unless backups are more frequent. */
const retryAfterMs = 15 * 60 * 1_000;

/** A timer is at most this long, in milliseconds, so that a changed clock is noticed. */
const checkEachMs = 60_000;

/** What a schedule has done in this process, for metrics. */
export interface ScheduleCounts {
  /** When the newest backup began, in milliseconds since 1970; undefined before the first. */
  readonly lastSuccessMs: number | undefined;
  readonly bytes: number;
  readonly durationMs: number;
  readonly failures: number;
}

interface ScheduleSettings extends Pick<ServerSettings, "paths" | "env" | "clock" | "profile" | "version"> {
  readonly schedule: BackupSchedule;
  readonly log: WorkerLog;
  /** Makes a backup (default: in another process). @throws Error */
  readonly make?: (request: BackupRequest, stop: AbortSignal) => Promise<{ readonly bytes: number }>;
}

/** Makes backups at intervals, and deletes old ones that it made. A failure is logged, and tried again. */
export class ScheduledBackups {
  readonly #settings: ScheduleSettings;
  readonly #stop = new AbortController();
  counts: ScheduleCounts = { lastSuccessMs: undefined, bytes: 0, durationMs: 0, failures: 0 };
  #notBeforeMs = 0;

  constructor(settings: ScheduleSettings) {
    this.#settings = settings;
  }

  /** Runs until it is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock } = this.#settings;
    while (!signal.aborted) {
      // An unreadable list is reported by the attempt to make a backup.
      const dueMs = Math.max(await this.#findDueMs().catch(() => 0), this.#notBeforeMs);
      if (dueMs <= clock()) await this.#makeDue();
      else await wait(Math.min(dueMs - clock(), checkEachMs), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  /** The time of the next backup. Backups of earlier processes count, so a restart changes nothing. */
  async #findDueMs(): Promise<number> {
    const last = (await this.#readOwn()).at(-1);
    if (!last) return 0;
    const lastSuccessMs = Date.parse(last.created_at);
    this.counts = { ...this.counts, lastSuccessMs, bytes: last.bytes };
    return lastSuccessMs + this.#settings.schedule.everyMs;
  }

  async #readOwn(): Promise<readonly BackupRecord[]> {
    const { paths, profile } = this.#settings;
    const { backups } = await readRecords(paths);
    return backups.filter(({ database, scheduled }) => scheduled && database === profile.shownAs);
  }

  async #makeDue(): Promise<void> {
    const { paths, clock, log, schedule } = this.#settings;
    const startedMs = clock();
    this.#notBeforeMs = startedMs + Math.min(schedule.everyMs, retryAfterMs);
    try {
      await createPrivateFolder(paths.dataFolder);
      const work = async () => ((await this.#findDueMs()) > startedMs ? undefined : this.#make());
      // Servers that share the data folder make each backup once.
      const made = await withFileLock(join(paths.dataFolder, "backup-schedule.lock"), work, { waitMs: 0 });
      if (!made) return;
      this.counts = { ...this.counts, durationMs: clock() - startedMs };
      log.info({ ...made, duration_ms: this.counts.durationMs }, "backup created");
      await this.#record(null);
      await this.#deleteOld();
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const { message } = error as Error;
      this.counts = { ...this.counts, failures: this.counts.failures + 1 };
      log.error({ error: message }, "backup failed");
      await this.#record(message).catch(() => {});
    }
  }

  #make(): Promise<{ readonly bytes: number }> {
    const { paths, profile, version, schedule, env, make } = this.#settings;
    const request = { paths, profile, version, folder: schedule.folder, recipients: schedule.recipients };
    const { signal } = this.#stop;
    return make ? make(request, signal) : makeInProcess(request, env, signal);
  }

  /** Records how the schedule is going, for `starpost doctor`. */
  async #record(error: string | null): Promise<void> {
    const { paths, profile, schedule, clock } = this.#settings;
    const tried_at = new Date(clock()).toISOString();
    const state: ScheduleState = { every_ms: schedule.everyMs, tried_at, error };
    await changeRecords(paths, ({ schedules }) => ({ schedules: { ...schedules, [profile.shownAs]: state } }));
  }

  /** Deletes the oldest backups of the schedule. Files that somebody has moved or replaced are left alone. */
  async #deleteOld(): Promise<void> {
    const { paths, log, schedule } = this.#settings;
    const found: BackupRecord[] = [];
    for (const record of await this.#readOwn()) if (await hasSize(record)) found.push(record);
    for (const record of found.slice(0, -schedule.keep)) {
      if (!(await isUnchanged(record))) continue;
      const { file } = record;
      await rm(file);
      await changeRecords(paths, (records) => ({ backups: records.backups.filter((kept) => kept.file !== file) }));
      log.info({ file }, "old backup deleted");
    }
  }
}

async function hasSize({ file, bytes }: BackupRecord): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.size === bytes;
}

/** Whether a file is still the backup that was recorded. The server cannot read encrypted ones. */
async function isUnchanged({ file, created_at, database, encrypted, sha256 }: BackupRecord): Promise<boolean> {
  if (encrypted === true) return (await hashFile({ path: file })) === sha256;
  const manifest = await readManifest(file).catch(() => undefined);
  return manifest?.created_at === created_at && manifest.database === database;
}

/**
 * Makes a backup in another process, which takes no time of the server. In the server, opening the file of the database a
 * second time would also release its locks.
 */
async function makeInProcess(
  request: BackupRequest,
  env: ServerSettings["env"],
  stop: AbortSignal,
): Promise<{ readonly bytes: number }> {
  const program = findThreadFile(import.meta.url, "./backup-process");
  const child = fork(program, [], { env: { ...env }, stdio: ["ignore", "ignore", "ignore", "ipc"], execArgv: [] });
  let reply: BackupReply = { error: "the process was ended" };
  child.once("message", (message) => (reply = message as BackupReply));
  const end = () => {
    if (child.connected) child.disconnect();
  };
  stop.addEventListener("abort", end, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("exit", () => resolve()).once("error", reject);
      child.send(request);
    });
  } finally {
    stop.removeEventListener("abort", end);
  }
  if ("error" in reply) throw new Error(reply.error);
  return reply;
}
