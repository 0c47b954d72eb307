import { expect, it } from "vitest";
import { maxCredentials, type Role, roles, utokenLimits } from "../../src/contract/index.ts";
import { revokeTokens, rotateSecret } from "../../src/engine/accounts/administration.ts";
import type { Caller } from "../../src/service/transport.ts";
import { describeBackends, describeEngine, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, aReview } from "../support/builders.ts";

const denied = { kind: "roleDenied" };

function requestToken({ transport }: Harness, { caller }: TestAccount, client_secret: string) {
  const grant = { client_id: caller.appKey, client_secret, grant_type: "client_credentials" };
  return transport.call("tokens.create", grant, {});
}

/** Creates a credential, and requests a token with its secret. */
async function signIn(harness: Harness, account: TestAccount, role: Role) {
  const { credential } = await account.service.credentials.create({ secret: account.secret, role, name: role });
  const { access_token: utoken } = await requestToken(harness, account, credential.secret);
  const caller: Caller = { appKey: account.caller.appKey, utoken };
  return { credential, caller, service: harness.service(caller) };
}

describeBackends("a credential", (harness) => {
  it("has a secret whose tokens have its role", async () => {
    const account = await harness().newAccount();
    for (const role of roles) {
      const { credential, service } = await signIn(harness(), account, role);
      expect(await service.credentials.current({})).toEqual({ role });
      expect(credential).toMatchObject({ role, name: role, app_key: account.caller.appKey, last_used_at: null });
    }
    expect(await account.service.credentials.current({})).toEqual({ role: "full" });
    const at = new Date(harness().clock()).toISOString();
    const { credentials } = await account.service.credentials.list({});
    expect(credentials).toEqual(
      roles.map((role) => ({ id: expect.any(Number) as number, role, name: role, created_at: at, last_used_at: at })),
    );
  });

  it("is stored as a hash", async () => {
    const account = await harness().newAccount();
    const { credential } = await signIn(harness(), account, "support");
    const all = harness().database.db.selectFrom("credentials").selectAll();
    const rows = await all.where("account_id", "=", await harness().newestAccountId()).execute();
    expect(rows).toMatchObject([{ secret_hash: expect.stringMatching(/^[\da-f]{64}$/) as string }]);
    expect(JSON.stringify(rows)).not.toContain(credential.secret);
  });

  it("can be created only with the account's own secret", async () => {
    const account = await harness().newAccount();
    const other = await harness().newAccount();
    const { credential } = await account.service.credentials.create({ secret: account.secret, role: "support" });
    for (const secret of ["", "wrong", other.secret, credential.secret]) {
      const created = account.service.credentials.create({ secret, role: "support" });
      await expect(created).rejects.toMatchObject({ kind: "unauthorized" });
    }
    const unknown = account.service.credentials.create({ secret: account.secret, role: "owner" as "support" });
    await expect(unknown).rejects.toMatchObject({ kind: "invalidParams" });
    expect((await account.service.credentials.list({})).credentials).toHaveLength(1);
  });

  it("is one of at most a hundred", async () => {
    const account = await harness().newAccount();
    const { db } = harness().database;
    const account_id = await harness().newestAccountId();
    const rows = Array.from({ length: maxCredentials - 1 }, (_, at) => ({
      account_id,
      role: "support",
      secret_hash: `hash ${at}`,
      created_at: 0,
    }));
    await db.insertInto("credentials").values(rows).execute();
    const create = () => account.service.credentials.create({ secret: account.secret, role: "support" });
    const { credential } = await create();
    await expect(create()).rejects.toMatchObject({ kind: "invalidParams" });
    await account.service.credentials.revoke({ credential_id: credential.id });
    await create();
  });

  it("is revoked with its tokens, and no others", async () => {
    const account = await harness().newAccount();
    const first = await signIn(harness(), account, "support");
    const second = await signIn(harness(), account, "support");
    await account.service.credentials.revoke({ credential_id: first.credential.id });
    await expect(first.service.credentials.current({})).rejects.toMatchObject({ kind: "unauthorized" });
    const requested = requestToken(harness(), account, first.credential.secret);
    await expect(requested).rejects.toMatchObject({ kind: "invalidClient" });
    expect(await second.service.credentials.current({})).toEqual({ role: "support" });
    const again = account.service.credentials.revoke({ credential_id: first.credential.id });
    await expect(again).rejects.toMatchObject({ kind: "recordNotFound", record: "Credential" });
  });

  it("issues tokens that expire, count toward the limit, and are refused if their credential is missing", async () => {
    const account = await harness().newAccount();
    const id = await harness().newestAccountId();
    const { credential, service } = await signIn(harness(), account, "support");
    for (let issued = 0; issued < utokenLimits.perAccount; issued += 1) {
      await requestToken(harness(), account, credential.secret);
    }
    await expect(service.credentials.current({})).rejects.toMatchObject({ kind: "unauthorized" });
    await expect(account.service.credentials.current({})).rejects.toMatchObject({ kind: "unauthorized" });
    const { access_token: utoken } = await requestToken(harness(), account, credential.secret);
    const late = harness().service({ appKey: account.caller.appKey, utoken });
    await late.credentials.current({});
    await harness().database.db.deleteFrom("credentials").where("account_id", "=", id).execute();
    await expect(late.credentials.current({})).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("outlives the account's secret and the revocation of tokens, but its tokens do not", async () => {
    const account = await harness().newAccount();
    const { credential, service } = await signIn(harness(), account, "importer");
    const { appKey } = account.caller;
    for (const revoke of [
      () => harness().work.write(undefined, (context) => rotateSecret(appKey, context)),
      () => harness().work.write(undefined, (context) => revokeTokens(appKey, undefined, context)),
    ]) {
      await revoke();
      await expect(service.credentials.current({})).rejects.toMatchObject({ kind: "unauthorized" });
      await requestToken(harness(), account, credential.secret);
    }
  });
});

describeBackends("a token with a role", (harness) => {
  it("is refused, not ignored, by public calls in which it counts", async () => {
    const account = await harness().newAccount();
    const { caller } = await signIn(harness(), account, "support");
    const { transport } = harness();
    await expect(transport.call("reviews.create", aReview(), caller)).rejects.toMatchObject(denied);
    await expect(transport.call("reviews.createNow", aReview(), caller)).rejects.toMatchObject(denied);
    await transport.call("reviews.createNow", aReview(), { appKey: account.caller.appKey });
    const importer = await signIn(harness(), account, "importer");
    const past = { created_at: "2026-01-01T00:00:00Z" };
    await importer.service.reviews.createNow(aReview({ past }));
  });

  it("does not get the stored result of a call that it may not make", async () => {
    const account = await harness().newAccount();
    const { caller } = await signIn(harness(), account, "support");
    const { transport } = harness();
    const coupons = { coupon_action: "map_review" as const, codes: ["AAAA"] };
    const key = { idempotencyKey: "once" };
    await transport.call("coupons.upload", coupons, account.caller, key);
    await expect(transport.call("coupons.upload", coupons, caller, key)).rejects.toMatchObject(denied);
    const importer = await signIn(harness(), account, "importer");
    expect(await transport.call("coupons.upload", coupons, importer.caller, key)).toMatchObject({ "new-codes": 1 });
  });

  it("reads emails without the tokens of their links", async () => {
    const account = await harness().newAccount();
    await account.service.reviews.create(aReview());
    await account.service.orders.create({ ...anOrder(), platform: "general" });
    const { service } = await signIn(harness(), account, "support");
    const { mails } = await account.service.emails.list({});
    expect(mails.length).toBeGreaterThan(1);
    for (const { id: mail_id, email } of mails) {
      const read = async (from: typeof service) => [
        await from.emails.get({ mail_id }),
        await from.customers.export({ email }),
      ];
      expect(JSON.stringify(await read(account.service))).toMatch(/v1\.[\da-f]{8}\./);
      expect(JSON.stringify(await read(service))).not.toMatch(/v1\.[\da-f]{8}\./);
    }
  });
});

describeEngine(
  "a call that a role does not permit",
  (harness) => {
    it("is not a failed sign-in", async () => {
      const account = await harness().newAccount();
      const { caller, service } = await signIn(harness(), account, "read-only");
      const engine = { clientAddress: "192.0.2.1" };
      for (let calls = 0; calls < 3; calls += 1) {
        const refused = harness().transport.call("webhooks.trigger", { event_name: "review_create" }, caller, {
          engine,
        });
        await expect(refused).rejects.toMatchObject(denied);
      }
      await service.credentials.current({});
    });

    it("leaves guessing of secrets limited", async () => {
      const account = await harness().newAccount();
      const guess = () =>
        harness().transport.call(
          "tokens.create",
          { client_id: account.caller.appKey, client_secret: "wrong", grant_type: "client_credentials" },
          {},
          { engine: { clientAddress: "192.0.2.2" } },
        );
      await expect(guess()).rejects.toMatchObject({ kind: "invalidClient" });
      await expect(guess()).rejects.toMatchObject({ kind: "invalidClient" });
      await expect(guess()).rejects.toMatchObject({ kind: "tooManyRequests" });
    });
  },
  { publicLimits: { "failures-per-client": { burst: 2, perHour: 1 } } },
);
