import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { countOutdated, resealAll, sealedColumns } from "../../src/engine/accounts/resealing.ts";
import type { EngineWork, HandlerContext } from "../../src/engine/kernel/handler.ts";
import { createMessageKey, parseMessageKey } from "../../src/engine/emails/message-key.ts";
import { createSealer, type Sealer } from "../../src/engine/kernel/sealer.ts";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { callEveryOperation } from "../support/every-call.ts";

/** The work of the harness with another sealer. */
function workWith({ work }: Harness, sealer: Sealer): EngineWork {
  const withSealer =
    <T>(task: (context: HandlerContext) => Promise<T>) =>
    (context: HandlerContext) =>
      task({ ...context, sealer });
  return {
    read: (task) => work.read(withSealer(task)),
    write: (accountId, task) => work.write(accountId, withSealer(task)),
  };
}

describeIsolated("sealed texts", (harness) => {
  /** A sealer with a new key that also has the key of the harness. */
  const rotated = () => createSealer(Buffer.concat([randomBytes(32), harness().sealingKey]));

  /** Creates an account with a sealed text in every place. */
  const addSealed = async () => {
    const account = await harness().newAccount();
    await account.service.emailEvents.setUp({});
    const input = { event_name: "review_create", url: "https://shop.example/hook" } as const;
    await harness().transport.call("webhooks.create", input, account.caller, { idempotencyKey: "1" });
    return account;
  };

  it("are sealed again with the new key, also after an interruption", async () => {
    const account = await addSealed();
    const sealer = rotated();
    const work = workWith(harness(), sealer);
    const before = await work.read(countOutdated);
    expect(before).toBe(4);
    let writes = 0;
    const interrupted: EngineWork = {
      ...work,
      write: (accountId, task) => {
        writes += 1;
        return writes > 1 ? Promise.reject(new Error("killed")) : work.write(accountId, task);
      },
    };
    await expect(resealAll(interrupted)).rejects.toThrow();
    const left = await work.read(countOutdated);
    expect([left > 0, left < before]).toEqual([true, true]);
    expect(await resealAll(work)).toEqual({ resealed: left, unreadable: 0 });
    expect(await work.read(countOutdated)).toBe(0);
    expect(await resealAll(work)).toEqual({ resealed: 0, unreadable: 0 });
    const row = await harness().database.db.selectFrom("accounts").select("secret_sealed").executeTakeFirstOrThrow();
    expect(sealer.open(row.secret_sealed)).toBe(account.secret);
    expect(() => harness().sealer.open(row.secret_sealed)).toThrow();
  });

  it("are sealed again in transactions of their accounts", async () => {
    await addSealed();
    const first = await harness().newestAccountId();
    await addSealed();
    const work = workWith(harness(), rotated());
    const written: (number | undefined)[] = [];
    const counted: EngineWork = {
      ...work,
      write: (accountId, task) => {
        written.push(accountId);
        return work.write(accountId, task);
      },
    };
    expect(await resealAll(counted)).toEqual({ resealed: 8, unreadable: 0 });
    const second = await harness().newestAccountId();
    expect(written).toEqual(sealedColumns.flatMap(() => [first, second]));
    expect(await work.read(countOutdated)).toBe(0);
  });

  it("remain unchanged if no key opens them", async () => {
    await harness().newAccount();
    const work = workWith(harness(), createSealer(randomBytes(32)));
    const before = await harness().database.db.selectFrom("accounts").selectAll().execute();
    expect(await resealAll(work)).toMatchObject({ resealed: 0, unreadable: 1 });
    expect(await harness().database.db.selectFrom("accounts").selectAll().execute()).toEqual(before);
  });

  it("are in no other columns, except as links in stored emails", async () => {
    await callEveryOperation(harness(), await harness().newAccount());
    await addSealed();
    const { db, dialect } = harness().database;
    // Without partitions.
    const names = new Set(await dialect.readTableNames(db as never));
    const tables = (await db.introspection.getTables()).filter(({ name }) => names.has(name));
    const found: string[] = [];
    for (const { name: table, columns } of tables) {
      for (const { name } of columns.filter(({ dataType }) => dataType.toLowerCase() === "text")) {
        const { rows } = await sql<{ text: string }>`
          select ${sql.ref(name)} as text from ${sql.table(table)}
          where ${sql.ref(name)} like ${`%${harness().sealer.prefix()}%`} limit 1`.execute(db);
        if (rows.length > 0) found.push(`${table}.${name}`);
      }
    }
    const sealed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
    expect(found.toSorted()).toEqual([...sealed, "mails.data"].toSorted());
  });
});

it("keeps links and message IDs of an old key valid while the key exists", () => {
  const [old, next] = [randomBytes(32), randomBytes(32)];
  const before = createSealer(old);
  const after = createSealer(Buffer.concat([next, old]));
  expect(after.open(before.seal("a"))).toBe("a");
  expect(parseMessageKey(createMessageKey(7, before), after)).toBe(7);
  expect(parseMessageKey(createMessageKey(7, after), after)).toBe(7);
  expect(parseMessageKey(createMessageKey(7, before), createSealer(next))).toBeUndefined();
  expect(createMessageKey(7, after)).toBe(createMessageKey(7, createSealer(next)));
});
