import { beforeEach, expect, it } from "vitest";
import { ResponseCache } from "../../../../src/engine/kernel/response-cache.ts";

let cache: ResponseCache;
let version: number;

beforeEach(() => {
  cache = new ResponseCache();
  version = 1;
});

/** Requests a page whose response has `characters`. Returns whether it had to be read. */
async function isRead(page: number, characters = 10, id = 1): Promise<boolean> {
  let reads = 0;
  const account = { id, appKey: "a", version };
  const answer = await cache.read({ operation: "reviews.widget", account, input: { page } }, async () => {
    reads += 1;
    return "x".repeat(characters);
  });
  expect(answer).toHaveLength(characters);
  return reads > 0;
}

it("caches a response until the next write, by account and input", async () => {
  expect(await isRead(1)).toBe(true);
  expect(await isRead(1)).toBe(false);
  expect(await isRead(2)).toBe(true);
  expect(await isRead(1, 10, 2)).toBe(true);
  version += 1;
  expect(await isRead(1)).toBe(true);
});

it("limits the length and number of responses", async () => {
  await isRead(0);
  expect(await isRead(1, 600_000)).toBe(true);
  expect(await isRead(1, 600_000)).toBe(true);
  for (let page = 2; page < 22; page += 1) await isRead(page, 400_000);
  expect(await isRead(0)).toBe(false);
  for (let page = 22; page < 32; page += 1) await isRead(page, 400_000);
  expect(await isRead(0)).toBe(true);
  expect(await isRead(31, 400_000)).toBe(false);
});

it("counts a replaced response once", async () => {
  for (let time = 0; time < 100; time += 1) {
    await isRead(1, 400_000);
    version += 1;
  }
  await isRead(2);
  await isRead(1, 400_000);
  expect(await isRead(2)).toBe(false);
});
