import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { resultCodes } from "../../../src/storage/sqlite/result-codes.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { TemporaryFolder } from "../../../src/storage/temporary-folder.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

describe("an error of a statement that returns rows", () => {
  it("has the result code, and leaves the transaction as it was", () => {
    const open = () => new SqliteFile(join(folder, "a.db"), { busyTimeoutMs: 0 });
    const [file, other] = [open(), open()];
    onTestFinished(() => [file, other].forEach((one) => one.close()));
    file.execute("create table a (b unique); insert into a values (1)");
    const insert = "insert into a values (?) returning b";
    expect(() => file.all(insert, [1])).toThrow(expect.objectContaining({ errcode: 19 }));
    file.execute("begin exclusive");
    expect(file.all(insert, [2])).toEqual([{ b: 2 }]);
    expect(() => other.all("select * from a")).toThrow(expect.objectContaining({ errcode: resultCodes.busy }));
    expect(() => file.all(insert, [2])).toThrow(expect.objectContaining({ errcode: 19 }));
    file.execute("commit");
    expect(other.all("select * from a")).toEqual([{ b: 1 }, { b: 2 }]);
  });

  it("has the result code of a damaged file", () => {
    const path = join(folder, "damaged.db");
    writeFileSync(path, "x".repeat(5_000));
    const file = new SqliteFile(path);
    expect(() => file.all("select * from sqlite_master")).toThrow(
      expect.objectContaining({ errcode: resultCodes.notADatabase }),
    );
    file.close();
  });
});

describe("a temporary folder", () => {
  it("can be removed again, as by a signal while it is being removed", () => {
    const temporary = new TemporaryFolder("demo");
    temporary[Symbol.dispose]();
    expect(existsSync(temporary.path)).toBe(false);
    expect(() => temporary[Symbol.dispose]()).not.toThrow();
  });
});

/** Another process that tries to write to a file. */
const writing = `const { DatabaseSync } = require("@photostructure/sqlite");
  new DatabaseSync(process.argv[1], { timeout: 0 }).exec("begin immediate");`;

describe("a file that a process opens twice", () => {
  it("stays locked for other processes", () => {
    const path = join(folder, "locked.db");
    const file = new SqliteFile(path);
    file.execute("begin exclusive");
    new SqliteFile(path).close();
    expect(String(spawnSync(process.execPath, ["-e", writing, path]).stderr)).toContain("database is locked");
    file.execute("rollback");
    expect(spawnSync(process.execPath, ["-e", writing, path]).status).toBe(0);
    file.close();
  });
});
