import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScheduledBackups } from "../../../src/app/backups/scheduled-backups.ts";
import { writeArchive } from "../../../src/backup/archive.ts";
import { createManifest } from "../../../src/backup/manifest.ts";
import { type BackupRecord, changeRecords, readRecords } from "../../../src/backup/records.ts";
import { resolvePaths, type Paths } from "../../../src/config/paths.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 2, 15, 12);
const database = "/shop/starpost.db";

let folder: string;
let paths: Paths;
let nowMs: number;
let log: { level: string; message: string; data: Record<string, unknown> }[];
let makes: number;
let failure: Error | undefined;
let running: { schedule: ScheduledBackups; done: Promise<void> }[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "starpost-scheduled-"));
  paths = await resolvePaths({ STARPOST_HOME: folder }, folder);
  [nowMs, log, makes, failure, running] = [startMs, [], 0, undefined, []];
});

afterEach(async () => {
  for (const { schedule, done } of running) {
    schedule.stop();
    await done;
  }
  rmSync(folder, { recursive: true });
});

/** Makes a small file instead of a backup of a database. */
async function make(): Promise<{ bytes: number }> {
  makes += 1;
  if (failure) throw failure;
  return record(nowMs, { scheduled: true });
}

async function record(atMs: number, change: Partial<BackupRecord> = {}): Promise<BackupRecord> {
  const created_at = new Date(atMs).toISOString();
  const file = join(folder, `backup-${atMs}.tar.gz`);
  const content = join(folder, "content");
  writeFileSync(content, "");
  const manifest = createManifest({
    starpost: "1.0.0",
    created_at,
    database,
    dialect: "sqlite",
    database_version: "SQLite",
    schema: 1,
    accounts: 1,
    namespace: null,
    dump_version: null,
    content: { name: "starpost.db", bytes: 0, sha256: "" },
  });
  await writeArchive(file, {
    text: { name: "manifest.json", content: JSON.stringify(manifest) },
    file: { name: "starpost.db", path: content, bytes: 0 },
    modifiedMs: atMs,
    isCompressed: false,
  });
  const { size: bytes } = statSync(file);
  const made = { file, created_at, database, bytes, sha256: "", scheduled: true, ...change };
  await changeRecords(paths, ({ backups }) => ({ backups: [...backups, made] }));
  return made;
}

function start(schedule: { everyMs: number; keep: number; folder?: string }): ScheduledBackups {
  const write = (level: string) => (data: object, message: string) =>
    void log.push({ level, message, data: data as Record<string, unknown> });
  const backups = new ScheduledBackups({
    paths,
    env: {},
    clock: () => nowMs,
    profile: { name: "local", isLive: false, mode: "local", database, shownAs: database },
    version: "1.0.0",
    schedule,
    log: { info: write("info"), warn: write("warn"), error: write("error"), debug: write("debug") } as never,
    make,
  });
  running.push({ schedule: backups, done: backups.run() });
  return backups;
}

const files = async () => (await readRecords(paths)).backups.map(({ file }) => file);
const settle = async (count: number) => {
  await expect.poll(() => log.filter(({ message }) => message !== "old backup deleted")).toHaveLength(count);
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
};

test("makes the first backup at once, and keeps the newest", async () => {
  const old = [await record(startMs - 3 * hourMs), await record(startMs - 2 * hourMs)];
  const manual = await record(startMs - 4 * hourMs, { scheduled: false });
  const other = await record(startMs - 5 * hourMs, { database: "another" });
  const backups = start({ everyMs: hourMs, keep: 2 });
  await settle(1);
  await expect.poll(() => log).toHaveLength(2);
  expect(makes).toBe(1);
  const kept = [old[1]?.file, manual.file, other.file, join(folder, `backup-${startMs}.tar.gz`)];
  await expect.poll(() => files()).toEqual(kept);
  expect(old.map(({ file }) => existsSync(file))).toEqual([false, true]);
  expect(backups.counts).toMatchObject({ lastSuccessMs: startMs, failures: 0 });
  expect((await readRecords(paths)).schedules).toEqual({
    [database]: { every_ms: hourMs, tried_at: new Date(startMs).toISOString(), error: null },
  });
});

test("waits for the end of the interval, which a restart does not change", async () => {
  await record(startMs - hourMs + 1);
  const backups = start({ everyMs: hourMs, keep: 1 });
  await expect.poll(() => backups.counts.lastSuccessMs).toBe(startMs - hourMs + 1);
  expect(makes).toBe(0);
  backups.stop();
  nowMs += 1;
  start({ everyMs: hourMs, keep: 1 });
  await settle(1);
  expect(makes).toBe(1);
});

test("a failure is logged and recorded, and tried again after a while", async () => {
  failure = new Error("the disk is full");
  const backups = start({ everyMs: 24 * hourMs, keep: 1 });
  await settle(1);
  expect(log).toEqual([{ level: "error", message: "backup failed", data: { error: "the disk is full" } }]);
  expect(backups.counts).toMatchObject({ lastSuccessMs: undefined, failures: 1 });
  await expect
    .poll(async () => (await readRecords(paths)).schedules[database])
    .toMatchObject({ error: "the disk is full" });
  backups.stop();
  expect(makes).toBe(1);
});

test("files that were replaced or are gone are not deleted, and do not count", async () => {
  const [gone, replaced, first, second] = [
    await record(startMs - 9 * hourMs),
    await record(startMs - 8 * hourMs),
    await record(startMs - 7 * hourMs),
    await record(startMs - 6 * hourMs),
  ];
  rmSync(gone.file);
  writeFileSync(replaced.file, "x".repeat(replaced.bytes));
  start({ everyMs: hourMs, keep: 2 });
  await expect.poll(() => log.map(({ message }) => message)).toEqual(["backup created", "old backup deleted"]);
  expect([replaced, first, second].map(({ file }) => existsSync(file))).toEqual([true, false, true]);
  await expect.poll(() => files()).not.toContain(first.file);
  expect(await files()).toEqual(expect.arrayContaining([gone.file, replaced.file]));
});

test("encrypted backups are recognized by their checksum", async () => {
  const encrypted = async (atMs: number) => {
    const { file } = await record(atMs, { scheduled: false });
    await changeRecords(paths, ({ backups }) => ({ backups: backups.slice(0, -1) }));
    const content = `age-encryption.org/v1\n${atMs}`;
    writeFileSync(file, content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const made = { file, created_at: new Date(atMs).toISOString(), database, bytes: content.length, sha256 };
    await changeRecords(paths, ({ backups }) => ({
      backups: [...backups, { ...made, scheduled: true, encrypted: true }],
    }));
    return made;
  };
  const [replaced, old, kept] = [
    await encrypted(startMs - 4 * hourMs),
    await encrypted(startMs - 3 * hourMs),
    await encrypted(startMs - 2 * hourMs),
  ];
  writeFileSync(replaced.file, "x".repeat(replaced.bytes));
  start({ everyMs: hourMs, keep: 2 });
  await expect.poll(() => log.map(({ message }) => message)).toEqual(["backup created", "old backup deleted"]);
  expect([replaced, old, kept].map(({ file }) => existsSync(file))).toEqual([true, false, true]);
});

test("a data folder that is not writable is a failure", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  paths = { ...paths, dataFolder: join(file, "data") };
  const backups = start({ everyMs: hourMs, keep: 1 });
  await settle(1);
  expect([backups.counts.failures, makes]).toEqual([1, 0]);
});

test("two servers make each backup once", async () => {
  for (let server = 0; server < 2; server += 1) start({ everyMs: hourMs, keep: 3 });
  await expect.poll(() => log.length).toBeGreaterThan(0);
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  expect(makes).toBe(1);
});
