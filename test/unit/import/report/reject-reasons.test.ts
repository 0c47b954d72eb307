import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readRejectReasons } from "../../../../src/import/report/reject-reasons.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "starpost-reasons-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A rejected row: line, column, code, and reason. */
type Rejected = readonly [line: number, column: string, code: string, reason: string, email?: string];

function read(rows: readonly Rejected[], files: readonly string[] = ["a.csv"], name = "rejects.csv") {
  const lines = rows.map(([line, column, code, reason, email = ""]) => [email, line, column, code, reason].join(","));
  writeFileSync(join(folder, name), ["email,_line,_column,_code,_reason", ...lines, ""].join("\n"));
  const given = files.map((file) => ({
    given: file,
    unit: file.endsWith(".xlsx") ? ("row" as const) : ("line" as const),
  }));
  return readRejectReasons(folder, {}, { files: given, kindCodes: { lost: { means: "lost at sea" } } });
}

test("counts rows by code and column, most frequent first", () => {
  const found = read([
    [2, "", "lost", "gone"],
    [3, "email", "bad_email", "email has no @; write it as name@shop.example", "x"],
    [4, "email", "bad_email", "email has no @; write it as name@shop.example", "x"],
    [5, "email", "bad_email", "email is not valid; write it as name@shop.example", "y@"],
    [6, "mail", "bad_email", "mail is not valid; write it as name@shop.example", "z"],
  ]);
  expect(found.map(({ code, column, rows, message }) => [code, column, rows, message])).toEqual([
    ["bad_email", "email", 3, null],
    ["lost", "", 1, null],
    ["bad_email", "mail", 1, null],
  ]);
  expect(found[0]).toMatchObject({ means: "not an email address", hint: "write it as name@shop.example" });
  expect(found[0]?.examples).toEqual([
    { file: null, line: 3, unit: "line", value: "x", reason: "email has no @" },
    { file: null, line: 5, unit: "line", value: "y@", reason: "email is not valid" },
  ]);
  expect(found[1]).toMatchObject({ means: "lost at sea", hint: null, examples: [{ value: null, reason: "gone" }] });
});

test("removes the hints for all errors of a row", () => {
  const text = "order_date is in the future; email has no @; correct the date; write it as name@shop.example";
  const [reason] = read([[2, "email", "future_date", text]]);
  expect(reason?.hint).toBe("correct the date");
  expect(reason?.examples[0]?.reason).toBe("order_date is in the future; email has no @");
});

test("separates the file from the reason if there are several", () => {
  const rows: Rejected[] = [
    [2, "email", "bad_email", "b.csv: email has no @; write it as name@shop.example", "x"],
    [2, "email", "bad_email", "c.csv: unknown file", "x"],
  ];
  expect(read(rows, ["a.csv", "b.csv"])[0]?.examples).toEqual([
    { file: "b.csv", line: 2, unit: "line", value: "x", reason: "email has no @" },
    { file: null, line: 2, unit: "line", value: "x", reason: "c.csv: unknown file" },
  ]);
  expect(read(rows, ["b.csv"])[0]?.examples[0]).toMatchObject({
    file: null,
    unit: "line",
    reason: "b.csv: email has no @",
  });
});

test.each(["refused", "call_refused"])("lists each message of the service: %s", (code) => {
  const long = "m".repeat(121);
  const found = read(
    [
      [2, "", code, "b.csv: archived"],
      [3, "", code, "a.csv: locked"],
      [4, "", code, "a.csv: archived"],
      [5, "", code, long],
      [6, "", code, `${long}!`],
    ],
    ["a.csv", "b.csv"],
  );
  expect(found.map(({ message, rows }) => [message, rows])).toEqual([
    ["archived", 2],
    [`${"m".repeat(120)}…`, 2],
    ["locked", 1],
  ]);
});

test("has at most five examples, shortened without splitting a character", () => {
  const rows = Array.from({ length: 7 }, (_, at): Rejected => [
    at,
    "email",
    "bad_email",
    "no @",
    `${at}${"😀".repeat(70)}`,
  ]);
  const [found] = read(rows);
  expect(found?.rows).toBe(7);
  expect(found?.examples).toHaveLength(5);
  expect(found?.examples[0]?.value).toBe(`0${"😀".repeat(59)}…`);
  expect(read([[1, "email", "bad_email", "r".repeat(120), "v".repeat(120)]])[0]?.examples[0]).toEqual({
    file: null,
    unit: "line",
    line: 1,
    value: "v".repeat(120),
    reason: "r".repeat(120),
  });
});

test("lists ten thousand reasons, and counts further ones by code", () => {
  const rows = Array.from({ length: 10_003 }, (_, at): Rejected => [at, "", "refused", `message ${at}`]);
  const found = read([...rows, [1, "email", "bad_email", "no @", "x"], [2, "", "refused", "message 7"]]);
  expect(found).toHaveLength(10_002);
  expect(found.slice(0, 2).map(({ message, rows: count }) => [message, count])).toEqual([
    [null, 3],
    ["message 7", 2],
  ]);
  expect(found.at(-1)).toMatchObject({ code: "bad_email", column: "", rows: 1, examples: [{ value: null }] });
  expect(found.reduce((sum, { rows: count }) => sum + count, 0)).toBe(10_005);
});

test("reads all tables of rejects in order, and nothing else", () => {
  for (const name of ["rejects-10.csv", "rejects-2.csv", "rejects.csv.new", "rejects-x.csv", "my-rejects.csv"]) {
    read([[name === "rejects-2.csv" ? 2 : 10, "", "lost", name]], ["a.csv"], name);
  }
  expect(read([[1, "", "lost", "first"]]).flatMap(({ examples }) => examples.map(({ line }) => line))).toEqual([
    1, 2, 10,
  ]);
  expect(readRejectReasons(join(folder, "none"), {}, { files: [] })).toEqual([]);
});

test("counts rows of spreadsheets", () => {
  const unitsOf = (files: readonly string[], reason: string) =>
    read([[2, "", "lost", reason]], files).flatMap(({ examples }) => examples.map(({ file, unit }) => [file, unit]));
  expect(unitsOf(["a.xlsx"], "gone")).toEqual([[null, "row"]]);
  expect(unitsOf(["a.csv", "b.xlsx"], "b.xlsx: gone")).toEqual([["b.xlsx", "row"]]);
  expect(unitsOf(["b.xlsx", "a.csv"], "a.csv: gone")).toEqual([["a.csv", "line"]]);
});
