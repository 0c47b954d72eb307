import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { createCsvForm } from "../../../src/export/column-format.ts";

const dangerous = ["=1+1", "+1", "-1", "@sum(1)", "\t=1", "\r=1", "\n=1", "\uFF1D1+1", "\uFF0B1", "\uFF0D1", "\uFF20a"];

test("a spreadsheet file contains no cell that starts a formula", () => {
  const form = createCsvForm(["cell", "other"], { isSafeForExcel: true });
  const text = form.rows(
    dangerous.map((cell) => [cell, "x"]),
    true,
  );
  const rows: string[][] = parse(text);
  expect(rows.map(([cell]) => cell)).toEqual(dangerous.map((cell) => `'${cell}`));
});

test("an import file contains cells unchanged", () => {
  const form = createCsvForm(["cell", "other"], { isSafeForExcel: false });
  const cells = [...dangerous, 'a "b", c', " x ", "a;b", ""];
  const rows: string[][] = parse(
    form.rows(
      cells.map((cell) => [cell, "x"]),
      true,
    ),
  );
  expect(rows.map(([cell]) => cell)).toEqual(cells);
});
