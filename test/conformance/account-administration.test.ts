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
import { contract, type OperationName } from "../../src/contract/index.ts";
import { createWebhookQueue } from "../../src/engine/webhooks/webhook-queue.ts";
import { createService, type Service } from "../../src/service/service.ts";
import type { Transport } from "../../src/service/transport.ts";
import { createWorker } from "../support/due-emails.ts";
import { createLinkTokens, createOrderEmails } from "../support/email-links.ts";
import { aQuestion, lastToken } from "../support/emails.ts";
import { tinyPng } from "../support/photos.ts";

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
    const page = await harness().work.read((context) => listAccounts(context));
    const { accounts: listed, last } = page ?? expect.unreachable();
    expect(await harness().work.read((context) => listAccounts(context, last))).toBeUndefined();
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
      "elected_work",
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
    expect(await harness().work.read((context) => listAccounts(context))).toBeUndefined();
  });
});

describeIsolated("tables of accounts", (harness) => {
  it("have an index that starts with the account, so that one is deleted without reading the others", async () => {
    const { db, dialect } = harness().database;
    // PostgreSQL reads small tables without their indexes.
    if (dialect.name === "postgres") return;
    const unindexed: string[] = [];
    for (const { name: table } of await listOwnedTables(dialect)) {
      const { rows } = await sql<{ detail: string }>`
        explain query plan select 1 from ${sql.table(table)} where account_id = 1`.execute(db);
      if (!rows[0]?.detail.startsWith("SEARCH")) unindexed.push(table);
    }
    expect(unindexed).toEqual([]);
  });
});

type Calls = Map<OperationName, readonly [input: never, caller: object]>;

/** Records the last successful call of each operation, except those that unsubscribe. */
function record(transport: Transport, calls: Calls): Transport {
  return {
    ...transport,
    call: async (operation, input, caller, options) => {
      const output = await transport.call(operation, input, caller, options);
      const isUnsubscription = JSON.stringify(output).includes('"kind":"unsubscribe"');
      if (!isUnsubscription) calls.set(operation, [input as never, caller]);
      return output;
    },
  };
}

async function setDisabled({ database: { db }, clock }: Harness, isDisabled: boolean): Promise<void> {
  const disabled_at = isDisabled ? clock() : null;
  await db.updateTable("accounts").set({ disabled_at }).execute();
  if (!isDisabled) await db.updateTable("account_versions").set({ emails_due_at: 0, deliveries_due_at: 0 }).execute();
}

/** Repeats calls about records that calls of other operations have deleted or erased. */
async function replaceDeleted(harness: Harness, service: Service): Promise<void> {
  const { image_upload_token } = await service.reviews.create(aReview({ email: "bo@mail.example" }));
  const { image } = await service.images.upload({ image_upload_token, image: tinyPng });
  await service.links.follow({ token: await lastToken(harness, "verify_url") });
  await service.images.get({ image_id: image.id });
  await service.questions.sendConfirmation(aQuestion({ email: "bo@mail.example" }));
  await service.links.follow({ token: await lastToken(harness, "confirm_url") });
  const { questions } = await service.questions.list({ sku: "teapot" });
  const { answer } = await service.answers.create({ question_id: questions[0]?.id ?? 0, content: "Yes" });
  await service.answers.vote({ answer_id: answer.id, vote_type: "up" });
}

const refusal = { kind: "featureDisabled" };

describeIsolated("a disabled account", (harness) => {
  it("refuses every operation, also those without its app key", async () => {
    const account = await harness().newAccount();
    const calls: Calls = new Map();
    const service = createService(record(harness().transport, calls), account.caller);
    await callEveryOperation(harness(), { ...account, service });
    await replaceDeleted(harness(), service);
    await setDisabled(harness(), true);
    expect(calls.delete("users.create")).toBe(true);
    for (const [operation, [input, caller]] of calls) {
      // Errors of the core API carry no kind.
      const kind = operation.startsWith("core.")
        ? expect.toBeOneOf(["featureDisabled", "unauthorized"])
        : "featureDisabled";
      await expect(harness().transport.call(operation, input, caller), operation).rejects.toMatchObject({ kind });
    }
    const all = Object.entries(contract).flatMap(([group, verbs]) =>
      Object.keys(verbs).map((verb) => `${group}.${verb}` as OperationName),
    );
    expect(all.filter((name) => !calls.has(name))).toEqual(["users.create"]);
  });

  it("answers again once it is enabled, and does not affect other accounts", async () => {
    const { caller } = await harness().newAccount();
    await setDisabled(harness(), true);
    const other = await harness().newAccount();
    expect(await other.service.coupons.list({})).toEqual({ coupons: [] });
    await expect(harness().service(caller).coupons.list({})).rejects.toMatchObject(refusal);
    await setDisabled(harness(), false);
    expect(await harness().service(caller).coupons.list({})).toEqual({ coupons: [] });
  });

  it("sends no emails and webhooks until it is enabled, and does not keep workers busy", async () => {
    const { service } = await harness().newAccount();
    await service.webhooks.create({ event_name: "review_create", url: "https://shop.example/hook" });
    await service.reviews.create(aReview());
    const queued = (await harness().database.db.selectFrom("mails").select("id").execute()).length;
    await setDisabled(harness(), true);
    const emails = createWorker(harness());
    const webhooks = createWebhookQueue(harness().work, { worker: "worker", leaseMs: 60_000 });
    const begin = async () => [(await emails.claim(100)).emails.length, (await webhooks.begin(100)).length];
    expect(await begin()).toEqual([0, 0]);
    expect([await emails.nextDueAt(), await webhooks.nextDueAt()]).toEqual([undefined, undefined]);
    await setDisabled(harness(), false);
    expect(await begin()).toEqual([queued, 1]);
  });

  it("sends none of the emails that a worker has already claimed", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.create(aReview());
    const worker = createWorker(harness());
    const [first] = (await worker.claim(100)).emails;
    await setDisabled(harness(), true);
    expect((await worker.step([], first?.email.id)).hasBegun).toBe(false);
    const permissions = harness().database.db.selectFrom("email_permissions").select("quota_used");
    expect(await permissions.execute()).toEqual([{ quota_used: 0 }]);
    await setDisabled(harness(), false);
    harness().clock.advance(3_600_000);
    expect((await createWorker(harness()).claim(100)).emails.map(({ email }) => email.id)).toContain(first?.email.id);
  });

  it("keeps leases of a lost worker until it is enabled", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.create(aReview());
    const { emails } = await createWorker(harness(), "lost").claim(100);
    expect(emails).not.toEqual([]);
    await setDisabled(harness(), true);
    harness().clock.advance(3_600_000);
    expect(await createWorker(harness()).claim(100)).toMatchObject({ emails: [], recovered: 0 });
    await setDisabled(harness(), false);
    expect(await createWorker(harness()).claim(100)).toMatchObject({ recovered: emails.length });
  });

  it("lets people unsubscribe", async () => {
    const account = await harness().newAccount();
    const [email] = await createOrderEmails(harness(), account);
    const token = createLinkTokens(harness(), email ?? expect.fail("no email")).unsubscribe();
    await setDisabled(harness(), true);
    const { link } = await harness().service({}).links.follow({ token });
    expect(link.state).toBe("done");
    expect(await harness().database.db.selectFrom("unsubscribers").select("email").execute()).toHaveLength(1);
  });
});
