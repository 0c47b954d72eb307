import { expect, it } from "vitest";
import { isPassword } from "../../src/engine/passwords.ts";
import { describeBackends } from "../support/backends.ts";

const key = expect.stringMatching(/^[A-Za-z0-9]{40}$/);

describeBackends("users.create", (harness) => {
  const user = {
    email: "zoe@shop.example",
    display_name: "Zoë & Co.",
    password: "correct horse",
    url: "https://shop.example",
  };
  const create = (fields: object = {}) =>
    harness().transport.call("users.create", { user: { ...user, ...fields } }, {});

  it("makes an account whose key, secret and token work", async () => {
    const made = await create();
    expect(made).toEqual({ user_id: expect.any(Number), token: key, app_key: key, secret: key });
    const { service } = await harness().newAccount();
    expect(await service.users.get({ user_id: made.user_id })).toEqual({
      user: {
        id: made.user_id,
        slug: "zoe-co",
        score: 0,
        display_name: "Zoë & Co.",
        bio: null,
        social_image: null,
      },
    });
    const { app_key: appKey, token: utoken, secret } = made;
    expect(await harness().service({ appKey, utoken }).coupons.list({})).toEqual({ coupons: [] });
    const issued = await harness().transport.call(
      "tokens.create",
      { client_id: appKey, client_secret: secret, grant_type: "client_credentials" },
      {},
    );
    expect(issued.access_token).not.toBe(utoken);
  });

  it("keeps neither password nor secret in plain text", async () => {
    const { secret } = await create();
    const [row] = await harness().database.db.selectFrom("users").selectAll().execute();
    expect(row?.password_hash).toMatch(/^scrypt\$16384\$8\$1\$/);
    expect(await isPassword("correct horse", row?.password_hash ?? "")).toBe(true);
    expect(await isPassword("correct house", row?.password_hash ?? "")).toBe(false);
    const accounts = await harness().database.db.selectFrom("accounts").selectAll().execute();
    expect(JSON.stringify(accounts)).not.toContain(secret);
  });

  it("gives each user a slug of its own", async () => {
    const ids = [await create(), await create(), await create({ display_name: "!!" })].map(
      ({ user_id }) => user_id,
    );
    const slugs = await Promise.all(
      ids.map(async (user_id) => (await harness().transport.call("users.get", { user_id }, {})).user.slug),
    );
    expect(slugs).toEqual(["zoe-co", expect.stringMatching(/^zoe-co-[0-9a-f]{8}$/), "user"]);
  });

  it("refuses a user without an email, or with a bad one, and makes nothing", async () => {
    await expect(create({ email: undefined })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing user.email",
    });
    await expect(create({ email: "nobody" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "user.email is not an email address (local@domain)",
    });
    expect(await harness().database.db.selectFrom("accounts").select("id").execute()).toEqual([]);
  });
});

describeBackends("users.get", (harness) => {
  it("knows no user that is not there", async () => {
    await expect(harness().transport.call("users.get", { user_id: "77" }, {})).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find User with id = 77",
    });
  });
});
