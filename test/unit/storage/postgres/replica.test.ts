import { afterEach, describe, expect, it } from "vitest";
import { checkReader } from "../../../../src/doctor/local/database-checks.ts";
import type { DoctorContext } from "../../../../src/doctor/check.ts";
import { openReplica, readReplicaLag } from "../../../../src/storage/postgres/replica.ts";
import { postgresServer, postgresSkipped, takeDatabase, takeEmptyDatabase } from "../../../support/postgres.ts";

describe.skipIf(postgresServer === undefined)("a replica", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function open() {
    const { url, drop } = await takeDatabase();
    const database = await openReplica(url, {});
    closing.push(drop, () => database.db.destroy());
    return { url, database };
  }

  it("must be a replica", async () => {
    const { database } = await open();
    await expect(readReplicaLag(database, database)).rejects.toMatchObject({ problem: "notOurs" });
  });

  it("is checked by doctor, which warns about a server that is not one, and about one without the schema", async () => {
    const { url } = await open();
    const empty = await takeEmptyDatabase();
    closing.push(empty.drop);
    const check = (STARPOST_DATABASE_READER: string | undefined) =>
      checkReader({ env: { STARPOST_DATABASE_READER }, clock: Date.now } as unknown as DoctorContext, url);
    expect(await check(undefined)).toEqual([]);
    for (const reader of [url, empty.url, "postgres://role:77hidden@127.0.0.1:1/shop"]) {
      const [found, ...others] = await check(reader);
      expect([found?.name, found?.status, others.length]).toEqual(["reader", "warning", 0]);
      expect(found?.message).not.toContain("hidden");
    }
    expect(await check("/srv/copy.db")).toMatchObject([{ name: "reader", status: "problem" }]);
  });
});

if (postgresServer === undefined) it.skip(postgresSkipped);
