import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { FixedIdFile } from "../../../../src/import/run/fixed-id-file.ts";
import { countRuns } from "../../../support/suite-size.ts";
import { valuesIn } from "../../../support/recorded-import.ts";

function open(path?: string) {
  const folder = mkdtempSync(join(tmpdir(), "starpost-fixed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = join(folder, path ?? "fixed-ids.csv");
  return { at, file: new FixedIdFile(join(folder, "fixed-ids.db"), at, ["a.csv", "b.csv"]) };
}

test("contains each pair once, with its first line, whatever the order of rows", () => {
  const rows = fc.array(
    fc.record({ id: fc.nat({ max: 40 }), file: fc.nat({ max: 1 }), line: fc.integer({ min: 2, max: 99 }) }),
    { minLength: 1, maxLength: 80 },
  );
  fc.assert(
    fc.property(rows, (found) => {
      const { at, file } = open();
      const sorted = found.toSorted((a, b) => a.file - b.file);
      for (const row of sorted) {
        file.add({ original: `o ${row.id}`, fixed: `f-${row.id}` }, { ...row, cells: [] });
      }
      file.close(true);
      file[Symbol.dispose]();
      const written: string[][] = parse(readFileSync(at, "utf8"));
      const firsts = new Map<number, { file: number; line: number }>();
      for (const row of found) {
        const before = firsts.get(row.id);
        if (!before || row.file < before.file || (row.file === before.file && row.line < before.line)) {
          firsts.set(row.id, row);
        }
      }
      const expected = [...firsts].map(([id, place]) =>
        [`o ${id}`, `f-${id}`, place.file === 0 ? "a.csv" : "b.csv", String(place.line)].join(),
      );
      expect(written[0]).toEqual(["original", "fixed", "file", "line"]);
      expect(new Set(written.slice(1).map((pair) => pair.join()))).toEqual(new Set(expected));
      expect(written).toHaveLength(expected.length + 1);
      expect(statSync(at).mode & 0o777).toBe(0o600);
    }),
    { numRuns: countRuns(60), seed: 4 },
  );
});

test("is written in chunks", () => {
  const { at, file } = open();
  for (let id = 1; id <= 7_500; id++) {
    file.add({ original: `o ${id}`, fixed: `f-${id}` }, { file: 0, line: id + 1, cells: [] });
  }
  file.close(true);
  expect(file.describe()).toMatch(/^7500 IDs .*'o 1' \(a\.csv:2\) .*'f-1'/);
  expect(file.describe()).toContain(at);
  file[Symbol.dispose]();
  const written: string[][] = parse(readFileSync(at, "utf8"), { from: 2 });
  expect(written.map(([original]) => original)).toEqual(Array.from({ length: 7_500 }, (_, at1) => `o ${at1 + 1}`));
});

const row = (line: number, file = 0) => ({ file, line, cells: [] });

test("is described by the first pair, and by its number", () => {
  const { at, file } = open();
  const described = () => valuesIn(file.describe() ?? "", "");
  expect(file.describe()).toBeUndefined();
  file.add({ original: "o 2", fixed: "o-2" }, row(3));
  expect(described()).toBe("1 'o 2' a.csv:3 'o-2'");
  file.add({ original: "o 1", fixed: "o-1" }, row(2, 1));
  file.add({ original: "o 2", fixed: "o-2" }, row(2, 1));
  file.add({ original: "o 0", fixed: "o-0" }, row(2));
  file.add({ original: "o 2", fixed: "o-2" }, row(9));
  expect(described()).toBe("3 'o 0' a.csv:2 'o-0'");
  file.close(true);
  file[Symbol.dispose]();
  expect(readFileSync(at, "utf8")).toBe(
    "original,fixed,file,line\no 0,o-0,a.csv,2\no 2,o-2,a.csv,3\no 1,o-1,b.csv,2\n",
  );
  expect([existsSync(`${at}.new`), existsSync(at.replace("csv", "db"))]).toEqual([false, false]);
});

test("is removed if no ID was rewritten, unless the attempt ended early", () => {
  const { at, file } = open();
  writeFileSync(at, "old");
  file.close(false);
  expect(readFileSync(at, "utf8")).toBe("old");
  file.close(true);
  expect(existsSync(at)).toBe(false);
});

test("of an attempt that ended early is not written", () => {
  const { at, file } = open();
  writeFileSync(at, "old");
  file.add({ original: "o 1", fixed: "o-1" }, row(2));
  file.close(false);
  file[Symbol.dispose]();
  expect(readFileSync(at, "utf8")).toBe("old");
});

test("of a dry run is only described", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-fixed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = join(folder, "fixed-ids.db");
  writeFileSync(store, "of a killed process");
  using file = new FixedIdFile(store, undefined, ["a.csv"]);
  expect(existsSync(store)).toBe(false);
  for (const line of [2, 3]) file.add({ original: `o ${line}`, fixed: `o-${line}` }, row(line));
  file.close(true);
  expect(valuesIn(file.describe() ?? "", "")).toBe("2 'o 2' a.csv:2 'o-2'");
});
