import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import { ImportError } from "../../../../src/import/import-error.ts";
import {
  asImportError,
  asRejectedInput,
  asTallyFile,
  isDiskFull,
  removeWorkFolders,
} from "../../../../src/import/run/attempt.ts";
import type { InputFile } from "../../../../src/import/source/input-files.ts";
import type { ImportSummary } from "../../../../src/import/summary.ts";

const summary = { import_id: "x" } as ImportSummary;

describe("why a run failed", () => {
  test.each([
    [new ServiceError("unauthorized", "no"), "auth", "resume"],
    [new ServiceError("invalidClient", "no"), "auth", "resume"],
    [new ServiceError("recordNotFound", "no"), "auth", "resume"],
    [new ServiceError("unavailable", "no"), "temporary", "resume"],
    [new ServiceError("internal", "no", { hint: "wait" }), "temporary", "wait; resume"],
    [new ServiceError("invalidParams", "no", { hint: "fix" }), "failed", "fix; resume"],
    [new ImportError("usage", "no", { hint: "own" }), "usage", "own"],
    [Object.assign(new Error("write"), { code: "ENOSPC" }), "failed", "free up disk space; resume"],
  ])("%s", (error, kind, hint) => {
    const found = asImportError(error, "resume", summary);
    expect(found).toBeInstanceOf(ImportError);
    expect(found).toMatchObject({ kind, hint, summary, cause: error });
  });

  test("a bug stays as it is, and so does an error without a summary", () => {
    const [bug, own] = [new TypeError("bug"), new ImportError("failed", "own")];
    expect([asImportError(bug, "resume", summary), asImportError(own, "resume")]).toEqual([bug, own]);
    expect(asImportError(own, "resume")).toBe(own);
  });

  test.each([
    [{ code: "ENOSPC" }, true],
    [{ code: "EDQUOT" }, true],
    [{ errcode: 13 }, true],
    [{ code: "EIO", errcode: 10 }, false],
    [{}, false],
  ])("%j means that the disk is full: %s", (error, expected) => {
    expect(isDiskFull(error)).toBe(expected);
  });
});

describe("a file of a run", () => {
  const open = (columns: object = {}, format: object = {}) =>
    ({
      given: "a.csv",
      head: { header: ["ID", "Mail"], format: { encoding: "utf-8", delimiter: ",", isCrOnly: false, ...format } },
      columns: { columnOf: new Map(Object.entries({ id: 0, email: 1 })), ...columns },
    }) as unknown as InputFile;

  test("names the columns of its fields", () => {
    const { column, columnName, unit, given } = asTallyFile(open({}, { origin: "sheet" }));
    expect([given, unit, column("email"), column("name"), columnName("email"), columnName("name")]).toEqual([
      "a.csv",
      "row",
      1,
      undefined,
      "Mail",
      "name",
    ]);
  });

  test("shares a table of rejects with files that are read alike", () => {
    const layout = { layout: { name: "shop", fields: { id: {} } } };
    const native = { layout: { name: "native", fields: {} } };
    const groupOf = (columns: object, empty?: "keep" | "clear") =>
      asRejectedInput(open(columns), { empty } as never).group;
    const plain = groupOf({});
    expect([groupOf(native), groupOf({}, "keep")]).toEqual([plain, plain]);
    const others = [groupOf(layout), groupOf({ dateOrder: "day-first" }), groupOf({}, "clear")];
    expect(new Set([plain, ...others]).size).toBe(4);
    const fewer = { columnOf: new Map([["id", 0]]) };
    const swapped = { columnOf: new Map(Object.entries({ email: 1, id: 0 })) };
    expect(groupOf(fewer)).toBe(plain);
    expect(groupOf(fewer, "clear")).not.toBe(groupOf({}, "clear"));
    expect(groupOf(swapped, "clear")).toBe(groupOf({}, "clear"));
  });

  test("unites columns by field only if each field is a column", () => {
    const fieldsOf = (columns: object) =>
      [0, 1, 2].map((at) => asRejectedInput(open(columns), {} as never).fieldOf(at));
    expect(fieldsOf({})).toEqual(["id", "email", undefined]);
    expect(fieldsOf({ layout: { name: "shop", fields: { id: {} } } })).toEqual([undefined, undefined, undefined]);
  });
});

test("rows that a killed attempt spilled are removed, and nothing else", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  for (const name of ["starpost-spill-a", "starpost-spill-b", "other"])
    mkdirSync(join(folder, name, "inner"), { recursive: true });
  removeWorkFolders(folder);
  expect(readdirSync(folder)).toEqual(["other"]);
  rmSync(folder, { recursive: true });
});
