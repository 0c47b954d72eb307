import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createKey, hashToken, isSameSecret } from "../../../../src/engine/kernel/credentials.ts";

it("creates keys of 40 evenly distributed letters and digits", () => {
  const keys = Array.from({ length: 2_000 }, () => createKey(randomBytes));
  expect(keys.every((key) => /^[A-Za-z0-9]{40}$/.test(key))).toBe(true);
  const counts = new Map<string, number>();
  for (const character of keys.join("")) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  const expected = (2_000 * 40) / 62;
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2);
});

it("discards bytes that would make some characters more likely", () => {
  const given = [Buffer.alloc(40, 255), Buffer.alloc(40, 0)];
  expect(createKey(() => given.shift() ?? Buffer.alloc(40, 1))).toBe("A".repeat(40));
});

it("hashes a token with SHA-256", () => {
  expect(hashToken("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

it("compares secrets of any length", () => {
  expect(isSameSecret("abc", "abc")).toBe(true);
  expect(isSameSecret("ab", "abc")).toBe(false);
  expect(isSameSecret("", "abc")).toBe(false);
});
