import { existsSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { complete } from "../../src/cli/program/completion/complete.ts";
import { makeFolder, run } from "./support.ts";

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
