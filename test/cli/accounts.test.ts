import { describe, expect, test } from "vitest";
import { makeFolder, makeHomeWithDatabase, run } from "./support.ts";

/** Runs command lines on one database, which is created with one account. */
async function openHome() {
  const env = { STARPOST_HOME: await makeHomeWithDatabase() };
  const call = (words: readonly string[], stdin?: string) => run(words, { env, ...(stdin !== undefined && { stdin }) });
  const json = async <T>(...words: string[]): Promise<T> => {
    const { status, stdout, stderr } = await call([...words, "--json"]);
    expect([status, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as T;
  };
  return { env, call, json };
}

interface Keys {
  readonly app_key: string;
  readonly secret: string;
}

const key = expect.stringMatching(/^[A-Za-z0-9]{40}$/);

describe("account commands", () => {
  test("create, list, show, disable, enable, and delete accounts", async () => {
    const { call, json } = await openHome();
    const created = await json<Keys>("account", "create", "--name", "Tea & Cups");
    expect(created).toEqual({ app_key: key, secret: key });
    const { app_key } = created;
    const listed = await json<{ app_key: string }[]>("account", "list");
    expect(listed).toMatchObject([
      { state: "active", name: null },
      { app_key, state: "active", name: "Tea & Cups" },
    ]);
    expect(await json("account", "show")).toMatchObject({
      settings: { name: null, bottom_lines_delay: 0 },
      account: { app_key: listed[0]?.app_key, tokens: 1, records: { products: 0, emails: 0 } },
    });
    expect(await json("account", "show", app_key)).toMatchObject({
      settings: { name: "Tea & Cups" },
      account: { app_key, email: null, email_enabled: false, daily_quota: 10_000, held: {}, test_recipients: [] },
    });
    expect(await json("account", "disable", app_key)).toEqual({ app_key, state: "disabled" });
    expect((await call(["coupons", "list", "--account", app_key])).status).toBe(1);
    expect((await call(["coupons", "list"])).status).toBe(0);
    expect(await json("account", "enable", app_key)).toEqual({ app_key, state: "active" });
    expect((await call(["coupons", "list", "--account", app_key])).status).toBe(0);
    expect((await call(["account", "delete", app_key])).status).toBe(2);
    expect(await json("account", "delete", app_key, "--yes")).toMatchObject({ app_key, records: { products: 0 } });
    expect(await json("account", "list")).toHaveLength(1);
  });

  test("rotate a secret and revoke tokens", async () => {
    const { call, json } = await openHome();
    const { app_key, secret } = await json<Keys>("account", "create");
    const own = ["--account", app_key];
    const { utoken } = await json<{ utoken: string }>("auth", "token", ...own);
    for (const verb of ["rotate-secret", "revoke-tokens"]) {
      expect((await call(["account", verb, app_key])).status, verb).toBe(2);
    }
    const rotated = await json<Keys>("account", "rotate-secret", app_key, "--yes");
    expect(rotated).toEqual({ app_key, secret: key });
    expect(rotated.secret).not.toBe(secret);
    expect(await json("auth", "credentials", ...own)).toEqual(rotated);
    const { utoken: renewed } = await json<{ utoken: string }>("auth", "token", ...own);
    expect(renewed).not.toBe(utoken);
    const revoke = async (token: string) =>
      JSON.parse(
        (await call(["account", "revoke-tokens", app_key, "--token-stdin", "--yes", "--json"], `${token}\n`)).stdout,
      );
    expect(await revoke(utoken)).toEqual({ app_key, revoked: 0 });
    expect(await revoke(renewed)).toEqual({ app_key, revoked: 1 });
    // Commands obtain a new token.
    expect((await call(["coupons", "list", ...own])).status).toBe(0);
    expect(await json("account", "revoke-tokens", app_key, "--yes")).toEqual({ app_key, revoked: 1 });
  });

  test("invite once, for the given time", async () => {
    const { call, json } = await openHome();
    const before = Date.now();
    const { invitation_code, expires_at } = await json<Record<string, string>>("account", "invite");
    expect(invitation_code).toEqual(key);
    expect(Date.parse(expires_at ?? "") - before).toBeGreaterThanOrEqual(7 * 86_400_000);
    for (const age of ["0h", "366d", "soon"]) {
      expect((await call(["account", "invite", "--expires-in", age])).status).toBe(2);
    }
  });

  test.each([
    ["disable", "nobody"],
    ["enable", "nobody"],
    ["delete", "nobody", "--yes"],
    ["rotate-secret", "nobody"],
    ["revoke-tokens", "nobody"],
    ["show", "nobody"],
  ])("%s rejects an unknown account", async (...words) => {
    const { call } = await openHome();
    const { status, stderr } = await call(["account", ...words, "--json"]);
    expect([status, JSON.parse(stderr)]).toMatchObject([1, { error: { kind: "failed" } }]);
  });

  test("confirm on live profiles, and refuse remote ones", async () => {
    const { call, json } = await openHome();
    await call(["profile", "add", "shop", "--database", `${makeFolder()}/shop.db`, "--live"]);
    const live = ["--profile", "shop"];
    const { app_key } = await json<Keys>("account", "create", ...live, "--quiet");
    for (const verb of ["disable", "rotate-secret", "revoke-tokens", "delete"]) {
      expect((await call(["account", verb, app_key, ...live])).status, verb).toBe(2);
    }
    expect((await call(["account", "disable", app_key, ...live, "--yes"])).status).toBe(0);
    const remote = { STARPOST_BASE_URL: "http://127.0.0.1:9", STARPOST_APP_KEY: "k", STARPOST_SECRET: "s" };
    const { env } = await openHome();
    for (const words of [
      ["account", "list"],
      ["account", "show", "other"],
      ["account", "email-status", app_key],
      ["account", "enable-email", app_key],
      ["account", "allow-private-webhooks", app_key],
      ["coupons", "list", "--account", "k"],
    ]) {
      expect((await run(words, { env: { ...env, ...remote } })).status, words.join(" ")).toBe(2);
    }
  });
});

describe("--account", () => {
  test("chooses the account of every command on the embedded engine", async () => {
    const { call, json } = await openHome();
    const { app_key } = await json<Keys>("account", "create");
    const own = ["--account", app_key];
    const codes = JSON.stringify({ coupon_action: "map_review", codes: ["AAAA"] });
    expect((await call(["api", "coupons.upload", "--input", "-", ...own], codes)).status).toBe(0);
    expect(await json("coupons", "list", ...own)).toHaveLength(1);
    expect(await json("coupons", "list")).toEqual([]);
    expect(await json("auth", "status", ...own)).toMatchObject({ app_key, signed_in: true });
  });

  test("rejects unknown accounts, and commands that serve all accounts", async () => {
    const { call } = await openHome();
    expect((await call(["coupons", "list", "--account", "nobody"])).status).toBe(1);
    expect((await call(["coupons", "list", "--account", ""])).status).toBe(2);
    expect((await call(["mail", "run", "--once", "--account", "nobody"])).status).toBe(2);
  });
});
