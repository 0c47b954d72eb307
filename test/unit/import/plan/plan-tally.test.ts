import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { normalizeId, PlanTally } from "../../../../src/import/plan/plan-tally.ts";

describe("normalizeId", () => {
  it.each([
    ["00123", "123"],
    ["123", "123"],
    ["  Pot-7 ", "pot-7"],
    ["000", "0"],
    ["0A", "a"],
    ["１２", "12"],
    ["", ""],
  ])("normalizes %j to %j", (id, form) => expect(normalizeId(id)).toBe(form));
});

describe("PlanTally", () => {
  let folder: string;
  let tally: PlanTally;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
    tally = new PlanTally(join(folder, "ids.db"), new Set());
  });
  afterEach(() => {
    tally[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });
  let line = 1;
  const add = (id: string, name?: string, spelling = id) => {
    line += 1;
    tally.addFromFile("product", { id, spelling, name, place: `f.csv:${line}` });
  };
  beforeEach(() => {
    line = 1;
  });

  it("finds IDs that differ only in leading zeros, case, or whitespace, in the files and on the service", () => {
    for (const id of ["00123", "123", "A-1", "a-1", "B", "7", "9"]) add(id);
    add("B", undefined, " B");
    for (const id of ["07", "9", "there", "THERE"]) tally.addStored("product", id);
    tally.addStored("order", "009");
    const { count, examples } = tally.findCollisions();
    expect(count).toBe(4);
    expect(examples.map(({ ids }) => ids.toSorted())).toEqual(
      expect.arrayContaining([
        ["00123", "123"],
        ["A-1", "a-1"],
        [" B", "B"],
        ["07", "7"],
      ]),
    );
    expect(examples.find(({ ids }) => ids.includes("07"))?.first).toBe("f.csv:7");
  });

  it("finds no collision if every ID has a single spelling", () => {
    for (const id of ["00123", "00124", "A", "A", "b"]) add(id);
    tally.addStored("product", "A");
    expect(tally.findCollisions()).toEqual({ count: 0, examples: [] });
  });

  it("finds no collision between an ID that the import rewrites and its stored form", () => {
    add("3001", undefined, "#3001");
    add("A-1-x7", undefined, "A 1");
    tally.addStored("product", "3001");
    tally.addStored("product", "A-1-x7");
    expect(tally.findCollisions()).toEqual({ count: 0, examples: [] });
    tally.addStored("product", "03001");
    add("3002", undefined, "#3002");
    add("3002");
    const { count, examples } = tally.findCollisions();
    expect(count).toBe(2);
    expect(examples.map(({ ids }) => ids.toSorted())).toEqual(
      expect.arrayContaining([
        ["#3001", "03001"],
        ["#3002", "3002"],
      ]),
    );
  });

  it("finds IDs with conflicting names, but not those that only the service has", () => {
    add("one", "Pot");
    add("one", "Pot");
    add("two", "Pot");
    add("two", "Pan");
    add("three", "Cup");
    tally.addStored("product", "three", "Mug");
    tally.addStored("product", "four", "Jug");
    tally.addStored("product", "four", "Jar");
    const { count, examples } = tally.findConflictingNames();
    expect(count).toBe(2);
    expect(examples.map(({ id, names }) => `${id}: ${names.join(", ")}`).toSorted()).toEqual([
      "three: Cup, Mug",
      "two: Pot, Pan",
    ]);
  });

  it("counts each stored ID of the files once, and detects repeated keys", () => {
    for (const id of ["a", "b", "c", "b"]) add(id);
    add("b", undefined, " b");
    for (const id of ["b", "c", "d"]) tally.addStored("product", id);
    expect(tally.countStored("product")).toBe(2);
    expect(tally.isStored("product", "d")).toBe(true);
    expect(tally.isStored("product", "a")).toBe(false);
    expect([tally.addKey("k"), tally.addKey("k"), tally.addKey("K")]).toEqual([false, true, false]);
  });

  it("counts all findings even if there are more than it shows", () => {
    for (let at = 1; at <= 500; at++) {
      add(String(at), `name ${at}`);
      add(`0${at}`);
      add(String(at), `other name ${at}`);
    }
    expect(tally.findCollisions()).toMatchObject({ count: 500 });
    expect(tally.findConflictingNames()).toMatchObject({ count: 500 });
    expect(tally.findConflictingNames().examples.length).toBeLessThan(50);
  });
});
