import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeRecords } from "../../../src/backup/records.ts";
import { type Paths, resolvePaths } from "../../../src/config/paths.ts";
import { checkLeftovers } from "../../../src/doctor/leftover-checks.ts";

const nowMs = Date.UTC(2026, 2, 15, 12);
const hourMs = 3_600_000;

let folder: string;
let paths: Paths;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "starpost-doctor-"));
  paths = await resolvePaths({ STARPOST_HOME: join(folder, "home") }, folder);
  const record = { file: join(folder, "disk", "a.tar.gz"), created_at: "", database: "", bytes: 1, sha256: "" };
  mkdirSync(paths.dataFolder);
  await changeRecords(paths, () => ({ backups: [{ ...record, scheduled: false }] }));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, ageMs: number): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "1234");
  utimesSync(path, (nowMs - ageMs) / 1_000, (nowMs - ageMs) / 1_000);
  return path;
}

const check = async () =>
  (await checkLeftovers({ paths, clock: () => nowMs })).find(({ name }) => name === "leftovers");

test("files of killed backups are found, with a command that deletes them", async () => {
  const left = [
    write("home/starpost.db.0123456789ab.restored", 2 * hourMs),
    write("home/backups/starpost-20260315T100000Z.tar.gz.0123456789ab.draft", 2 * hourMs),
    write("disk/shop.tar.gz.scheduled-0123456789ab.content-wal", 2 * hourMs),
  ];
  expect(await check()).toMatchObject({
    status: "warning",
    message: expect.stringContaining("3 files or folders (12 bytes)"),
    fix: `rm ${left.map((path) => `'${path}'`).join(" ")}`,
  });
});

test("backups, and files of one in progress, are not leftovers", async () => {
  write("disk/shop.tar.gz", 2 * hourMs);
  write("disk/shop.tar.gz.key", 2 * hourMs);
  write("disk/shop.tar.gz.0123456789ab.content", hourMs / 2);
  expect(await check()).toMatchObject({ status: "ok" });
});
