import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Item, RowError, SourceRow } from "../../../../src/import/item.ts";
import { FixedIdFile } from "../../../../src/import/run/fixed-id-file.ts";
import { RejectFile } from "../../../../src/import/run/reject-file.ts";
import { RunTally } from "../../../../src/import/run/tally.ts";
import { valuesIn } from "../../../support/recorded-import.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const header = ["id", "Email"];
const names = { one: "order", many: "orders" };
const column = (field: string) => ({ id: 0, email: 1 })[field];
const fileOf = (given: string) => ({
  given,
  column,
  columnName: (field: string) => header[column(field) ?? -1] ?? field,
});
const rowOf = (line: number, id = "", email = "", file = 0): SourceRow => ({ file, line, cells: [id, email] });
const errorOf = (field: string, code: string, reason = "is wrong"): RowError => ({ field, code, reason });
const itemOf = (...rows: SourceRow[]): Item => ({ key: "o", batchKey: "", rows, size: 1, payload: undefined });

function openTally(count = 1, codes = {}) {
  const path = join(mkdtempSync(join(folder, "run-")), "rejects.csv");
  const format = { encoding: "utf-8", delimiter: ",", isCrOnly: false };
  const input = { header, format, fieldOf: () => undefined, group: "" };
  const rejects = new RejectFile(
    path,
    Array.from({ length: count }, () => input),
    {},
  );
  const files = ["a.csv", "b.csv"].slice(0, count).map(fileOf);
  const fixedIds = new FixedIdFile(
    `${path}.db`,
    `${path}.ids`,
    files.map(({ given }) => given),
  );
  const tally = new RunTally(files, rejects, fixedIds, codes);
  const written = () => {
    rejects.close(true);
    return readFileSync(path, "utf8").split("\n").slice(1, -1);
  };
  return { tally, written, fixedIds };
}

test("every row is counted once", () => {
  const { tally, written } = openTally();
  tally.reject(rowOf(2), [errorOf("id", "missing")]);
  tally.settle(
    [itemOf(rowOf(3), rowOf(4)), itemOf(rowOf(5)), itemOf(rowOf(6))],
    new Map([[1, errorOf("id", "refused")]]),
    "order",
    { codes: "c-m", fields: { email: 1, id: 2 } },
  );
  tally.fail([itemOf(rowOf(7), rowOf(8))], "is too late");
  tally.calls.sent = 3;
  expect(tally.totals).toEqual({
    rows: { read: 7, accepted: 3, rejected: 2, failed: 2 },
    items: { sent: 4, accepted: 2, rejected: 1, created: 1, changed: 1, unchanged: 0 },
    calls: { sent: 3, retried: 0, throttled: 0 },
  });
  expect(tally.errors).toBe(4);
  expect([...tally.notices(names)].slice(0, 1)).toEqual([
    { type: "notice", message: "1 order changed: id (2), email (1)" },
  ]);
  expect(tally.rejects.map(({ code, column: name, reason, count }) => [code, name, reason, count])).toEqual([
    ["call_refused", "", "is too late", 2],
    ["missing", "id", "is wrong", 1],
    ["refused", "id", "is wrong", 1],
  ]);
  expect(written().slice(-2)).toEqual([",,7,,call_refused,is too late", ",,8,,call_refused,is too late"]);
});

test("outcomes are unknown if that of a single accepted item is", () => {
  const { tally } = openTally();
  tally.settle([itemOf(rowOf(2)), itemOf(rowOf(3))], new Map(), "order", { codes: "cr" });
  expect(tally.totals.items).toMatchObject({ created: 1, changed: 0, unchanged: 1, unchanged_on_repeat: 1 });
  tally.settle([itemOf(rowOf(4)), itemOf(rowOf(5))], new Map(), "order", { codes: "rr" });
  const messages = [...tally.notices(names)].map((event) => (event.type === "notice" ? event.message : ""));
  expect(messages.map((message) => valuesIn(message, ""))).toEqual(["3"]);
  tally.settle([itemOf(rowOf(6))], new Map());
  expect(tally.totals.items).toEqual({
    sent: 5,
    accepted: 5,
    rejected: 0,
    created: null,
    changed: null,
    unchanged: null,
  });
});

test("reasons are counted by code, field, and sharpened text, most frequent first, each with its first row", () => {
  const { tally, written } = openTally(2, { own: { means: "its own", hint: "leave it" } });
  const long = "x".repeat(61);
  tally.reject(rowOf(2, "1", "ann"), [errorOf("email", "bad_email")]);
  tally.reject(rowOf(3, "", "a@", 1), [errorOf("email", "bad_email"), errorOf("id", "missing", "is empty")]);
  tally.reject(rowOf(4, "", "a@", 1), [errorOf("email", "bad_email")]);
  tally.reject(rowOf(5, long), [errorOf("id", "own")]);
  tally.reject(rowOf(6, "1"), [errorOf("", "no_lines", "has no line")]);
  tally.reject(rowOf(7, long.slice(1)), [errorOf("id", "refused", "no")]);
  tally.reject(rowOf(8), [errorOf("id", "refused", "never")]);
  tally.reject(rowOf(9), [errorOf("other", "missing", "is empty")]);
  const groups = tally.rejects.map(({ code, column: name, reason, count, first }) => [
    code,
    name,
    reason,
    count,
    first,
  ]);
  expect(groups).toEqual([
    ["bad_email", "Email", "is wrong", 2, 'b.csv:3:Email ("a@")'],
    ["bad_email", "Email", "has no @", 1, 'a.csv:2:Email ("ann")'],
    ["own", "id", "is wrong", 1, `a.csv:5:id ("${"x".repeat(60)}…")`],
    ["no_lines", "", "has no line", 1, "a.csv:6"],
    ["refused", "id", "no", 1, `a.csv:7:id ("${"x".repeat(60)}")`],
    ["refused", "id", "never", 1, "a.csv:8:id"],
    ["missing", "other", "is empty", 1, "a.csv:9:other"],
  ]);
  const reported = [...tally.notices(names)].flatMap((event) => (event.type === "rejects" ? event.reasons : []));
  expect(reported.map(({ file, line, value }) => [file, line, value]).slice(0, 4)).toEqual([
    ["b.csv", 3, "a@"],
    ["a.csv", 2, "ann"],
    ["a.csv", 5, `${"x".repeat(60)}…`],
    ["a.csv", 6, ""],
  ]);
  expect(reported.map(({ hint }) => hint !== undefined)).toEqual([true, true, true, true, false, false, true]);
  expect(reported[2]?.hint).toBe("leave it");
  const lines = written();
  expect(lines[0]).toMatch(/^1,ann,2,Email,bad_email,a\.csv: Email has no @; /);
  expect(lines[1]).toMatch(/^,a@,3,Email,bad_email,b\.csv: Email is wrong; id is empty; [^;]+; [^;]+$/);
  expect(lines[4]).toMatch(/^1,,6,,no_lines,a\.csv: has no line; /);
});

test("the texts of the service are told apart up to a limit", () => {
  const { tally } = openTally();
  for (let at = 0; at < 210; at++) {
    tally.reject(rowOf(at + 2), [errorOf("id", "refused", `no ${at}`)]);
    tally.reject(rowOf(at + 2), [errorOf("id", "missing", `is empty ${at}`)]);
  }
  const counts = tally.rejects.map(({ code, count }) => `${code} ${count}`);
  expect(counts.slice(0, 3)).toEqual(["missing 210", "refused 11", "refused 1"]);
  expect(counts).toHaveLength(201);
});

test("an invalid row of an item is blamed, and the others refer to it", () => {
  const { tally, written } = openTally();
  const rows = [rowOf(2, "1", ""), rowOf(3, "1", "ann@"), rowOf(4, "1", "")];
  tally.settle([{ ...itemOf(...rows), isIndivisible: true }], new Map([[0, errorOf("email", "bad_email")]]), "order");
  tally.settle([itemOf(...rows)], new Map([[0, { ...errorOf("id", "refused"), row: 2 }]]), "code");
  tally.settle([itemOf(...rows)], new Map([[0, errorOf("id", "refused")]]));
  expect(written().map((line) => line.split(",").slice(2, 5))).toEqual([
    ["2", "", "order_incomplete"],
    ["3", "Email", "bad_email"],
    ["4", "", "order_incomplete"],
    ["2", "", "code_incomplete"],
    ["3", "", "code_incomplete"],
    ["4", "id", "refused"],
    ["2", "id", "refused"],
    ["3", "id", "refused"],
    ["4", "id", "refused"],
  ]);
});

test("rows of an item that was counted before are not counted as further items", () => {
  const { tally } = openTally();
  const problem = errorOf("id", "missing");
  tally.reject(rowOf(2), [problem]);
  tally.reject(rowOf(3), [problem], true);
  tally.reject(rowOf(4), [problem], true);
  tally.reject(rowOf(5), [problem]);
  tally.settle([itemOf(rowOf(6), rowOf(7))], new Map([[0, errorOf("id", "refused")]]));
  tally.reject(rowOf(8), [errorOf("email", "missing")], true);
  tally.reject(rowOf(9), [errorOf("email", "missing")]);
  const reported = [...tally.notices(names)].flatMap((event) => (event.type === "rejects" ? event.reasons : []));
  expect(reported.map(({ count, items }) => [count, items])).toEqual([
    [4, "2 orders"],
    [2, undefined],
    [2, "1 order"],
  ]);
});

test("rows of converted files are named by what their numbers count", () => {
  const reasons: string[] = [];
  const rejects = { add: (_row: SourceRow, { reason }: { reason: string }) => reasons.push(reason) };
  const file = { ...fileOf("a.json"), unit: "element" as const };
  const tally = new RunTally([file], rejects as unknown as RejectFile);
  const rows = [rowOf(2, "1", ""), rowOf(3, "1", "ann@")];
  tally.settle([{ ...itemOf(...rows), isIndivisible: true }], new Map([[0, errorOf("email", "bad_email")]]));
  expect(reasons).toEqual([expect.stringContaining("element 3"), expect.stringContaining("Email is wrong")]);
  const [event] = [...tally.notices(names)];
  expect(event?.type === "rejects" && event.reasons.map(({ place, line }) => [place, line])).toEqual([
    ["a.json, element 2", 2],
    ["a.json, element 3", 3],
  ]);
  expect(tally.rejects.map(({ first }) => first)).toEqual(["a.json, element 2", 'a.json, element 3, Email ("ann@")']);
});

test("dropped, kept, and erased cells are reported with their counts and first positions", () => {
  const { tally, fixedIds } = openTally();
  tally.dropValue(rowOf(2, "1"), "id", "has spaces");
  tally.dropValue(rowOf(3, "2"), "id", "has spaces");
  tally.dropValue(rowOf(3, "2"), "id", "is long");
  tally.keep(rowOf(4), "email", "stays");
  tally.erase(rowOf(5), "email");
  tally.erase(rowOf(6), "email");
  tally.erase(rowOf(7), "id");
  tally.fixId(rowOf(8), { original: "a b", fixed: "a-b" });
  expect(tally.erased).toEqual({ Email: 2, id: 1 });
  const messages = [...tally.notices(names)].map((event) => (event.type === "notice" ? event.message : event.type));
  expect(messages.map((message) => valuesIn(message, ""))).toEqual([
    '2 a.csv:2:id  "1"',
    '1 a.csv:3:id  "2"',
    "1 a.csv:4:Email",
    "2 a.csv:5:Email",
    "1 a.csv:7:id",
    "1 'a b' a.csv:8 'a-b'",
  ]);
  expect(tally.totals.rows.read).toBe(0);
  fixedIds[Symbol.dispose]();
});
