import { expect, test } from "vitest";
import { linkLifetimeMs, linkPaths } from "../../../../src/contract/index.ts";
import { clickUrl, openUrl, reviewUrl } from "../../../../src/engine/kernel/signed-link.ts";
import { createMessageKey, parseMessageKey } from "../../../../src/engine/emails/message-key.ts";
import { createSealer } from "../../../../src/engine/kernel/sealer.ts";
import { isCurrent, openAnyClaim, openClaim, readClaim, signClaim } from "../../../../src/engine/kernel/signed-link.ts";

const sealer = createSealer(Buffer.alloc(32, 1));
const other = createSealer(Buffer.alloc(32, 2));
const claim = { kind: "open", id: 7, accountId: 3, expiresAtMs: 1_000 };

test("a claim is read until it expires, if its kind is expected", () => {
  const token = signClaim(claim, sealer);
  expect(readClaim(token, ["click", "open"], { sealer, nowMs: 999 })).toMatchObject(claim);
  expect(readClaim(token, ["open"], { sealer, nowMs: 1_000 })).toBeUndefined();
  expect(readClaim(token, ["click"], { sealer, nowMs: 0 })).toBeUndefined();
  expect(openClaim(token, ["open"], sealer)).toMatchObject(claim);
  expect(openClaim(token, [], sealer)).toBeUndefined();
  expect(openAnyClaim(token, sealer)).toMatchObject(claim);
  expect([isCurrent(claim, 999), isCurrent(claim, 1_000)]).toEqual([true, false]);
});

test("a token of another key, a changed token, and another sealed text are no claims", () => {
  const token = signClaim(claim, sealer);
  expect(openAnyClaim(token, other)).toBeUndefined();
  expect(openAnyClaim(`${token}x`, sealer)).toBeUndefined();
  expect(openAnyClaim("", sealer)).toBeUndefined();
  expect(openAnyClaim(sealer.seal(JSON.stringify(claim)), sealer)).toBeUndefined();
  expect(openAnyClaim(sealer.seal("no JSON"), sealer)).toBeUndefined();
  expect(openAnyClaim(sealer.seal(JSON.stringify({ ...claim, use: "session" })), sealer)).toBeUndefined();
});

test("links of an email have the claim of their kind and expire after its lifetime", () => {
  const context = { sealer, publicUrl: "https://shop.example", nowMs: 5 };
  const source = { accountId: 3, mailId: 9 };
  const links = [
    ["open", openUrl(source, context), {}],
    ["click", clickUrl(source, "https://shop.example/p", context), { url: "https://shop.example/p" }],
    ["write_review", reviewUrl({ ...source, productRow: 4 }, context), { productRow: 4 }],
  ] as const;
  for (const [kind, url, more] of links) {
    const start = `https://shop.example${linkPaths[kind]}/`;
    expect(url.slice(0, start.length)).toBe(start);
    const expected = { ...source, ...more, kind, id: 9, expiresAtMs: 5 + linkLifetimeMs[kind], use: "claim" };
    expect(openAnyClaim(url.slice(start.length), sealer)).toEqual(expected);
  }
});

test("a message key contains the ID of its email and cannot be guessed", () => {
  const key = createMessageKey(12, sealer);
  expect(key).toMatch(/^12-[0-9a-f]{32}$/);
  expect(parseMessageKey(key, sealer)).toBe(12);
  expect(createMessageKey(12, sealer)).toBe(key);
  const forged = ["", "12", `0${key}`, `1${key}`, `x${key}`, `${key}0`, key.toUpperCase(), key.replace("12-", "13-")];
  expect(forged.map((text) => parseMessageKey(text, sealer))).toEqual(forged.map(() => undefined));
  expect(parseMessageKey(key, other)).toBeUndefined();
});

test("marks are keyed hashes of 32 digits", () => {
  expect(sealer.mark("a")).toMatch(/^[0-9a-f]{32}$/);
  expect(sealer.mark("a")).toBe(createSealer(Buffer.alloc(32, 1)).mark("a"));
  expect(new Set([sealer.mark("a"), sealer.mark("b"), other.mark("a")]).size).toBe(3);
  expect(sealer.seal("a").split(".", 2)[1]).toMatch(/^[0-9a-f]{8}$/);
  expect(() => sealer.open(sealer.seal("a").replace("v1", "v2"))).toThrow(
    expect.objectContaining({ kind: "storageFailed", message: expect.stringMatching(/format/) }),
  );
});
