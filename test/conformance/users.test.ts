import { expect, it } from "vitest";
import { isPassword } from "../../src/engine/accounts/users.ts";
import { describeBackends, describeIsolated } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";

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
      user: {
        id: created.user_id,
        slug: "zoe-c",
        score: 0,
        display_name: "Zoë C.",
        bio: null,
        social_image: null,
      },
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
    expect(slugs).toEqual(["zoe-c", "zoe-c", "user"]);
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
