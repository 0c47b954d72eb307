import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/contract/index.ts";
import { toServiceError } from "../../../src/engine/kernel/storage-errors.ts";
import { AddressError, parseDatabaseAddress } from "../../../src/storage/address.ts";
import { toStorageError } from "../../../src/storage/dialects.ts";
import { CommitLostError } from "../../../src/storage/postgres/errors.ts";
import { DatabaseDeletedError } from "../../../src/storage/sqlite/driver.ts";
import { SchemaError, StorageError, type StorageProblem } from "../../../src/storage/storage-error.ts";

const failWith = (more: object, message = "no") => Object.assign(new Error(message), more);
const problemOf = (error: unknown) => toStorageError(error, "the.db")?.problem;

/** Errors by problem: result codes of SQLite, codes of the file system and of PostgreSQL, and network errors. */
const known: Readonly<Partial<Record<StorageProblem, { sqlite?: number[]; codes?: string[]; network?: string[] }>>> = {
  busy: { sqlite: [5, 6, 5 | (2 << 8)], codes: "25P03 40001 40P01 53200 55006 55P03 57014".split(" ") },
  noConnection: { codes: ["53300"] },
  unreachable: {
    codes: "55000 57P01 57P02 57P03 57P05 08000 08006 08P01".split(" "),
    network:
      "ECONNREFUSED ENOENT ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ECONNRESET ECONNABORTED EPIPE".split(
        " ",
      ),
  },
  unsure: { codes: ["ERR_DATABASE_DELETED_IN_COMMIT"] },
  full: { sqlite: [10, 13, 10 | (3 << 8)], codes: ["53100", "58030", "ENOSPC"] },
  readOnly: { sqlite: [8], codes: ["25006", "EROFS"] },
  damaged: { sqlite: [11], codes: ["ERR_TABLE_MISSING", "42P01", "XX001", "XX002"] },
  notOurs: { sqlite: [26] },
  cannotOpen: {
    sqlite: [14],
    codes:
      "28000 28P01 3D000 3F000 42501 EACCES EPERM EISDIR ENOTDIR EEXIST ENOENT CERT_HAS_EXPIRED SELF_SIGNED_CERT DEPTH_ZERO_SELF_SIGNED_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID".split(
        " ",
      ),
    network: ["EACCES"],
  },
  deleted: { codes: ["ERR_DATABASE_DELETED"] },
};

test("of a coordinator names the node that it cannot reach", () => {
  const text =
    "connection to the remote node starpost@10.0.0.7:5433 failed with the following error: Connection refused";
  const error = toStorageError(failWith({ code: "08006" }, text), "the.db");
  expect(error).toMatchObject({ problem: "unreachable", message: expect.stringContaining("10.0.0.7:5433") });
  expect(error?.message).not.toContain("starpost@");
});

describe("a driver's error", () => {
  const cases = Object.entries(known).flatMap(([problem, { sqlite = [], codes = [], network = [] }]) => {
    const calls = network.flatMap((code) =>
      ["connect", "getaddrinfo", "read", "write"].map((syscall) => failWith({ code, syscall })),
    );
    const results = sqlite.map((errcode) => failWith({ errcode }));
    const errors = [...results, ...codes.map((code) => failWith({ code })), ...calls];
    return errors.map((error) => [JSON.stringify(error), error, problem] as const);
  });

  test.each(cases)("%s", (_name, error, problem) => {
    const found = toStorageError(error, "the.db");
    expect(found).toMatchObject({ name: "StorageError", problem, cause: error });
    expect(found?.message).toMatch(/^the\.db: \w/);
  });

  test.each([
    ["timeout exceeded when trying to connect", "busy"],
    ["Connection terminated due to connection timeout", "unreachable"],
    ["timeout expired", "unreachable"],
    ["Connection terminated unexpectedly", "unreachable"],
    ["Client has encountered a connection error and is not queryable", "unreachable"],
    ["SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", "cannotOpen"],
    ["The server does not support SSL connections", "cannotOpen"],
    ["There was an error establishing an SSL connection", "cannotOpen"],
  ])("with the message %j", (message, problem) => {
    expect(problemOf(new Error(message))).toBe(problem);
    expect(problemOf(new Error(`x ${message} x`))).toBeUndefined();
  });

  test.each([
    failWith({ errcode: 1 }),
    failWith({ errcode: "5" }),
    failWith({ code: "08" }),
    failWith({ code: "0800000" }),
    failWith({ code: "x08006" }),
    failWith({ code: "ETIMEDOUT", syscall: "open" }),
    failWith({ code: "XCERT_HAS_EXPIRED" }),
    failWith({ code: 5 }),
    new Error("is not queryable, says the timeout expired"),
    { message: 5 },
    {},
  ])("that is unknown is none: %j", (error) => {
    expect(toStorageError(error, "the.db")).toBeUndefined();
    expect(toServiceError(error, "the.db")).toBe(error);
  });

  test("of the program itself has its own problem", () => {
    const own = new StorageError("full", "full");
    expect(toStorageError(own, "the.db")).toBe(own);
    expect(problemOf(new SchemaError("newer"))).toBe("notOurs");
    expect(toStorageError(new SchemaError("newer"), "the.db")?.message).toBe("the.db: newer");
    expect(problemOf(new CommitLostError("lost"))).toBe("unsure");
    expect([problemOf(new DatabaseDeletedError(false)), problemOf(new DatabaseDeletedError(true))]).toEqual([
      "deleted",
      "unsure",
    ]);
    const all = new AggregateError([], "none");
    expect(problemOf(Object.assign(all, { code: "ECONNREFUSED" }))).toBe("unreachable");
  });
});

describe("a service's error", () => {
  test.each<[StorageProblem, string, boolean]>([
    ["busy", "unavailable", true],
    ["noConnection", "unavailable", true],
    ["unreachable", "unavailable", true],
    ["deleted", "unavailable", true],
    ["unsure", "timeout", true],
    ["full", "storageFailed", false],
    ["readOnly", "storageFailed", false],
    ["damaged", "storageFailed", false],
    ["notOurs", "storageFailed", false],
    ["cannotOpen", "storageFailed", false],
  ])("of the problem %s is %s", (problem, kind, temporary) => {
    const error = toServiceError(new StorageError(problem, "why"), "the.db");
    const outcomeUnknown = problem === "unsure";
    expect(error).toMatchObject({ kind, temporary, outcomeUnknown, message: "why", hint: expect.any(String) });
    const isOverSoon = ["busy", "noConnection", "unreachable"].includes(problem);
    expect(error).toHaveProperty("retryAfterMs", isOverSoon ? 1_000 : undefined);
  });

  test("is kept, as is any other value", () => {
    const known1 = new ServiceError("internal", "no");
    const thrown = { code: "ENOSPC" };
    expect([toServiceError(known1, ""), toServiceError(thrown, "")]).toEqual([known1, thrown]);
    expect(toServiceError(thrown, "")).toBe(thrown);
  });
});

describe("an address", () => {
  test.each([
    ["a/b.db", "sqlite", "a/b.db"],
    ["sqlite:b.db", "sqlite", "b.db"],
    ["SQLITE:///tmp/a%20b.db", "sqlite", "/tmp/a b.db"],
    ["C:\\data\\b.db", "sqlite", "C:\\data\\b.db"],
    ["c:/b.db", "sqlite", "c:/b.db"],
    [":memory:", "sqlite", ":memory:"],
  ])("%s is the file of a database", (text, dialect, location) => {
    expect(parseDatabaseAddress(text)).toEqual({ dialect, location, isFile: true, shownAs: location });
  });

  test.each([
    ["postgres://ann:pw@db.example:5433/shop", "postgres://ann@db.example:5433/shop"],
    ["postgresql://db.example/shop", "postgres://db.example/shop"],
    ["Postgres://ann:p%40w@db.example/shop?sslmode=require", "postgres://ann@db.example/shop"],
  ])("%s is a server, shown without its password", (text, shownAs) => {
    expect(parseDatabaseAddress(text)).toEqual({ dialect: "postgres", location: text, isFile: false, shownAs });
  });

  test.each([
    "mysql://ann:pw@db.example/shop",
    "ab:x",
    "postgres://db.example",
    "postgres://db.example/",
    "postgres://db.example/a/b",
    "postgres://db.example/a:b",
    "postgres://db.example/shop#x",
    "postgres://ann:%pw@db.example/shop",
    "postgres://%ann:pw@db.example/shop",
    "postgres://ann:p@w@db.example/sh@op",
    "postgres://db.example/%zz",
    "postgres:",
  ])("%s is refused without its password", (text) => {
    expect(() => parseDatabaseAddress(text)).toThrow(AddressError);
    expect(() => parseDatabaseAddress(text)).not.toThrow(/pw/);
  });
});
