import { sql } from "kysely";
import { expect, it } from "vitest";
import {
  addAccount,
  describeAccount,
  disableAccount,
  enableAccount,
  listAccounts,
  revokeTokens,
  rotateSecret,
} from "../../src/engine/accounts/administration.ts";
import { deleteAccount, listOwnedTables } from "../../src/engine/accounts/deletion.ts";
import type { EngineWork } from "../../src/engine/kernel/handler.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { callEveryOperation } from "../support/every-call.ts";

const missing = { kind: "recordNotFound", record: "Account" };

/** Counts the rows of every table that belong to an account. */
async function countOwnRows(
  { database: { db, dialect } }: Harness,
  accountId: number,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name: table } of await listOwnedTables(dialect)) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where account_id = ${accountId}`.execute(db);
    counts[table] = rows[0]?.count ?? 0;
  }
  return counts;
}

function grant({ caller, secret }: TestAccount) {
  return { client_id: caller.appKey, client_secret: secret, grant_type: "client_credentials" };
}

describeIsolated("the operator", (harness) => {
  const describeOne = (appKey: string) => harness().work.read((context) => describeAccount(appKey, context));
  const rotate = (appKey: string) => harness().work.write(undefined, (context) => rotateSecret(appKey, context));
  const revoke = (appKey: string, token?: string) =>
    harness().work.write(undefined, (context) => revokeTokens(appKey, token, context));

  it("lists and describes accounts", async () => {
    const { service, caller } = await harness().newAccount("Zoe");
    const added = await harness().work.write(undefined, (context) => addAccount("Tea & Cups", context));
    await service.reviews.createNow(aReview());
    const listed = await harness().work.read((context) => listAccounts(context));
    expect(listed).toMatchObject([
      { appKey: caller.appKey, state: "active", name: "Zoe", email: "owner1@shop.example", disabledAtMs: null },
      { appKey: added.appKey, state: "active", name: "Tea & Cups", email: null, secretChangedAtMs: null },
    ]);
    expect(await describeOne(caller.appKey)).toMatchObject({
      ...listed[0],
      tokens: 1,
      records: { products: 1, orders: 0, reviews: 1, questions: 0 },
    });
    await expect(describeOne("nobody")).rejects.toMatchObject(missing);
  });

  it("creates accounts with a working secret", async () => {
    const { appKey, secret } = await harness().work.write(undefined, (context) => addAccount(undefined, context));
    const account = { caller: { appKey, utoken: "" }, secret };
    const { access_token: utoken } = await harness()
      .service({})
      .tokens.create(grant(account as TestAccount));
    expect(await harness().service({ appKey, utoken }).coupons.list({})).toEqual({ coupons: [] });
  });

  it("disables an account, holds its queued emails, and sends them after it is enabled", async () => {
    const { service, caller } = await harness().newAccount();
    await service.reviews.create(aReview());
    const readStates = async () =>
      (await harness().database.db.selectFrom("mails").select("state").execute()).map(({ state }) => state);
    const before = await readStates();
    expect(before).toContain("queued");
    for (let time = 0; time < 2; time += 1) await disableAccount(caller.appKey, harness().work);
    expect(await readStates()).not.toContain("queued");
    expect(await describeOne(caller.appKey)).toMatchObject({ state: "disabled", disabledAtMs: harness().clock() });
    await expect(service.coupons.list({})).rejects.toMatchObject({ kind: "featureDisabled" });
    for (let time = 0; time < 2; time += 1) expect(await enableAccount(caller.appKey, harness().work)).toBe(true);
    expect(await readStates()).toEqual(before);
    expect(await service.coupons.list({})).toEqual({ coupons: [] });
    await expect(disableAccount("nobody", harness().work)).rejects.toMatchObject(missing);
    await expect(enableAccount("nobody", harness().work)).rejects.toMatchObject(missing);
  });

  it("rotates a secret, and with it revokes tokens and sign-in links", async () => {
    const account = await harness().newAccount();
    const { service, caller } = account;
    const { code } = await service.users.signIn({ secret: account.secret });
    const secret = await rotate(caller.appKey);
    await expect(service.tokens.create(grant(account))).rejects.toMatchObject({ kind: "invalidClient" });
    await expect(service.coupons.list({})).rejects.toMatchObject({ kind: "unauthorized" });
    expect(await service.users.signedIn({ code })).toEqual({ account: null });
    expect(await describeOne(caller.appKey)).toMatchObject({ tokens: 0, secretChangedAtMs: harness().clock() });
    const { access_token: utoken } = await service.tokens.create(grant({ ...account, secret }));
    expect(
      await harness()
        .service({ ...caller, utoken })
        .coupons.list({}),
    ).toEqual({ coupons: [] });
    harness().clock.advance(1);
    const renewed = await service.users.signIn({ secret });
    expect(await service.users.signedIn(renewed)).toMatchObject({ account: { app_key: caller.appKey } });
    await expect(rotate("nobody")).rejects.toMatchObject(missing);
  });

  it("revokes one token or all tokens of an account", async () => {
    const account = await harness().newAccount();
    const other = await harness().newAccount();
    const { service, caller } = account;
    const { access_token } = await service.tokens.create(grant(account));
    expect(await revoke(caller.appKey, other.caller.utoken)).toBe(0);
    expect(await revoke(caller.appKey, caller.utoken)).toBe(1);
    await expect(service.coupons.list({})).rejects.toMatchObject({ kind: "unauthorized" });
    const second = harness().service({ ...caller, utoken: access_token });
    expect(await second.coupons.list({})).toEqual({ coupons: [] });
    expect(await revoke(caller.appKey)).toBe(1);
    await expect(second.coupons.list({})).rejects.toMatchObject({ kind: "unauthorized" });
    expect(await other.service.coupons.list({})).toEqual({ coupons: [] });
  });

  it("deletes everything of an account, and nothing else", async () => {
    const account = await harness().newAccount();
    const id = await harness().newestAccountId();
    await callEveryOperation(harness(), account);
    const other = await harness().newAccount();
    const otherId = await harness().newestAccountId();
    await other.service.reviews.createNow(aReview());
    const before = await countOwnRows(harness(), otherId);
    const own = await countOwnRows(harness(), id);
    const rows = Object.values(own).reduce((sum, count) => sum + count, 0);
    expect(await deleteAccount(account.caller.appKey, harness().work)).toBe(rows);
    expect(Object.values(await countOwnRows(harness(), id)).every((count) => count === 0)).toBe(true);
    expect(await countOwnRows(harness(), otherId)).toEqual(before);
    await expect(describeOne(account.caller.appKey)).rejects.toMatchObject(missing);
    await expect(account.service.coupons.list({})).rejects.toMatchObject({ kind: "recordNotFound" });
    await expect(deleteAccount(account.caller.appKey, harness().work)).rejects.toMatchObject(missing);
  });

  it("covers all tables but those that hold nothing of an account", async () => {
    const { db, dialect } = harness().database;
    // A table without account_id must hold nothing of an account, or be deleted together with one that has it.
    const names = new Set(await dialect.readTableNames(db as never));
    const owned = new Set((await listOwnedTables(dialect)).map(({ name }) => name));
    expect([...names].filter((name) => !owned.has(name)).toSorted()).toEqual([
      "accounts",
      "invitations",
      // On SQLite, a view of the records themselves.
      ...(dialect.keysHaveAccounts ? [] : ["public_ids"]),
      "starpost_migrations",
      "token_buckets",
    ]);
  });

  it("continues an interrupted deletion, which cannot be undone", async () => {
    const { service, caller } = await harness().newAccount();
    await service.reviews.createNow(aReview());
    let writes = 0;
    const interrupted: EngineWork = {
      ...harness().work,
      write: (accountId, work) => {
        writes += 1;
        return writes > 10 ? Promise.reject(new Error("killed")) : harness().work.write(accountId, work);
      },
    };
    await expect(deleteAccount(caller.appKey, interrupted)).rejects.toThrow();
    expect(await describeOne(caller.appKey)).toMatchObject({ state: "deleting" });
    expect(await enableAccount(caller.appKey, harness().work)).toBe(false);
    await expect(service.coupons.list({})).rejects.toMatchObject({ kind: "featureDisabled" });
    await deleteAccount(caller.appKey, harness().work);
    expect(await harness().work.read((context) => listAccounts(context))).toEqual([]);
  });
});

describeIsolated("tables of accounts", (harness) => {
  it("have an index that starts with the account, so that one is deleted without reading the others", async () => {
    const { db, dialect } = harness().database;
    // PostgreSQL reads small tables without their indexes.
    if (dialect.isServer) return;
    const unindexed: string[] = [];
    for (const { name: table } of await listOwnedTables(dialect)) {
      const { rows } = await sql<{ detail: string }>`
        explain query plan select 1 from ${sql.table(table)} where account_id = 1`.execute(db);
      if (!rows[0]?.detail.startsWith("SEARCH")) unindexed.push(table);
    }
    expect(unindexed).toEqual([]);
  });
});
