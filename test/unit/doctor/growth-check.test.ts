import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeRecords } from "../../../src/backup/records.ts";
import { type Paths, resolvePaths } from "../../../src/config/paths.ts";
import { checkGrowth } from "../../../src/doctor/local/database-checks.ts";

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

const check = (bytes: number, freeBytes?: number) =>
  checkGrowth({ paths, clock: () => nowMs }, { shownAs }, { bytes, freeBytes });

const add = (ageMs: number, size: number | undefined, database = shownAs) => {
  const created_at = new Date(nowMs - ageMs).toISOString();
  const record = { file: "/backup/a", created_at, database, bytes: 1, sha256: "", scheduled: false };
  return changeRecords(paths, ({ backups }) => ({
    backups: [...backups, size === undefined ? record : { ...record, database_size: size }],
  }));
};

test.each([
  ["no backup", undefined],
  ["one that is younger than a day", dayMs - 1],
  ["one that is older than 30 days", 30 * dayMs + 1],
])("with %s, nothing is measured", async (_, ageMs) => {
  await add(5 * dayMs, 1, "another");
  await add(5 * dayMs, undefined);
  if (ageMs !== undefined) await add(ageMs, 1);
  expect((await check(1_000, 1)).status).toBe("skipped");
});

// 100 bytes a day.
test.each([
  [3_000, "ok", "2026-04-14"],
  [2_999, "warning", "2026-04-13"],
])("with %i bytes left: %s", async (free, status, day) => {
  await add(10 * dayMs, 1_000);
  await add(5 * dayMs, 1_900);
  expect(await check(2_000, free)).toMatchObject({ status, message: expect.stringContaining(day) });
});

test.each([dayMs, 30 * dayMs])("a backup from %i ms ago is compared", async (ageMs) => {
  await add(ageMs, 1_000);
  expect(await check(1_001, 0)).toMatchObject({ status: "warning" });
});

test("without growth, and far in the future, no date is given", async () => {
  await add(10 * dayMs, 1_000);
  for (const [bytes, free] of [
    [1_000, 0],
    [999, 0],
    [1_001, Number.MAX_SAFE_INTEGER],
  ] as const) {
    expect(await check(bytes, free)).toMatchObject({ status: "ok", message: expect.not.stringMatching(/\d{4}-/) });
  }
});

test("a server does not report its free space", async () => {
  await add(10 * dayMs, 1_000);
  expect((await check(9_000_000)).status).toBe("ok");
});
