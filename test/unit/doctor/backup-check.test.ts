import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeRecords } from "../../../src/backup/records.ts";
import { type Paths, resolvePaths } from "../../../src/config/paths.ts";
import { checkBackups } from "../../../src/doctor/local/database-checks.ts";

const nowMs = Date.UTC(2026, 2, 15, 12);
const dayMs = 86_400_000;
const shownAs = "/shop/starpost.db";

let folder: string;
let paths: Paths;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "starpost-doctor-"));
  paths = await resolvePaths({ STARPOST_HOME: folder }, folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const check = (hasContent = false) => checkBackups({ paths, clock: () => nowMs }, { shownAs }, hasContent);
const atAge = (ageMs: number) => new Date(nowMs - ageMs).toISOString();
const add = (ageMs: number, database = shownAs) => {
  const record = { file: "/backup/a", created_at: atAge(ageMs), database, bytes: 1, sha256: "", scheduled: false };
  return changeRecords(paths, ({ backups }) => ({ backups: [...backups, record] }));
};
const schedule = (error: string | null) =>
  changeRecords(paths, () => ({ schedules: { [shownAs]: { every_ms: dayMs, tried_at: atAge(0), error } } }));

test("without a backup of the database, there is nothing to check unless it has orders", async () => {
  await add(0, "another");
  expect(await check()).toMatchObject({ name: "backup", status: "skipped" });
  expect(await check(true)).toMatchObject({ name: "backup", status: "warning" });
});

test.each([
  [7 * dayMs, "ok"],
  [7 * dayMs + 1, "warning"],
])("without a schedule, a backup may be a week old (%i ms)", async (ageMs, status) => {
  await add(30 * dayMs);
  await add(ageMs);
  expect((await check()).status).toBe(status);
});

test.each([
  [2 * dayMs, "ok"],
  [2 * dayMs + 1, "warning"],
])("with a schedule, two intervals old (%i ms)", async (ageMs, status) => {
  await add(ageMs);
  await schedule(null);
  expect((await check()).status).toBe(status);
});

test("a failure of the schedule is shown", async () => {
  await add(1);
  await schedule("the disk is full");
  expect(await check()).toMatchObject({ status: "warning", message: expect.stringContaining("the disk is full") });
});
