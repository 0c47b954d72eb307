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
