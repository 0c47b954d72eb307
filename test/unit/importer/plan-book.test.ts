import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { normalizeId } from "../../../src/import/plan/id-format.ts";
import { PlanTally } from "../../../src/import/plan/plan-tally.ts";

describe("the form of an id", () => {
  it.each([
    ["00123", "123"],
    ["123", "123"],
    ["  Pot-7 ", "pot-7"],
    ["000", "0"],
    ["0A", "a"],
    ["１２", "12"],
    ["", ""],
  ])("of %j is %j", (id, form) => expect(normalizeId(id)).toBe(form));
});

describe("the book of a plan", () => {
  let folder: string;
  let book: PlanTally;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
    book = new PlanTally(join(folder, "ids.db"));
  });
  afterEach(() => {
    book[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });
  let line = 1;
  const meet = (id: string, name?: string, spelling = id) => {
    line += 1;
    book.meetId("product", { id, spelling, name, place: `f.csv:${line}` });
  };
  beforeEach(() => {
    line = 1;
  });

  it("finds ids that are one but for zeros, case and blanks, in the files and on the service", () => {
    for (const id of ["00123", "123", "A-1", "a-1", "B", "7", "9"]) meet(id);
    meet("B", undefined, " B");
    for (const id of ["07", "9", "there", "THERE"]) book.addThere("product", id);
    book.addThere("order", "009");
    const { count, examples } = book.findCollisions();
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

  it("finds no collision where every id is written in one way", () => {
    for (const id of ["00123", "00124", "A", "A", "b"]) meet(id);
    book.addThere("product", "A");
    expect(book.findCollisions()).toEqual({ count: 0, examples: [] });
  });

  it("finds ids with two names, in the files and on the service, and none that are on the service alone", () => {
    meet("one", "Pot");
    meet("one", "Pot");
    meet("two", "Pot");
    meet("two", "Pan");
    meet("three", "Cup");
    book.addThere("product", "three", "Mug");
    book.addThere("product", "four", "Jug");
    book.addThere("product", "four", "Jar");
    const { count, examples } = book.findNames();
    expect(count).toBe(2);
    expect(examples.map(({ id, names }) => `${id}: ${names.join(", ")}`).toSorted()).toEqual([
      "three: Cup, Mug",
      "two: Pot, Pan",
    ]);
  });

  it("counts each id of the files that is there once, and tells keys that come again", () => {
    for (const id of ["a", "b", "c", "b"]) meet(id);
    meet("b", undefined, " b");
    for (const id of ["b", "c", "d"]) book.addThere("product", id);
    expect(book.countThere("product")).toBe(2);
    expect(book.isThere("product", "d")).toBe(true);
    expect(book.isThere("product", "a")).toBe(false);
    expect([book.meetKey("k"), book.meetKey("k"), book.meetKey("K")]).toEqual([false, true, false]);
  });

  it("keeps giving the count where there are more findings than examples", () => {
    for (let at = 1; at <= 500; at++) {
      meet(String(at), `name ${at}`);
      meet(`0${at}`);
      meet(String(at), `other name ${at}`);
    }
    expect(book.findCollisions()).toMatchObject({ count: 500 });
    expect(book.findNames()).toMatchObject({ count: 500 });
    expect(book.findNames().examples.length).toBeLessThan(50);
  });
});
