import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { findPurgeable, purgeImports, type PurgeDeps } from "../../../../src/import/run/purge.ts";
import { runPaths } from "../../../../src/import/run/run-folder.ts";
import { FileLock } from "../../../../src/storage/file-lock.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline[Symbol.asyncDispose]());

const dayMs = 86_400_000;
const products = "product_id,name,url\np1,Teapot,https://shop.example/p1\n";

/** Purges `days` after now; files are written in real time. */
const depsAfter = (days: number, approve: PurgeDeps["approve"] = async () => {}): PurgeDeps => {
  const temporaryFolder = join(pipeline.folder, "tmp");
  mkdirSync(temporaryFolder, { recursive: true });
  const { runsFolder } = pipeline.deps();
  return { runsFolder, temporaryFolder, clock: () => Date.now() + days * dayMs, approve };
};
const request = (days: number, unfinished = false) => ({ olderThanMs: days * dayMs, unfinished });

const folders = () => readdirSync(pipeline.deps().runsFolder);

test("removes runs that are old enough, and reports their size", async () => {
  const { import_id } = await pipeline.run("products", products);
  expect(await purgeImports(request(30), depsAfter(29))).toMatchObject({ removed: [], removed_bytes: 0 });
  expect(folders()).toEqual([import_id]);
  const purged = await purgeImports(request(30), depsAfter(31));
  expect(purged.removed).toMatchObject([{ import_id, kind: "products", state: "finished" }]);
  expect(purged.removed[0]?.files).toEqual([join(pipeline.folder, "products.csv")]);
  expect(purged.removed_bytes).toBe(purged.removed[0]?.bytes);
  expect(purged.removed_bytes).toBeGreaterThan(500);
  expect(folders()).toEqual([]);
});

test("removes nothing without approval", async () => {
  await pipeline.run("products", products);
  const refused = purgeImports(
    request(30),
    depsAfter(31, () => Promise.reject(new Error("no"))),
  );
  await expect(refused).rejects.toThrow("no");
  expect(folders()).toHaveLength(1);
});

test("keeps unfinished runs unless asked, and runs in progress always", async () => {
  const stopped = await pipeline.run("products", `${products}p2,,x\n`, { maxErrors: { count: 0 } });
  expect(stopped.state).toBe("stopped");
  const kept = await purgeImports(request(30), depsAfter(31));
  expect(kept).toMatchObject({ removed: [], kept: { running: 0, unfinished: 1 } });
  const { lock } = runPaths(pipeline.deps().runsFolder, stopped.import_id ?? "");
  const held = FileLock.acquire(lock);
  expect(await purgeImports(request(30, true), depsAfter(31))).toMatchObject({
    removed: [],
    kept: { running: 1, unfinished: 0 },
  });
  held?.close();
  expect((await purgeImports(request(30, true), depsAfter(31))).removed).toHaveLength(1);
});

test("keeps a run that another process resumes while the question is open", async () => {
  const { import_id } = await pipeline.run("products", products);
  let held: FileLock | undefined;
  const purged = await purgeImports(
    request(30),
    depsAfter(31, async () => {
      held = FileLock.acquire(runPaths(pipeline.deps().runsFolder, import_id ?? "").lock);
    }),
  );
  expect(purged).toMatchObject({ removed: [], removed_bytes: 0, kept: { running: 1 } });
  held?.close();
  expect(folders()).toEqual([import_id]);
});

test("removes leftovers of killed processes after a day, and nothing else", async () => {
  const { runsFolder, temporaryFolder } = depsAfter(0);
  const old = (Date.now() - 2 * dayMs) / 1_000;
  const leave = (path: string) => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "data"), "12345");
    utimesSync(join(path, "data"), old, old);
    return path;
  };
  const leftovers = [
    leave(join(runsFolder, "20260101-000000-abcdef")),
    leave(join(temporaryFolder, "starpost-plan-aB3xYz")),
    leave(join(temporaryFolder, "starpost-export-000000")),
  ];
  const others = [
    leave(join(runsFolder, "notes")),
    leave(join(temporaryFolder, "starpost-plan-short")),
    leave(join(temporaryFolder, "other-plan-aB3xYz")),
  ];
  const fresh = join(temporaryFolder, "starpost-map-fresh0");
  mkdirSync(fresh);
  const purged = await purgeImports(request(0), depsAfter(0));
  expect(purged.removed.map(({ path }) => path).toSorted()).toEqual(leftovers.toSorted());
  expect(
    purged.removed.every(({ state, import_id, bytes }) => state === "leftover" && import_id === null && bytes === 5),
  ).toBe(true);
  expect([...others, fresh].every((path) => existsSync(path))).toBe(true);
});

/** Makes this process belong to another user until the test ends. */
function changeUser(uid: number): void {
  const spy = vi.spyOn(os, "userInfo").mockReturnValue({ ...os.userInfo(), uid });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

test.each([
  ["leaves those of other users alone", 1, 0],
  ["removes all where users have no IDs", -1, 1],
])("%s", async (_what, change, removed) => {
  const { temporaryFolder } = depsAfter(0);
  mkdirSync(join(temporaryFolder, "starpost-plan-aB3xYz"));
  changeUser(change < 0 ? -1 : os.userInfo().uid + change);
  expect((await purgeImports(request(0), depsAfter(2))).removed).toHaveLength(removed);
});

test("removes what killed processes left in the folders of runs, unless the run is in progress", async () => {
  const { runsFolder } = pipeline.deps();
  const leave = async () => {
    const { import_id } = await pipeline.run("products", `${products}p2,,x\n`, { maxErrors: { count: 0 } });
    const path = join(runsFolder, import_id ?? "");
    for (const name of ["starpost-spill-aB3xYz", "other"]) {
      mkdirSync(join(path, name));
      writeFileSync(join(path, name, "rows.db"), "12345");
    }
    return { path, spilled: join(path, "starpost-spill-aB3xYz"), id: import_id };
  };
  const [stopped, held] = [await leave(), await leave()];
  const lock = FileLock.acquire(runPaths(runsFolder, held.id ?? "").lock);
  expect((await purgeImports(request(0), depsAfter(0.9))).removed).toEqual([]);
  const { removed, kept } = await purgeImports(request(0), depsAfter(1.1));
  expect(removed.map(({ path, state, bytes }) => [path, state, bytes])).toEqual([[stopped.spilled, "leftover", 5]]);
  expect(kept).toEqual({ running: 1, unfinished: 1 });
  expect([stopped.path, held.spilled].map((path) => existsSync(path))).toEqual([true, true]);
  lock?.close();
  // With their run, they are removed once.
  const all = await purgeImports(request(0, true), depsAfter(1.1));
  expect(all.removed.map(({ path }) => path).toSorted()).toEqual([stopped.path, held.path].toSorted());
  expect(folders()).toEqual([]);
});

test("finds without changing, and leaves the locks of finished runs alone", async () => {
  const { import_id } = await pipeline.run("products", products);
  const { approve: _unused, ...deps } = depsAfter(31);
  const { lock } = runPaths(deps.runsFolder, import_id ?? "");
  const held = FileLock.acquire(lock);
  expect(findPurgeable(request(30), { ...deps, leavesFinished: true }).removed).toHaveLength(1);
  expect(findPurgeable(request(30), deps)).toMatchObject({ removed: [], kept: { running: 1 } });
  held?.close();
});

test("treats an unreadable manifest as an unfinished run, and a sync by its record", async () => {
  const { runsFolder } = depsAfter(0);
  const unreadable = join(runsFolder, "20260101-000000-aaaaaa");
  const sync = join(runsFolder, "20260101-000000-bbbbbb");
  for (const path of [unreadable, sync]) mkdirSync(path, { recursive: true });
  writeFileSync(join(unreadable, "manifest.json"), "{}");
  const record = { sync_id: "20260101-000000-bbbbbb", files: ["list.csv"], state: "running" };
  writeFileSync(join(sync, "sync.json"), JSON.stringify(record));
  expect(await purgeImports(request(30), depsAfter(31))).toMatchObject({ removed: [], kept: { unfinished: 2 } });
  const { removed } = await purgeImports(request(30, true), depsAfter(31));
  expect(removed.map(({ kind, state, import_id }) => `${kind} ${state} ${import_id}`).toSorted()).toEqual([
    " failed null",
    `sync running ${record.sync_id}`,
  ]);
});
