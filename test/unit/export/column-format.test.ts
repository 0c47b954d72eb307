import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createCsvForm, type CsvOptions } from "../../../src/export/column-format.ts";
import { markFormula, unmarkFormula } from "../../../src/export/formula-mark.ts";

const dangerous = ["=1+1", "+1", "-1", "@sum(1)", "\t=1", "\r=1", "\n=1", "\uFF1D1+1", "\uFF0B1", "\uFF0D1", "\uFF20a"];
const hidden = [" =1+1", "\u00A0=1", "\u200B=1", "'=1+1", "''-1", '"=1+1"', ' "@x'];

function writeCells(cells: readonly (string | number)[], options: Partial<CsvOptions> = {}): string[] {
  const form = createCsvForm(["cell", "other"], { toText: markFormula, hasByteOrderMark: false, ...options });
  const text = form.rows(
    cells.map((cell) => [cell, "x"]),
    true,
  );
  const rows: string[][] = parse(text);
  return rows.map(([cell]) => cell ?? "");
}

test("a file contains no cell that starts a formula", () => {
  expect(writeCells([...dangerous, ...hidden])).toEqual([...dangerous, ...hidden].map((cell) => `'${cell}`));
});

test("other cells, numbers, and all cells of a raw file are unchanged", () => {
  const cells = ['a "b", c', " x ", "a;b", "", "'tis", "a=b", "1-2"];
  expect(writeCells(cells)).toEqual(cells);
  expect(writeCells([-1.5])).toEqual(["-1.5"]);
  expect(writeCells([...dangerous, ...cells], { toText: (text) => text })).toEqual([...dangerous, ...cells]);
});

const texts = fc.array(
  fc.oneof(fc.constantFrom("'", "=", "+", "-", "@", "\t", "\r", " ", '"', "\uFF1D", "a"), fc.string({ maxLength: 2 })),
  { maxLength: 6 },
);

test("an import reads every text as it was exported", () => {
  fc.assert(
    fc.property(texts, (pieces) => {
      const text = pieces.join("");
      expect(unmarkFormula(markFormula(text))).toBe(text);
      expect(writeCells([text]).map(unmarkFormula)).toEqual([text]);
      expect(markFormula(text)).not.toMatch(/^["\s]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/);
    }),
  );
});
