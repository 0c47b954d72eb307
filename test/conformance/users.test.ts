import { expect, it } from "vitest";
import { isPassword } from "../../src/engine/accounts/users.ts";
import { describeBackends, describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { createInvitation } from "../../src/engine/accounts/invitations.ts";
import { utokenLimits } from "../../src/contract/index.ts";

const key = expect.stringMatching(/^[A-Za-z0-9]{40}$/);

describeIsolated("users.create", (harness) => {
  const user = {
    email: "zoe@shop.example",
    display_name: "Zoë & Co.",
    password: "correct horse",
    url: "https://shop.example",
  };
  const create = (fields: object = {}) =>
    harness().transport.call("users.create", { user: { ...user, ...fields } }, {});

  it("creates an account with a working key, secret, and token", async () => {
    const created = await create();
    expect(created).toEqual({ user_id: expect.any(Number), token: key, app_key: key, secret: key });
    const { service } = await harness().newAccount();
    expect(await service.users.get({ user_id: created.user_id })).toEqual({
      user: { id: created.user_id, slug: "zoe-co", score: 0, display_name: "Zoë & Co.", bio: null, social_image: null },
    });
    const { app_key: appKey, token: utoken, secret } = created;
    expect(await harness().service({ appKey, utoken }).coupons.list({})).toEqual({ coupons: [] });
    const issued = await harness().transport.call(
      "tokens.create",
      { client_id: appKey, client_secret: secret, grant_type: "client_credentials" },
      {},
    );
    expect(issued.access_token).not.toBe(utoken);
  });

  it("stores neither the password nor the secret in plain text", async () => {
    const { secret } = await create();
    const [row] = await harness().database.db.selectFrom("users").selectAll().execute();
    expect(row?.password_hash).toMatch(/^scrypt\$16384\$8\$1\$/);
    expect(await isPassword("correct horse", row?.password_hash ?? "")).toBe(true);
    expect(await isPassword("correct house", row?.password_hash ?? "")).toBe(false);
    const accounts = await harness().database.db.selectFrom("accounts").selectAll().execute();
    expect(JSON.stringify(accounts)).not.toContain(secret);
  });

  it("assigns each user its own slug", async () => {
    const ids = [await create(), await create(), await create({ display_name: "!!" })].map(({ user_id }) => user_id);
    const slugs = await Promise.all(
      ids.map(async (user_id) => (await harness().transport.call("users.get", { user_id }, {})).user.slug),
    );
    expect(slugs).toEqual(["zoe-co", expect.stringMatching(/^zoe-co-[0-9a-f]{8}$/), "user"]);
    const stored = await harness().database.db.selectFrom("users").select("slug").orderBy("id").execute();
    expect(stored).toMatchObject([
      { slug: "zoe-co" },
      { slug: expect.stringMatching(/^zoe-co-[0-9a-f]{8}$/) as string },
      {},
    ]);
  });
});

describeIsolated("users.get", (harness) => {
  it("shows a shopper's name as in public answers", async () => {
    const { service } = await harness().newAccount();
    const { reviews } = await service.reviews.createNow(aReview({ display_name: "Ann Smith" }));
    const shown = reviews[0]?.user;
    expect(shown?.display_name).toBe("Ann S.");
    const { user } = await service.users.get({ user_id: shown?.id ?? 0 });
    expect(user).toEqual({
      id: shown?.id,
      slug: "ann-s",
      score: 0,
      display_name: "Ann S.",
      bio: null,
      social_image: null,
    });
  });

  it.each([
    ["ann.smith@mail.example", "ann S.", "ann-s"],
    ["Ann (smith@mail.example)", "Ann S.", "ann-s"],
    ["@ann", "@ann", "ann"],
    ["  Ann   van  der  smith ", "Ann S.", "ann-s"],
  ])("shows no address for the name %j", async (display_name, shown, slug) => {
    const { service } = await harness().newAccount();
    const { reviews } = await service.reviews.createNow(aReview({ display_name }));
    expect(reviews[0]?.user).toMatchObject({ display_name: shown, slug });
    const { user } = await service.users.get({ user_id: reviews[0]?.user.id ?? 0 });
    expect(user).toMatchObject({ display_name: shown, slug });
  });
});

describeBackends("users.signIn", (harness) => {
  const signIn = async (name?: string) => {
    const account = await harness().newAccount(name);
    const { secret, service } = account;
    const signed = await service.users.signIn({ secret });
    return { ...account, signed, read: () => service.users.signedIn({ code: signed.code }) };
  };

  it("rejects another account's secret", async () => {
    const { secret } = await harness().newAccount();
    const { service } = await harness().newAccount();
    for (const candidate of [secret, "", "wrong"]) {
      const kind = candidate === "" ? expect.stringMatching(/unauthorized|invalidParams/) : "unauthorized";
      await expect(service.users.signIn({ secret: candidate })).rejects.toMatchObject({ kind });
    }
  });

  it("returns recordNotFound for an account without an owner, and ignores shoppers", async () => {
    const { caller, service, read } = await signIn();
    await harness().database.db.deleteFrom("users").execute();
    const account = { app_key: caller.appKey, display_name: null, email: null };
    expect(await read()).toEqual({ account });
    await service.reviews.createNow(aReview());
    expect(await read()).toEqual({ account });
  });

  it("returns the account's first owner", async () => {
    const { userId, read } = await signIn("First");
    const { db } = harness().database;
    const owner = await db.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirstOrThrow();
    const { id: _id, ...columns } = owner;
    await db
      .insertInto("users")
      .values({ ...columns, display_name: "Second", slug: "second" })
      .execute();
    expect(await read()).toMatchObject({ account: { display_name: "First" } });
  });

  it.each(["v1.12345678.abc", "nonsense", "x".repeat(200)])("rejects the code %j", async (code) => {
    const { service } = await harness().newAccount();
    expect(await service.users.signedIn({ code })).toEqual({ account: null });
  });

  it("rejects any other sealed text as a code", async () => {
    const { service } = await harness().newAccount();
    const { secret_sealed } = await harness()
      .database.db.selectFrom("accounts")
      .select("secret_sealed")
      .executeTakeFirstOrThrow();
    const { image_upload_token } = await service.reviews.create(aReview());
    for (const code of [secret_sealed, image_upload_token]) {
      expect(await service.users.signedIn({ code })).toEqual({ account: null });
    }
  });
});

const user = { email: "zoe@shop.example", display_name: "Zoe", password: "p", url: "https://shop.example" };
const refusal = { kind: "featureDisabled" };
const lifetimeMs = 60_000;

describeIsolated(
  "users.create while sign-up is closed",
  (harness) => {
    const signUp = (invitation_code?: string) =>
      harness().transport.call(
        "users.create",
        { user: { ...user, ...(invitation_code !== undefined && { invitation_code }) } },
        {},
      );
    const invite = async () =>
      (await harness().work.write(undefined, (context) => createInvitation(lifetimeMs, context))).code;
    const countRows = async () => {
      const { db } = harness().database;
      const tables = ["accounts", "users", "invitations"] as const;
      return Promise.all(tables.map(async (table) => (await db.selectFrom(table).select("id").execute()).length));
    };

    it("needs a valid invitation", async () => {
      await invite();
      for (const code of [undefined, "", "A".repeat(40)]) await expect(signUp(code)).rejects.toMatchObject(refusal);
      expect(await countRows()).toEqual([0, 0, 1]);
    });

    it("accepts an invitation once, also from simultaneous calls", async () => {
      const [code, unused] = [await invite(), await invite()];
      const results = await Promise.allSettled([signUp(code), signUp(code), signUp(code)]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
      expect(results.filter(({ status }) => status === "rejected")).toMatchObject([
        { reason: refusal },
        { reason: refusal },
      ]);
      await expect(signUp(code)).rejects.toMatchObject(refusal);
      expect(await countRows()).toEqual([1, 1, 1]);
      await signUp(unused);
    });

    it("keeps the invitation if the call is invalid", async () => {
      const invitation_code = await invite();
      const invalid = { user: { ...user, email: "nobody", invitation_code } };
      await expect(harness().transport.call("users.create", invalid, {})).rejects.toMatchObject({
        kind: "invalidParams",
      });
      await signUp(invitation_code);
    });

    it("rejects an expired invitation, and stores only a hash of the code", async () => {
      const code = await invite();
      const stored = await harness().database.db.selectFrom("invitations").selectAll().execute();
      expect(JSON.stringify(stored)).not.toContain(code);
      harness().clock.advance(lifetimeMs);
      await expect(signUp(code)).rejects.toMatchObject(refusal);
      await invite();
      expect(await countRows()).toEqual([0, 0, 1]);
    });
  },
  { isSignUpClosed: true },
);

const grant_type = "client_credentials";

function credentialsOf({ caller, secret }: TestAccount) {
  return { client_id: caller.appKey, client_secret: secret, grant_type };
}

async function issue(harness: Harness, account: TestAccount): Promise<string> {
  const { access_token } = await harness.transport.call("tokens.create", credentialsOf(account), {});
  return access_token;
}

/** Returns whether a utoken grants access to an account. */
async function isAccepted(harness: Harness, appKey: string, utoken: string | undefined): Promise<boolean> {
  try {
    await harness.service({ appKey, utoken }).coupons.stats({});
    return true;
  } catch (error) {
    expect(error).toMatchObject({ kind: "unauthorized", message: "You are not authorized to access this page." });
    return false;
  }
}

describeIsolated("tokens.create", (harness) => {
  it("checks the grant type first, then the client, then the secret", async () => {
    const account = await harness().newAccount();
    const call = (fields: object) =>
      harness().transport.call("tokens.create", { ...credentialsOf(account), ...fields }, {});
    await expect(call({ grant_type: "password", client_id: "nobody" })).rejects.toMatchObject({
      kind: "unsupportedGrant",
    });
    await expect(call({ client_id: "nobody", client_secret: "wrong" })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find Account with app_key = nobody",
    });
    await expect(call({ client_secret: "wrong" })).rejects.toMatchObject({ kind: "invalidClient" });
    await expect(call({ client_secret: undefined })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing client_secret",
    });
  });

  it("returns a token that expires after 14 days", async () => {
    const account = await harness().newAccount();
    const token = await issue(harness(), account);
    harness().clock.advance(utokenLimits.lifetimeMs - 1);
    expect(await isAccepted(harness(), account.caller.appKey, token)).toBe(true);
    harness().clock.advance(1);
    expect(await isAccepted(harness(), account.caller.appKey, token)).toBe(false);
  });

  it("keeps 100 tokens per account, including the one from the user's creation, and deletes the oldest first", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const { appKey, utoken } = account.caller;
    const second = await issue(harness(), account);
    for (let count = 2; count < utokenLimits.perAccount; count += 1) await issue(harness(), account);
    expect(await isAccepted(harness(), appKey, utoken)).toBe(true);
    await issue(harness(), account);
    expect(await isAccepted(harness(), appKey, utoken)).toBe(false);
    expect(await isAccepted(harness(), appKey, second)).toBe(true);
    expect(await isAccepted(harness(), other.caller.appKey, other.caller.utoken)).toBe(true);
  });

  it("deletes expired tokens, and stores only hashes of the others", async () => {
    const account = await harness().newAccount();
    harness().clock.advance(utokenLimits.lifetimeMs);
    const token = await issue(harness(), account);
    const rows = await harness().database.db.selectFrom("utokens").selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.token_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});
