import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Endpoint, endpointOf } from "../../../../src/contract/index.ts";
import { toDetail } from "../../../../src/engine/kernel/email-log.ts";
import { accountOf } from "../../../../src/engine/kernel/handler.ts";
import { parseLeniently } from "../../../../src/engine/kernel/parse-leniently.ts";
import { findFreeSlugs, seoPageUrl, toSlug } from "../../../../src/engine/kernel/slug.ts";
import { createWebhookSecret, isSignedWith, signMessage } from "../../../../src/engine/kernel/standard-webhooks.ts";
import { checkClock, dateOf, dayOf, iso } from "../../../../src/engine/kernel/times.ts";
import { validateInput } from "../../../../src/engine/kernel/validate.ts";
import { backends } from "../../../support/backends.ts";

describe("validateInput", () => {
  const input = z.object({
    name: z.string({ error: "must be text" }).min(2, { error: "is too short" }),
    list: z.array(z.object({ id: z.number({ error: "must be a number" }) })).optional(),
    more: z.record(z.string(), z.string()).optional(),
  });
  const endpoint = (more: object = {}) =>
    ({ ...endpointOf("products.massCreate"), batch: undefined, inputAliases: undefined, input, ...more }) as Endpoint;
  const problemOf = (given: unknown, more: object = {}) => {
    try {
      return validateInput(endpoint(more), given);
    } catch (error) {
      const { kind, message, field } = error as { kind: string; message: string; field?: string };
      return [kind, message, field];
    }
  };

  test("returns valid input", () => {
    expect(problemOf({ name: "ab", list: [{ id: 1 }] })).toEqual({ name: "ab", list: [{ id: 1 }] });
  });

  test.each([
    [{}, "name", "Missing name"],
    [{ name: "a" }, "name", "name is too short"],
    [{ name: 5 }, "name", "name must be text"],
    [{ name: "ab", list: [{ id: "x" }] }, "list.0.id", "list.0.id must be a number"],
    [{ name: "ab", list: [{}] }, "list.0.id", "Missing list.0.id"],
  ])("reports the first invalid field of %j", (given, field, message) => {
    expect(problemOf(given)).toEqual(["invalidParams", message, field]);
  });

  test.each([[null], ["text"], [5]])("reports the input itself: %j", (given) => {
    const [kind, , field] = problemOf(given) as unknown[];
    expect([kind, field]).toEqual(["invalidParams", undefined]);
  });

  test("renames aliases, unless the field is present", () => {
    const aliases = { inputAliases: { title: "name" } };
    expect(problemOf({ title: "ab" }, aliases)).toEqual({ name: "ab" });
    expect(problemOf({ title: "ab", name: "cd" }, aliases)).toEqual({ name: "cd" });
    expect(problemOf({ title: "ab", name: null }, aliases)).toEqual({ name: "ab" });
    expect(problemOf(null, aliases)).toContain("invalidParams");
    expect(problemOf("text", aliases)).toContain("invalidParams");
  });

  test("limits the elements of a call before it validates them", () => {
    const batch = (field: string) => ({ batch: { field, max: 2 } });
    const ids = [{ id: 1 }, { id: 2 }, { id: 3 }];
    expect(problemOf({ name: "ab", list: ids.slice(1) }, batch("list"))).toHaveProperty("name");
    expect(problemOf({ list: ids }, batch("list"))).toEqual([
      "invalidParams",
      expect.stringMatching(/^list .*3.*2/),
      "list",
    ]);
    expect(problemOf({ name: "ab", more: { a: "1", b: "2" } }, batch("more"))).toHaveProperty("name");
    expect(problemOf({ name: "ab", more: { a: "1", b: "2", c: "3" } }, batch("more"))).toContain("invalidParams");
    expect(problemOf({ name: "ab" }, batch("list"))).toHaveProperty("name");
    expect(problemOf({ name: "ab", list: "[1,2,3]" }, batch("list"))).toContain("list");
    expect(problemOf({ name: "ab", list: ids }, { batch: { field: "list" } })).toHaveProperty("name");
  });
});

describe("parseLeniently", () => {
  const schema = z.object({
    id: z.string(),
    url: z.string().startsWith("https", { error: "is not a URL" }).optional(),
    specs: z.object({ sku: z.string().optional(), upc: z.string().optional() }).optional(),
    tags: z.array(z.string()).optional(),
  });
  const parse = (raw: unknown) => parseLeniently(schema, raw, (field) => field !== "id");
  const fieldsOf = ({ errors }: ReturnType<typeof parse>) => errors.map(({ field }) => field);

  test("returns a valid object", () => {
    expect(parse({ id: "a", url: "https://x" })).toEqual({ value: { id: "a", url: "https://x" }, errors: [] });
  });

  test("drops invalid fields, and the invalid fields of an inner object", () => {
    const parsed = parse({ id: "a", url: "x", specs: { sku: 1, upc: "2" }, tags: ["a", 1] });
    expect(parsed.value).toEqual({ id: "a", specs: { upc: "2" } });
    expect(fieldsOf(parsed)).toEqual(["url", "specs.sku", "tags.1"]);
    expect(parsed.errors[0]).toEqual({ field: "url", error: "is not a URL" });
    expect(parse({ id: "a", specs: "x" }).value).toEqual({ id: "a" });
    expect(parse({ id: "a", specs: { sku: 1, upc: 2 } }).value).toEqual({ id: "a", specs: {} });
  });

  test("rejects an object whose required field is invalid, and what is no object", () => {
    const parsed = parse({ id: 1, url: "x" });
    expect([fieldsOf(parsed), "value" in parsed]).toEqual([["id", "url"], false]);
    expect(parse("x")).toEqual({ errors: [{ field: "", error: "must be an object" }] });
  });
});

describe("slugs", () => {
  test.each([
    ["Ann Bee", "ann-bee"],
    ["  --Zoë  Größe!", "zoe-große"],
    ["山田 太郎", "山田-太郎"],
    ["!!!", "user"],
    ["", "user"],
    ["a-", "a"],
    ["x".repeat(120), "x".repeat(100)],
    ["𝄞😀é".repeat(3), "e-e-e"],
  ])("%j becomes %j", (name, slug) => {
    expect(toSlug(name)).toBe(slug);
  });

  test("get random characters if another user of the account has them", async () => {
    const [backend] = backends;
    const harness = (await backend?.open()) ?? expect.unreachable();
    try {
      const { db, dialect } = harness.database;
      const random = (bytes: number) => Buffer.alloc(bytes, 0xab);
      const [taken] = await db.selectFrom("users").select("slug").execute();
      expect(taken).toBeUndefined();
      await harness.newAccount("Ann");
      const { slug, account_id } = await db
        .selectFrom("users")
        .select(["slug", "account_id"])
        .executeTakeFirstOrThrow();
      const find = (name: string, accountId: number) =>
        db.transaction().execute((transaction) => findFreeSlugs([name], accountId, { transaction, dialect, random }));
      expect(await find(slug, account_id)).toEqual([`${slug}-abababab`]);
      expect(await find("Free", account_id)).toEqual(["free"]);
      expect(await find(slug, account_id + 1)).toEqual([slug]);
    } finally {
      await harness.close();
    }
  });

  test("review pages have the app key and the product in their URL", () => {
    const page = { publicUrl: "https://shop.example", appKey: "a/b" };
    expect(seoPageUrl(page)).toMatch(/^https:\/\/shop\.example\/.*\/pages\/a%2Fb\/products$/);
    expect(seoPageUrl({ ...page, productId: "p 1" })).toBe(`${seoPageUrl(page)}/p%201`);
  });
});

test("webhooks are signed as Standard Webhooks specifies", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", body: '{"test": 2432232314}' };
  const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  expect(signMessage(message, secret)).toBe(signature);
  expect(isSignedWith(secret, message, signature)).toBe(true);
  expect(isSignedWith(secret, message, `v1,other ${signature}`)).toBe(true);
  expect(isSignedWith(secret, message, `${"x ".repeat(16)}${signature}`)).toBe(false);
  expect(isSignedWith(secret, message, "")).toBe(false);
  expect(isSignedWith(secret, { ...message, body: "{}" }, signature)).toBe(false);
  expect(createWebhookSecret((bytes) => Buffer.alloc(bytes, 1))).toBe(`whsec_${"AQEB".repeat(8)}`);
});

test("times are written in UTC, and an impossible clock is refused", () => {
  const ms = Date.UTC(2026, 0, 2, 23, 59, 59, 999);
  expect([iso(ms), dateOf(dayOf(ms)), dayOf(ms) - dayOf(ms - 86_400_000)]).toEqual([
    "2026-01-02T23:59:59.999Z",
    "2026-01-02",
    1,
  ]);
  expect(checkClock(() => ms)()).toBe(ms);
  expect(() => checkClock(() => Number.NaN)()).toThrow(expect.objectContaining({ kind: "unavailable" }));
});

test("details are shortened to what every database can store", () => {
  expect(toDetail("a\0b")).toBe("a b");
  expect(toDetail("x".repeat(2_000))).toHaveLength(1_000);
  expect(toDetail("\ud800")).toBe("\ufffd");
});

test("a handler of a call without an account cannot use one", () => {
  const account = { id: 1, appKey: "a" };
  expect(accountOf({ account } as never)).toBe(account);
  expect(() => accountOf({} as never)).toThrow(/account/);
});
