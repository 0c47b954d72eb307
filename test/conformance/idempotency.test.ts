import { sql } from "kysely";
import { expect, it } from "vitest";
import { acceptsIdempotencyKey, idempotencyKeys, operations } from "../../src/contract/index.ts";
import type { CallEvent, CallOptions } from "../../src/service/transport.ts";
import { createKeyPurgeJob } from "../../src/worker/cleanup-jobs.ts";
import { cleanupSettings } from "../support/cleanup.ts";
import type { EngineWork } from "../../src/engine/kernel/handler.ts";
import { describeBackends, type Harness } from "../support/backends.ts";
import { readAccountId } from "../support/due-emails.ts";

const review = {
  sku: "teapot",
  product_title: "Teapot",
  display_name: "Ann",
  email: "ann@mail.example",
  review_title: "Pours",
  review_content: "Well",
  review_score: 5,
};
const codes = (...list: string[]) => ({ coupon_action: "map_review" as const, codes: list });

/** Call options with a key, and whether each call that honored it was a replay. */
function withKey(idempotencyKey: string): CallOptions & { readonly replays: boolean[] } {
  const replays: boolean[] = [];
  const onEvent = (event: CallEvent) => {
    if (event.type === "idempotency") replays.push(event.isReplay);
  };
  return { idempotencyKey, onEvent, replays };
}

async function countRows({ database }: Harness): Promise<number> {
  const { rows } = await database.db
    .selectFrom("idempotent_calls")
    .select(({ fn }) => fn.countAll<number>().as("rows"))
    .executeTakeFirstOrThrow();
  return rows;
}

it("applies to every POST that changes data and may carry a token", () => {
  const accepting = [...operations].filter(([, endpoint]) => acceptsIdempotencyKey(endpoint)).map(([name]) => name);
  expect(accepting).toEqual(
    expect.arrayContaining([
      "answers.create",
      "coupons.upload",
      "emailEvents.setUp",
      "groups.create",
      "orders.create",
      "orders.massCreate",
      "products.massCreate",
      "questions.sendConfirmation",
      "reviews.create",
      "reviews.createNow",
      "unsubscribers.massCreate",
      "webhooks.create",
    ]),
  );
  for (const name of ["users.create", "tokens.create", "reviewRequests.write", "orders.list", "products.massUpdate"]) {
    expect(accepting).not.toContain(name);
  }
});

describeBackends("idempotency keys", (harness) => {
  it("run a call once, and return its first result to repeats", async () => {
    const { service } = await harness().newAccount();
    const options = withKey("k1");
    const first = await service.reviews.createNow(review, options);
    harness().clock.advance(60_000);
    expect(await service.reviews.createNow(review, options)).toEqual(first);
    expect(options.replays).toEqual([false, true]);
    expect((await service.reviews.list({})).reviews).toHaveLength(1);
  });

  it("return the first result of a bulk call, although a repeat would have another", async () => {
    const { service } = await harness().newAccount();
    const first = await service.coupons.upload(codes("AAA", "BBB"), withKey("k1"));
    await service.coupons.delete({ coupon_action: "map_review" });
    expect(await service.coupons.upload(codes("AAA", "BBB"), withKey("k1"))).toEqual(first);
    expect(await service.coupons.list({})).toEqual({ coupons: [] });
  });

  it("run concurrent repeats once", async () => {
    const { service } = await harness().newAccount();
    const options = withKey("k1");
    const results = await Promise.all([1, 2, 3, 4].map(() => service.reviews.createNow(review, options)));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(options.replays.filter((isReplay) => isReplay)).toHaveLength(3);
    expect((await service.reviews.list({})).reviews).toHaveLength(1);
  });

  it("refuse another input", async () => {
    const { service } = await harness().newAccount();
    await service.coupons.upload(codes("AAA"), withKey("k1"));
    await expect(service.coupons.upload(codes("BBB"), withKey("k1"))).rejects.toMatchObject({
      kind: "invalidIdempotencyKey",
      temporary: false,
      outcomeUnknown: false,
    });
    expect(await service.coupons.list({})).toEqual({ coupons: [{ code: "AAA" }] });
  });

  it("belong to an account and a path", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const options = withKey("k1");
    for (const { service } of [one, other]) await service.coupons.upload(codes("AAA"), options);
    for (const review_title of ["First", "Second"]) await one.service.reviews.createNow({ ...review, review_title });
    const { reviews } = await one.service.reviews.list({});
    for (const { id } of reviews) await one.service.reviews.comment({ review_id: id, content: "Thanks" }, options);
    expect(options.replays).toEqual([false, false, false, false]);
  });

  it("expire after 24 hours", async () => {
    const { service } = await harness().newAccount();
    const options = withKey("k1");
    await service.coupons.upload(codes("AAA"), options);
    harness().clock.advance(idempotencyKeys.lifetimeMs - 1);
    await service.coupons.upload(codes("AAA"), options);
    harness().clock.advance(1);
    expect(await service.coupons.upload(codes("AAA"), options)).toMatchObject({ "new-codes": 0 });
    expect(await service.coupons.upload(codes("AAA"), options)).toMatchObject({ "new-codes": 0 });
    expect(options.replays).toEqual([false, true, false, true]);
  });

  it("are deleted once they have expired, by a later call or by a worker", async () => {
    const { service } = await harness().newAccount();
    await harness().database.db.deleteFrom("idempotent_calls").execute();
    for (let n = 0; n < 3; n++) await service.coupons.upload(codes(`OLD${n}`), withKey(`old-${n}`));
    expect(await countRows(harness())).toBe(3);
    harness().clock.advance(idempotencyKeys.lifetimeMs);
    await service.coupons.upload(codes("NEW"), withKey("new"));
    expect(await countRows(harness())).toBe(1);
    const job = createKeyPurgeJob(cleanupSettings(harness()));
    const noStop = new AbortController().signal;
    await job.runDue(noStop);
    expect(await countRows(harness())).toBe(1);
    harness().clock.advance(idempotencyKeys.lifetimeMs);
    expect(await job.nextDueAtMs()).toBeLessThan(harness().clock());
    expect(await job.runDue(noStop)).toEqual({ counts: { deleted: 1 } });
    expect(await countRows(harness())).toBe(0);
    expect(await job.nextDueAtMs()).toBe(harness().clock() + 600_000);
    harness().clock.set(0);
    expect(await job.nextDueAtMs()).toBe(0);
  });

  it("are deleted separately for each account, in small transactions", async () => {
    const accounts = [await harness().newAccount(), await harness().newAccount(), await harness().newAccount()];
    const [locked, many, current] = accounts;
    if (!locked || !many || !current) throw new Error("there are no accounts");
    const ids = await Promise.all(accounts.map((account) => readAccountId(harness(), account)));
    const { db } = harness().database;
    await db.deleteFrom("idempotent_calls").execute();
    const expiredAtMs = harness().clock() - idempotencyKeys.lifetimeMs;
    const insert = (account_id = 0, count = 1, created_at = expiredAtMs) => {
      const rows = Array.from({ length: count }, (_, at) => ({
        key_hash: String(at),
        input_hash: "",
        response: "json:1",
      }));
      return db
        .insertInto("idempotent_calls")
        .values(rows.map((row) => Object.assign(row, { account_id, created_at })))
        .execute();
    };
    await insert(ids[0]);
    await insert(ids[1], 1_000);
    await insert(ids[2], 1, expiredAtMs + 1);
    const written: (number | undefined)[] = [];
    const { read } = harness().work;
    const write: EngineWork["write"] = (accountId, doing) => {
      if (accountId !== undefined) written.push(accountId);
      return accountId === ids[0] ? Promise.reject(new Error("locked")) : harness().work.write(accountId, doing);
    };
    const noStop = new AbortController().signal;
    await expect(
      createKeyPurgeJob({ ...cleanupSettings(harness()), work: { read, write } }).runDue(noStop),
    ).rejects.toThrow("locked");
    expect(written).toEqual([ids[0], ids[1], ids[1]]);
    const left = await db.selectFrom("idempotent_calls").select("account_id").orderBy("account_id").execute();
    expect(left.map(({ account_id }) => account_id)).toEqual([ids[0], ids[2]]);
    // A call deletes only what belongs to its account.
    await current.service.coupons.upload(codes("NEW"), withKey("new"));
    expect(await countRows(harness())).toBe(3);
    await locked.service.coupons.upload(codes("NEW"), withKey("new"));
    expect(await countRows(harness())).toBe(3);
  });

  it("store nothing of a call that fails, so that a repeat runs it", async () => {
    const { service } = await harness().newAccount();
    const options = withKey("k1");
    const subscribe = (url: string) => service.webhooks.create({ url, event_name: "review_create" }, options);
    await expect(subscribe("no address")).rejects.toMatchObject({ kind: "invalidParams" });
    const comment = () => service.reviews.comment({ review_id: 1_000_000, content: "Thanks" }, options);
    await expect(comment()).rejects.toMatchObject({ kind: "recordNotFound" });
    await expect(comment()).rejects.toMatchObject({ kind: "recordNotFound" });
    await subscribe("https://hooks.example/1");
    expect(options.replays).toEqual([false]);
  });

  it("are stored together with what the call changed, or neither is", async () => {
    const { service } = await harness().newAccount();
    const { db, dialect } = harness().database;
    const [refuseKeys, acceptKeys] =
      dialect.name === "postgres"
        ? [
            "alter table idempotent_calls add constraint refused check (created_at < 0) not valid",
            "alter table idempotent_calls drop constraint refused",
          ]
        : [
            "create trigger refused before insert on idempotent_calls begin select raise(abort, 'refused'); end",
            "drop trigger refused",
          ];
    await sql.raw(refuseKeys).execute(db);
    await expect(service.coupons.upload(codes("AAA"), withKey("k1"))).rejects.toThrow();
    await sql.raw(acceptKeys).execute(db);
    expect(await service.coupons.list({})).toEqual({ coupons: [] });
    const options = withKey("k1");
    expect(await service.coupons.upload(codes("AAA"), options)).toMatchObject({ "new-codes": 1 });
    expect(options.replays).toEqual([false]);
  });

  it("may have 255 characters", async () => {
    const { service } = await harness().newAccount();
    const longest = withKey("k".repeat(idempotencyKeys.maxLength));
    await service.coupons.upload(codes("AAA"), longest);
    expect(longest.replays).toEqual([false]);
    await expect(
      service.coupons.upload(codes("BBB"), withKey("k".repeat(idempotencyKeys.maxLength + 1))),
    ).rejects.toMatchObject({ kind: "invalidIdempotencyKey" });
  });

  it("are ignored without a token of the account, and when empty", async () => {
    const { caller, service } = await harness().newAccount();
    const before = await countRows(harness());
    const open = harness().service({ appKey: caller.appKey });
    const forged = harness().service({ appKey: caller.appKey, utoken: "forged" });
    const options = withKey("k1");
    for (const each of [open, forged]) await each.reviews.createNow(review, options);
    await service.coupons.upload(codes("AAA"), withKey(""));
    expect(options.replays).toEqual([]);
    expect((await service.reviews.list({})).reviews).toHaveLength(2);
    expect(await countRows(harness())).toBe(before);
  });

  it("keep secrets of results encrypted", async () => {
    const { service } = await harness().newAccount();
    const input = { url: "https://hooks.example/1", event_name: "review_create" as const };
    const first = await service.webhooks.create(input, withKey("k1"));
    expect(await service.webhooks.create(input, withKey("k1"))).toEqual(first);
    const rows = await harness().database.db.selectFrom("idempotent_calls").select("response").execute();
    expect(rows).not.toEqual([]);
    expect(JSON.stringify(rows)).not.toContain(first.webhook.secret);
  });
});
