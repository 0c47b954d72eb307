import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listRunHeads } from "../../../../src/import/run/run-headers.ts";
import {
  createRunFolder,
  findRun,
  isHeld,
  listManifests,
  lockRun,
  noTotals,
  removeRunFolder,
  runPaths,
  summarizeRun,
} from "../../../../src/import/run/run-folder.ts";

test("runs started in the same second are listed newest first, whatever their IDs", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-runs-"));
  try {
    const begun = [
      ["20261121-101500-ffffff", "2026-11-21T10:15:00.100Z"],
      ["20261121-101500-000000", "2026-11-21T10:15:00.900Z"],
      ["20261121-101500-888888", "2026-11-21T10:15:00.500Z"],
      ["20261121-101459-aaaaaa", "2026-11-21T10:14:59.999Z"],
    ] as const;
    for (const [import_id, started_at] of begun) {
      mkdirSync(join(folder, import_id));
      writeFileSync(join(folder, import_id, "manifest.json"), JSON.stringify({ format: 1, import_id, started_at }));
    }
    expect(listManifests(folder).map(({ import_id }) => import_id)).toEqual([
      "20261121-101500-000000",
      "20261121-101500-888888",
      "20261121-101500-ffffff",
      "20261121-101459-aaaaaa",
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("a run's folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const create = (byte: number, manifest: object = {}, runsFolder = folder) => {
    const id = createRunFolder(runsFolder, nowMs, (bytes) => Buffer.alloc(bytes, byte));
    const whole = {
      format: 1,
      import_id: id,
      kind: "orders",
      files: [{ given: "a.csv" }],
      state: "running",
      ...manifest,
    };
    writeFileSync(runPaths(runsFolder, id).manifest, JSON.stringify({ started_at: new Date(nowMs), ...whole }));
    return id;
  };

  test("has an ID of the time and three random bytes, and is removed with its files", () => {
    const id = create(0xab, {}, join(folder, "new"));
    expect(id).toBe("20260102-030405-ababab");
    expect(statSync(join(folder, "new", id)).mode & 0o777).toBe(0o700);
    removeRunFolder(join(folder, "new"), id);
    removeRunFolder(join(folder, "new"), id);
    expect(readdirSync(join(folder, "new"))).toEqual([]);
    expect(listManifests(join(folder, "none"))).toEqual([]);
  });

  test("of a newer version is refused, but does not hide others", () => {
    const newer = create(1, { format: 2 });
    const known = create(2);
    mkdirSync(join(folder, "20260102-030405-030303"));
    expect(listManifests(folder).map(({ import_id }) => import_id)).toEqual([known]);
    expect(() => findRun(folder, newer)).toThrow(expect.objectContaining({ kind: "failed" }));
    expect(findRun(folder, known).import_id).toBe(known);
    expect(() => findRun(folder, "2026")).toThrow(expect.objectContaining({ kind: "usage", misnamed: undefined }));
    const misnamed = { given: "3", known: [known, newer] };
    expect(() => findRun(folder, "3")).toThrow(expect.objectContaining({ kind: "failed", misnamed }));
  });

  test("shows whether the run is in progress", () => {
    const id = create(1, { rejects_file: null });
    expect(isHeld(join(folder, id))).toBe(false);
    expect(readdirSync(join(folder, id))).toEqual(["manifest.json"]);
    const summary = {
      import_id: id,
      kind: "orders",
      files: ["a.csv"],
      state: "interrupted",
      ...noTotals,
      started_at: "2026-01-02T03:04:05.678Z",
      duration_ms: 0,
      rejects_file: null,
    };
    expect(summarizeRun(folder, findRun(folder, id))).toEqual(summary);
    const lock = lockRun(folder, id);
    expect(isHeld(join(folder, id))).toBe(true);
    expect(summarizeRun(folder, findRun(folder, id))).toEqual({ ...summary, state: "running" });
    expect(() => lockRun(folder, id)).toThrow(expect.objectContaining({ kind: "usage" }));
    lock.close();
    expect(isHeld(join(folder, id))).toBe(false);
  });

  test("shows its files, and the totals of older versions", () => {
    const id = create(1, { state: "finished", rejects_file: null });
    const { journal, rejects, fixedIds } = runPaths(folder, id);
    for (const path of [rejects, fixedIds]) writeFileSync(path, "");
    const old = { rows: { ...noTotals.rows, read: 1 }, items: { sent: 1, accepted: 1 }, calls: noTotals.calls };
    const lines = [
      { t: "start", at: 1_000 },
      { t: "totals", at: 4_000, totals: old },
    ];
    writeFileSync(journal, lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(summarizeRun(folder, findRun(folder, id))).toMatchObject({
      state: "finished",
      items: { sent: 1, accepted: 1, rejected: 0, created: null, changed: null, unchanged: null },
      rows: { read: 1 },
      duration_ms: 3_000,
      rejects_file: rejects,
      fixed_ids_file: fixedIds,
    });
  });

  test("is listed by the start of its ID, newest first, without being opened", () => {
    const [older, newer] = [create(1), create(2)];
    create(3, { files: undefined });
    writeFileSync(join(folder, "note"), "");
    const head = { kind: "orders", files: ["a.csv"], state: "running", startedAt: "2026-01-02T03:04:05.678Z" };
    expect(listRunHeads(folder, "", 9)).toEqual([
      { id: newer, ...head },
      { id: older, ...head },
    ]);
    expect(listRunHeads(folder, older, 9)).toEqual([{ id: older, ...head }]);
    expect(listRunHeads(folder, "", 1).map(({ id }) => id)).toEqual([newer]);
    expect(listRunHeads(folder, "x", 9)).toEqual([]);
    expect(listRunHeads(join(folder, "none"), "", 9)).toEqual([]);
    expect(readdirSync(join(folder, older))).toEqual(["manifest.json"]);
  });
});
