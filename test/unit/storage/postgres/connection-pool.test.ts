import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { toStorageError } from "../../../../src/storage/dialects.ts";
import { inspectDatabase } from "../../../../src/storage/inspect-database.ts";
import { postgresServer, postgresSkipped, takeRestrictedDatabase } from "../../../support/postgres.ts";

describe.skipIf(postgresServer === undefined)("a server that refuses connections", () => {
  async function setUp(limit: number, poolWaitMs?: number) {
    const held = await takeRestrictedDatabase();
    onTestFinished(held.drop);
    const database = await openDatabase(held.url, { nowMs: 0, poolWaitMs });
    onTestFinished(() => database.db.destroy());
    await held.limitConnections(limit);
    const use = () => database.poolUse() ?? expect.unreachable();
    const call = () => sql`select pg_sleep(0.01)`.execute(database.db);
    return { ...held, use, call, callMany: (count: number) => Array.from({ length: count }, call) };
  }

  it.each([1, 3])("lets all calls share %s connections", async (limit) => {
    const { use, callMany } = await setUp(limit);
    const calls = callMany(64);
    await calls[0];
    await expect.poll(use).toMatchObject({ isRefused: true });
    await Promise.all(calls);
    expect(use()).toMatchObject({ total: limit, idle: limit, waiting: 0 });
  });

  it("is inspected with the limit that is the closest", async () => {
    const { url, limitConnections } = await setUp(3);
    const inspect = () => inspectDatabase(url, { clock: Date.now, busyTimeoutMs: 100 });
    expect(await inspect()).toMatchObject({ facts: { connections: { limitOf: "role", max: 3, used: 1, own: 0 } } });
    await limitConnections(0);
    expect(await inspect()).toMatchObject({ failure: { problem: "noConnection" } });
  });

  it("is asked again, so that calls use more connections as soon as it accepts them", async () => {
    const { use, callMany, limitConnections } = await setUp(2);
    await Promise.all(callMany(20));
    expect(use()).toMatchObject({ total: 2, isRefused: true });
    await limitConnections(-1);
    await expect
      .poll(async () => {
        await Promise.all(callMany(20));
        return use();
      })
      .toMatchObject({ total: 10, isRefused: false });
  });

  it("is waited for as long as configured, if there is no connection", async () => {
    const { use, call, limitConnections } = await setUp(0, 1_000);
    const startedMs = performance.now();
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(toStorageError(error, "db")).toMatchObject({ problem: "noConnection" });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990);
    expect(use()).toMatchObject({ total: 0, waiting: 0, isRefused: true });
    const waiting = call();
    await limitConnections(1);
    await waiting;
  });
});

if (postgresServer === undefined) it.skip(`refused connections on ${postgresSkipped}`);
