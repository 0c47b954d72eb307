import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { RunTally } from "../../../../src/import/run/tally.ts";
import type { Item, RowError } from "../../../../src/import/item.ts";
import { RejectFile } from "../../../../src/import/run/reject-file.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const header = ["order_id", "email", "product_id"];
let files = 0;

/** Writes the reject file of an item with two rows, the first of which has the order's own cells. */
function rejectItem(more: Pick<Item, "isIndivisible">, problem: RowError, one?: string) {
  const path = join(folder, `${files++}.csv`);
  const format = { encoding: "utf-8", delimiter: ",", isCrOnly: false };
  const rejects = new RejectFile(path, [{ header, format, fieldOf: () => undefined, group: "" }], {});
  const column = (field: string) => (header.includes(field) ? header.indexOf(field) : undefined);
  const tally = new RunTally([{ given: "a.csv", columnName: (field) => field, column }], rejects);
  const rows = [
    { file: 0, line: 2, cells: ["o-1", "foo@", "p-1"] },
    { file: 0, line: 3, cells: ["o-1", "", "p-2"] },
  ];
  const item: Item = { key: "o-1", batchKey: "", rows, size: 10, payload: undefined, ...more };
  tally.settle([item], new Map([[0, problem]]), one);
  rejects.close(true);
  expect(tally.totals.rows).toEqual({ read: 2, accepted: 0, rejected: 2, failed: 0 });
  const found = parse<Record<string, string>>(readFileSync(path), { columns: true });
  return found.map((reject) => [reject["_line"], reject["_column"], reject["_code"]]);
}

const problem: RowError = { field: "email", code: "bad_email", reason: "is invalid, says the service" };

test("each row of an order keeps its own cells; an error of the order is an error of each row", () => {
  expect(rejectItem({}, problem)).toEqual([
    ["2", "email", "bad_email"],
    ["3", "email", "bad_email"],
  ]);
});

test("in rows that form one record, the row that contains the value is invalid", () => {
  expect(rejectItem({ isIndivisible: true }, problem, "product")).toEqual([
    ["2", "email", "bad_email"],
    ["3", "", "product_incomplete"],
  ]);
});

test("the row that the service names is invalid, whatever the other rows contain", () => {
  expect(rejectItem({}, { ...problem, field: "product_id", row: 1 })).toEqual([
    ["2", "", "order_incomplete"],
    ["3", "product_id", "bad_email"],
  ]);
});
