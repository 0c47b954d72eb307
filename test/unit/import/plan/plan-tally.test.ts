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
    expect(tally.findCollisions().examples).toHaveLength(20);
    expect(tally.findConflictingNames().examples).toHaveLength(20);
  });

  it("shows a few spellings and names of one ID, in the order of the files, with the first position", () => {
    tally.addStored("product", "00000001", "Stored");
    for (let zeros = 6; zeros >= 1; zeros--) add(`${"0".repeat(zeros)}1`);
    for (let at = 6; at >= 1; at--) add("a", `name ${at}`);
    tally.addStored("product", "a", "Stored");
    expect(tally.findCollisions().examples).toEqual([
      { ids: ["00000001", "0000001", "000001", "00001", "0001"], first: "f.csv:2" },
    ]);
    expect(tally.findConflictingNames().examples).toEqual([
      { id: "a", names: ["name 6", "name 5", "name 4", "name 3", "name 2"], first: "f.csv:8" },
    ]);
  });

  it("finds nothing that only the service has", () => {
    for (const id of ["01", "001", "1"]) tally.addStored("product", id, `name ${id}`);
    tally.addStored("product", "1", "other");
    add("2", "");
    add("2", "Cup");
    expect(tally.findCollisions()).toEqual({ count: 0, examples: [] });
    expect(tally.findConflictingNames()).toEqual({ count: 0, examples: [] });
    expect([tally.countStored("product"), tally.countStored("order")]).toEqual([0, 0]);
  });

  it("takes different canonical IDs for different ones", () => {
    using canonical = new PlanTally(join(folder, "canonical.db"), new Set(["order"]));
    for (const type of ["order", "product"]) {
      for (const [at, id] of ["1", "01"].entries()) {
        canonical.addFromFile(type, { id, spelling: id, name: undefined, place: `f.csv:${at}` });
      }
    }
    expect(canonical.findCollisions()).toEqual({ count: 1, examples: [{ ids: ["1", "01"], first: "f.csv:0" }] });
  });
});
