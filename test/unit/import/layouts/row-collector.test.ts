import { describe, expect, test } from "vitest";
import type { RowGroups } from "../../../../src/import/layouts/layout.ts";
import { type CollectedGroup, maxGroup, RowCollector } from "../../../../src/import/layouts/group-reader.ts";
import type { RowFields } from "../../../../src/import/layouts/row-fields.ts";

const byColumn: RowGroups = { by: { columns: ["order"] }, makes: "lines" };
const byFamily: RowGroups = { by: { family: () => undefined }, makes: "one" };
const byStart: RowGroups = { by: { start: (cell) => cell("kind") === "head" }, makes: "one" };

const fields = {
  groupColumn: 1,
  cellView:
    ({ cells }: { readonly cells: readonly string[] }) =>
    (column: string) =>
      cells[["kind", "order"].indexOf(column)] ?? "",
} as unknown as RowFields;

type Row = readonly [kind: string, order: string];

/** Returns the groups that each row completes, and those that the end completes. */
function collect(rows: readonly Row[], groups: RowGroups = byColumn, families: readonly (string | undefined)[] = []) {
  const collector = new RowCollector(groups, fields);
  const found: CollectedGroup[] = [];
  for (const [at, cells] of rows.entries()) {
    found.push(...collector.add({ source: { cells, file: 0, line: at + 2 } }, families[at]));
  }
  found.push(...collector.end());
  return found.map(({ rows: collected, isTooLarge }) => ({
    lines: collected.map(({ source }) => source.line),
    isTooLarge,
  }));
}

const linesOf = (groups: readonly { readonly lines: readonly number[] }[]) => groups.map(({ lines }) => lines);

describe("adjacent rows are one group", () => {
  test("if they have the same key, apart from whitespace and quotes around it", () => {
    const rows: Row[] = [
      ["", "1"],
      ["", " 1 "],
      ["", "2"],
      ["", "1"],
    ];
    expect(linesOf(collect(rows))).toEqual([[2, 3], [4], [5]]);
  });

  test.each([
    ['"1"', "1", true],
    ['" 1 "', "1", true],
    ['"1', "1", true],
    [' "12" ', "12", true],
    ['1"', "1", false],
    ['x"1"', "1", false],
    ['"1"x', "1", false],
    ['"1"x', "1x", false],
    ['"1""2"', '1"2', false],
    ['""', "", false],
    ['"', "", false],
  ])("as their keys %j and %j show: %s", (one, other, isGroup) => {
    const lines = linesOf(
      collect([
        ["", one],
        ["", other],
      ]),
    );
    expect(lines).toEqual(isGroup ? [[2, 3]] : [[2], [3]]);
  });

  test("unless they have no key", () => {
    expect(
      linesOf(
        collect([
          ["", ""],
          ["", " "],
          ["", "1"],
        ]),
      ),
    ).toEqual([[2], [3], [4]]);
  });

  test("if they are of the same family", () => {
    const rows: Row[] = Array.from({ length: 5 }, () => ["", "1"]);
    expect(linesOf(collect(rows, byFamily, ["a", "a", undefined, undefined, "a"]))).toEqual([[2, 3], [4], [5], [6]]);
  });

  test("from one that starts a group up to the next", () => {
    const rows: Row[] = [
      ["line", ""],
      ["head", ""],
      ["line", ""],
      ["head", ""],
    ];
    expect(linesOf(collect(rows, byStart))).toEqual([[2], [3, 4], [5]]);
  });
});

describe("a group", () => {
  const repeat = (count: number, kind = "", order = "1") => Array.from({ length: count }, (): Row => [kind, order]);
  const sizesOf = (groups: ReturnType<typeof collect>) =>
    groups.map(({ lines, isTooLarge }) => [lines.length, isTooLarge]);

  test("may have the maximum number of rows", () => {
    expect(sizesOf(collect(repeat(maxGroup.rows)))).toEqual([[maxGroup.rows, false]]);
  });

  test("is given up in parts from one row more", () => {
    const groups = collect([...repeat(maxGroup.rows + 1), ...repeat(2), ["", "2"]]);
    expect(sizesOf(groups)).toEqual([
      [maxGroup.rows + 1, true],
      [1, true],
      [1, true],
      [1, false],
    ]);
  });

  test("may have the maximum size, in characters of all cells", () => {
    const half = "x".repeat(maxGroup.size / 2 - 1);
    expect(sizesOf(collect(repeat(2, half)))).toEqual([[2, false]]);
    expect(sizesOf(collect([...repeat(2, half), ["y", "1"]]))).toEqual([[3, true]]);
  });

  test("is measured anew after one that is too large", () => {
    const half = "x".repeat(maxGroup.size / 2);
    const groups = collect([...repeat(2, half), ...repeat(1, half, "2"), ...repeat(1, "", "2")]);
    expect(sizesOf(groups)).toEqual([
      [2, true],
      [2, false],
    ]);
  });
});
