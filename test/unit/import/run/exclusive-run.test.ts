import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockKind } from "../../../../src/import/import.ts";
import { lockRun, runPaths } from "../../../../src/import/run/run-folder.ts";
import { kinds } from "../../../support/record-kinds.ts";

let runsFolder: string;
beforeEach(() => {
  runsFolder = mkdtempSync(join(tmpdir(), "starpost-test-"));
});
afterEach(() => rmSync(runsFolder, { recursive: true, force: true }));

function lock(name: string, target = "here") {
  const kind = kinds.get(name);
  return lockKind(kind, kind.prepare({ dryRun: false, map: {}, action: "map_review" }), { runsFolder, target });
}
const messageOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    expect(error).toMatchObject({ kind: "failed" });
    return (error as Error).message;
  }
  return expect.unreachable();
};

test("records that may exist more than once are imported by one run per account", () => {
  expect(lock("products")).toBeUndefined();
  expect(readdirSync(runsFolder)).toEqual([]);
  const first = lock("reviews");
  expect(first).toBeDefined();
  using elsewhere = lock("reviews", "elsewhere");
  expect(elsewhere).toBeDefined();
  const locks = readdirSync(runsFolder).filter((name) => /^reviews-[0-9a-f]{16}\.lock$/.test(name));
  expect(locks).toHaveLength(2);
  expect(messageOf(() => lock("reviews"))).not.toContain("2026");
  first?.close();
  lock("reviews")?.close();
});

test("the other run is named if it is in progress", () => {
  const describe = (id: string, more: object) => {
    mkdirSync(join(runsFolder, id));
    const manifest = { format: 1, import_id: id, kind: "reviews", target: "here", state: "running", ...more };
    writeFileSync(runPaths(runsFolder, id).manifest, JSON.stringify({ started_at: "2026-01-01", ...manifest }));
    return lockRun(runsFolder, id);
  };
  const held = [
    lock("reviews"),
    describe("20260101-000001-000000", { kind: "products" }),
    describe("20260101-000002-000000", { target: "elsewhere" }),
    describe("20260101-000003-000000", { state: "finished" }),
  ];
  describe("20260101-000004-000000", {}).close();
  expect(messageOf(() => lock("reviews"))).not.toContain("20260101");
  held.push(describe("20260101-000005-000000", {}));
  expect(messageOf(() => lock("reviews"))).toContain("20260101-000005-000000");
  for (const one of held) one?.close();
});
