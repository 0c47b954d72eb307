import { afterAll, beforeAll, expect, test } from "vitest";
import { findNextExpiry, purgeIdempotentCalls } from "../../../../src/engine/kernel/idempotency.ts";
import { idempotencyKeys } from "../../../../src/contract/index.ts";
import { backends, type Harness } from "../../../support/backends.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await (backends[0] ?? expect.unreachable()).open();
});
afterAll(() => harness.close());

test("results are deleted when they expire, and not before", async () => {
  const { service } = await harness.newAccount();
  const { clock, work } = harness;
  const upload = (key: string, code: string) =>
    service.coupons.upload({ coupon_action: "map_review", codes: [code] }, { idempotencyKey: key });
  expect(await work.read(findNextExpiry)).toBeUndefined();
  const startMs = clock();
  await upload("first", "AB-1");
  clock.advance(60_000);
  await upload("second", "AB-2");
  expect(await work.read(findNextExpiry)).toBe(startMs + idempotencyKeys.lifetimeMs);
  clock.set(startMs + idempotencyKeys.lifetimeMs - 1);
  expect(await work.write(purgeIdempotentCalls)).toBe(0);
  clock.advance(1);
  expect(await work.write(purgeIdempotentCalls)).toBe(1);
  expect(await work.read(findNextExpiry)).toBe(startMs + 60_000 + idempotencyKeys.lifetimeMs);
});
