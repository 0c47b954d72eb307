import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AccountStatus } from "../../src/cli/commands/auth/account-status.ts";
import { makeFolder, run } from "./support.ts";
import { randomBytes } from "node:crypto";
import { complete } from "../../src/cli/program/completion/complete.ts";

const status = (env: Record<string, string>) => readStatus(["auth", "status"], env);

/** Creates the database. */
const setUp = (env: Record<string, string>) => readStatus(["init", "--local"], env);

async function readStatus(command: readonly string[], env: Record<string, string>) {
  const ran = await run([...command, "--json"], { env });
  return { ...ran, found: ran.stdout === "" ? undefined : (JSON.parse(ran.stdout) as AccountStatus) };
}

describe("a new installation", () => {
  test("gets a local account, and reuses it", async () => {
    const env = { STARPOST_HOME: join(makeFolder(), "home") };
    const { found } = await setUp(env);
    expect(found).toMatchObject({ profile: "local", mode: "local", base_url: null, signed_in: true });
    const shown = await run(["auth", "credentials", "--json"], { env });
    expect(JSON.parse(shown.stdout)).toEqual({ app_key: found?.app_key, secret: expect.any(String) });
    const [first, second] = [await run(["auth", "token"], { env }), await run(["auth", "token"], { env })];
    expect(first.stdout).toMatch(/^\S{20,}\n$/);
    expect(second.stdout).toBe(first.stdout);
  });

  test("is not changed by help, lists, and errors", async () => {
    const home = join(makeFolder(), "home");
    const env = { STARPOST_HOME: home };
    await run(["--help"], { env });
    await run(["imports", "list"], { env });
    await run(["auth", "status", "--profile", "nope"], { env });
    expect(existsSync(home)).toBe(false);
  });
});

describe("the profile", () => {
  const remote = { STARPOST_BASE_URL: "http://127.0.0.1:9/", STARPOST_APP_KEY: "key", STARPOST_SECRET: "secret" };

  test("incomplete environment variables are rejected by name", async () => {
    const { status: ended, stderr } = await status({ STARPOST_APP_KEY: "key", STARPOST_SECRET: "" });
    expect(ended).toBe(2);
    expect(stderr).toContain("STARPOST_BASE_URL and STARPOST_SECRET not set");
  });

  test("STARPOST_PROFILE must name an existing profile", async () => {
    const { status: ended, stderr } = await status({ STARPOST_HOME: makeFolder(), STARPOST_PROFILE: "shop" });
    expect(ended).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "usage", hint: expect.stringContaining("local") } });
  });

  test("an invalid base URL is rejected", async () => {
    const { status: ended } = await status({ ...remote, STARPOST_BASE_URL: "ftp://x" });
    expect(ended).toBe(2);
  });

  test("STARPOST_DATABASE sets the database", async () => {
    const [home, other] = [makeFolder(), join(makeFolder(), "shop.db")];
    await setUp({ STARPOST_HOME: home, STARPOST_DATABASE: other });
    expect(existsSync(other)).toBe(true);
    expect(existsSync(join(home, "starpost.db"))).toBe(false);
  });

  test.each([
    ["of an unknown kind", "mysql://u:77hidden@h/db"],
    ["without a database name", "postgres://u:77hidden@h"],
    ["with / in its password", "postgres://u:77/hidden@h/db"],
    ["with # in its password", "postgres://u:77#hidden@h/db"],
    ["with ? in its password", "postgresql://u:77?hidden@h/db"],
  ])("a database address %s is rejected without printing the password", async (_form, url) => {
    const ran = await status({ STARPOST_HOME: makeFolder(), STARPOST_DATABASE: url });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("STARPOST_DATABASE");
    expect(ran.stderr).not.toMatch(/77|hidden/);
  });

  test("an invalid number of connections is rejected", async () => {
    const ran = await status({ STARPOST_HOME: makeFolder(), STARPOST_DATABASE_POOL: "1" });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("STARPOST_DATABASE_POOL");
  });

  test("an unreachable PostgreSQL server is reported without the password", async () => {
    const ran = await status({
      STARPOST_HOME: makeFolder(),
      STARPOST_DATABASE: "postgres://u:77hidden@127.0.0.1:1/db",
    });
    expect(ran.status).toBe(5);
    expect(JSON.parse(ran.stderr)).toMatchObject({
      error: { kind: "unavailable", message: expect.stringContaining("postgres://u@127.0.0.1:1/db") },
    });
    expect(ran.stderr).not.toMatch(/77|hidden/);
  });

  test("a password that is not percent-encoded is rejected", async () => {
    const env = { STARPOST_HOME: makeFolder(), STARPOST_DATABASE: "postgres://role:50%zz@host/db" };
    for (const argv of [
      ["auth", "status"],
      ["profile", "add", "shop"],
    ]) {
      const { status: exit, stderr } = await run(argv, { env });
      expect(exit).toBe(2);
      expect(stderr).toContain("STARPOST_DATABASE");
      expect(stderr).not.toContain("50%");
    }
  });

  test("a file that is not a database is reported", async () => {
    const path = join(makeFolder(), "notes.txt");
    writeFileSync(path, "not a database, but plain text of sufficient length\n".repeat(20));
    const ran = await status({ STARPOST_HOME: makeFolder(), STARPOST_DATABASE: path });
    expect(ran.status).toBe(1);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "storageFailed" } });
    expect(ran.stderr).toContain(path);
  });
});

describe("the sealing key", () => {
  const key = "ab".repeat(32);

  test("can be set in the environment, in hexadecimal or base64", async () => {
    const home = makeFolder();
    const env = { STARPOST_HOME: home };
    const hex = await setUp({ ...env, STARPOST_KEY: key });
    const base64 = await status({ ...env, STARPOST_KEY: Buffer.from(key, "hex").toString("base64") });
    expect(base64.found?.app_key).toBe(hex.found?.app_key);
    expect(existsSync(join(home, "starpost.key"))).toBe(false);
  });

  test("is not created again if it is missing beside a database", async () => {
    const home = makeFolder();
    await setUp({ STARPOST_HOME: home, STARPOST_KEY: key });
    const ran = await status({ STARPOST_HOME: home });
    expect(ran.status).toBe(1);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "failed" } });
    expect(ran.stderr).toContain(join(home, "starpost.key"));
    expect(existsSync(join(home, "starpost.key"))).toBe(false);
  });

  test("must be the one the database was created with", async () => {
    const home = makeFolder();
    await setUp({ STARPOST_HOME: home });
    const ran = await status({ STARPOST_HOME: home, STARPOST_KEY: key });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("another key");
  });

  test.each(["short", "zz".repeat(32)])("%j is not a valid key", async (given) => {
    const ran = await status({ STARPOST_HOME: makeFolder(), STARPOST_KEY: given });
    expect(ran.status).toBe(2);
    expect(ran.stderr).not.toContain(given);
  });

  test("is rejected if its file is readable by others or damaged", async () => {
    const home = makeFolder();
    const file = join(home, "starpost.key");
    await setUp({ STARPOST_HOME: home });
    chmodSync(file, 0o644);
    const open = await status({ STARPOST_HOME: home });
    expect(open.status).toBe(1);
    expect(open.stderr).toContain("chmod 600");
    chmodSync(file, 0o600);
    writeFileSync(file, readFileSync(file, "utf8").slice(0, 20));
    const damaged = await status({ STARPOST_HOME: home });
    expect([damaged.status, JSON.parse(damaged.stderr)]).toMatchObject([1, { error: { kind: "failed" } }]);
    expect(damaged.stderr).toContain(file);
  });

  test("a home that is not a folder is reported, and not as a bug", async () => {
    const path = join(makeFolder(), "file");
    writeFileSync(path, "");
    const ran = await status({ STARPOST_HOME: join(path, "home") });
    expect(ran.status).toBe(1);
    expect(JSON.parse(ran.stderr)).not.toMatchObject({ error: { kind: "bug" } });
  });
});

const sourceOf = (env: Readonly<Record<string, string>>) => ({
  env: { STARPOST_KEYRING: "off", ...env },
  cwd: "/",
  clock: Date.now,
  random: randomBytes,
  loadApp: () => import("../../src/app/app.ts"),
});
const completions = async (env: Readonly<Record<string, string>>, ...words: string[]) =>
  (await complete(sourceOf(env), words)).candidates.map(({ value }) => value);

test("completes product IDs and groups from the database", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const products = JSON.stringify({
    teapot: { name: "T", url: "https://shop.example" },
    mug: { name: "M", url: "https://shop.example" },
  });
  await run(["api", "products.massCreate", "--products", products], { env });
  await run(["groups", "create", "teas"], { env });
  expect(await completions(env, "groups", "get", "t")).toEqual(["teas"]);
  expect(await completions(env, "groups", "update", "teas", "--product-ids-to-add", "te")).toEqual(["teapot"]);
  expect(await completions(env, "groups", "delete", "x")).toEqual([]);
});

test("completes values after an equals sign, of the profile and account that are typed", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const other = join(makeFolder(), "other.db");
  await run(["profile", "add", "other", "--database", other], { env });
  const products = (id: string) => ["--products", JSON.stringify({ [id]: { name: "T", url: "https://shop.example" } })];
  await run(["api", "products.massCreate", ...products("teapot")], { env });
  await run(["api", "products.massCreate", "--profile", "other", ...products("terrine")], { env });
  const created = await run(["account", "create", "--name", "B", "--json"], { env });
  const { app_key: account } = JSON.parse(created.stdout) as { app_key: string };
  await run(["api", "products.massCreate", "--account", account, ...products("tea-2")], { env });
  const list = ["reviews", "list"];
  expect(await completions(env, ...list, "--product=te")).toEqual(["--product=teapot"]);
  expect(await completions(env, ...list, "--columns=id,crea")).toEqual(["--columns=id,created_at"]);
  expect(await completions(env, ...list, "--profile", "other", "--product", "te")).toEqual(["terrine"]);
  expect(await completions(env, ...list, "-p", "other", "--product", "te")).toEqual(["terrine"]);
  expect(await completions(env, "--profile=other", ...list, "--product=te")).toEqual(["--product=terrine"]);
  expect(await completions(env, ...list, "--account", account, "--product", "te")).toEqual(["tea-2"]);
});

test("completes products after the first page", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const ids = Array.from({ length: 250 }, (_, at) => `p${at}`);
  const products = Object.fromEntries(ids.map((id) => [id, { name: id, url: "https://shop.example" }]));
  await run(["api", "products.massCreate", "--products", JSON.stringify(products)], { env });
  expect(await completions(env, "reviews", "list", "--product", "p249")).toEqual(["p249"]);
});

test("is silent if there is no database or no service, and creates nothing", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  expect(await completions(env, "groups", "get", "")).toEqual([]);
  expect(existsSync(join(env.STARPOST_HOME, "starpost.db"))).toBe(false);
  const remote = { STARPOST_BASE_URL: "http://127.0.0.1:1", STARPOST_APP_KEY: "k", STARPOST_SECRET: "s" };
  expect(await completions({ ...env, ...remote }, "groups", "get", "")).toEqual([]);
});

test("completes columns and API paths", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  expect(await completions(env, "products", "list", "--columns", "external_id,pri")).toEqual(["external_id,price"]);
  expect(await completions(env, "api", "GET", "/apps/{app_key}/purch")).toContain("/apps/{app_key}/purchases");
  expect(await completions(env, "api", "PATCH", "/apps/")).toEqual([]);
});
