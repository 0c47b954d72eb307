import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { operations } from "../../../src/contract/index.ts";
import { createLocalTransport } from "../../../src/engine/local-transport.ts";
import { createSealer } from "../../../src/engine/kernel/sealer.ts";
import type { Transport } from "../../../src/service/transport.ts";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";

let folder: string;
let path: string;
let database: Database;
let transport: Transport;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  path = join(folder, "starpost.db");
  database = await openDatabase(path, { nowMs: 0, busyTimeoutMs: 20 });
  transport = createTransport(randomBytes);
});

afterEach(async () => {
  await transport.close();
  await chmod(folder, 0o700);
  await rm(folder, { recursive: true });
});

function createTransport(random: (bytes: number) => Buffer): Transport {
  const sealer = createSealer(randomBytes(32));
  return createLocalTransport({ database, clock: () => 0, random, sealer, enforceLimits: false });
}

const user = { email: "a@mail.example", display_name: "A", password: "p", url: "https://a.example" };

it("handles every operation of the contract", async () => {
  for (const operation of operations.keys()) {
    const call = transport.call(operation, {}, { appKey: "none" });
    await expect(call).rejects.toMatchObject({ name: "ServiceError" });
  }
});

it("hashes a password before taking the write lock", async () => {
  const saltBytes = 16;
  const free: boolean[] = [];
  const random = (bytes: number) => {
    if (bytes === saltBytes) free.push(isFree());
    return randomBytes(bytes);
  };
  await createTransport(random).call("users.create", { user }, {});
  expect(free).toEqual([true]);
});

/** Whether the write lock is free. */
function isFree(): boolean {
  const other = new SqliteFile(path);
  try {
    other.executeNow("begin immediate");
    other.execute("rollback");
    return true;
  } catch {
    return false;
  } finally {
    other.close();
  }
}

it("reports a locked database as a temporary error", async () => {
  const other = new SqliteFile(path);
  other.execute("begin immediate");
  try {
    await expect(transport.call("users.create", { user }, {})).rejects.toMatchObject({
      kind: "unavailable",
      temporary: true,
      message: expect.stringContaining(path) as string,
      hint: expect.any(String),
    });
    // Reads do not need the lock.
    await expect(transport.call("users.get", { user_id: 1 }, {})).rejects.toMatchObject({ kind: "recordNotFound" });
  } finally {
    other.close();
  }
  await expect(transport.call("users.create", { user }, {})).resolves.toMatchObject({ user_id: 1 });
});

it("reports a full database as a permanent error, and recovers when there is space", async () => {
  const { page_count } = await readPragma("page_count");
  await database.db.executeQuery({ ...rawQuery(`pragma max_page_count = ${page_count}`) });
  const display_name = "x".repeat(1_000);
  const fill = async () => {
    for (let call = 0; call < 200; call += 1) {
      await transport.call("users.create", { user: { ...user, display_name } }, {});
    }
  };
  await expect(fill()).rejects.toMatchObject({ kind: "storageFailed", temporary: false, hint: expect.any(String) });
  await database.db.executeQuery(rawQuery("pragma max_page_count = 1000000"));
  await expect(transport.call("users.create", { user }, {})).resolves.toMatchObject({});
});

it("rolls back a failed call, and rethrows bugs unchanged", async () => {
  const bug = new TypeError("no bytes");
  let asked = 0;
  const failing = createTransport((bytes) => {
    asked += 1;
    if (asked > 3) throw bug;
    return randomBytes(bytes);
  });
  await expect(failing.call("users.create", { user }, {})).rejects.toBe(bug);
  expect(asked).toBeGreaterThan(3);
  expect(await database.db.selectFrom("accounts").select("id").execute()).toEqual([]);
});

it("does not start a canceled call", async () => {
  const signal = AbortSignal.abort(new Error("stop"));
  await expect(transport.call("users.create", { user }, {}, { signal })).rejects.toThrow("stop");
  expect(await database.db.selectFrom("users").select("id").execute()).toEqual([]);
});

it("authenticates before validating the input", async () => {
  const call = transport.call("products.massCreate", {} as never, { appKey: "none" });
  await expect(call).rejects.toMatchObject({ kind: "recordNotFound" });
});

function rawQuery(text: string) {
  return {
    sql: text,
    parameters: [],
    query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
  } as never as Parameters<Database["db"]["executeQuery"]>[0] & object;
}

async function readPragma(name: string): Promise<Record<string, number>> {
  const { rows } = await database.db.executeQuery(rawQuery(`pragma ${name}`));
  return rows[0] as Record<string, number>;
}
