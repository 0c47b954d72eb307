import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { hashPassword, isPassword } from "../../../../src/engine/accounts/users.ts";

it("accepts only the hashed password", async () => {
  const hashed = await hashPassword("correct horse", randomBytes);
  expect(await isPassword("correct horse", hashed)).toBe(true);
  expect(await isPassword("correct horsf", hashed)).toBe(false);
});

it("includes the cost and a random salt", async () => {
  const hashed = await hashPassword("a", randomBytes);
  expect(hashed).toMatch(/^scrypt\$16384\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  expect(await hashPassword("a", randomBytes)).not.toBe(hashed);
});

it("accepts a hash with another cost", async () => {
  // RFC 7914, section 12: "password", "NaCl", N=1024, r=8, p=16; the first 32 of its 64 bytes.
  const hash = Buffer.from("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162", "hex");
  const salt = Buffer.from("NaCl").toString("base64url");
  const hashed = `scrypt$1024$8$16$${salt}$${hash.toString("base64url")}`;
  expect(await isPassword("password", hashed)).toBe(true);
});

it("rejects hashes in other formats", async () => {
  expect(await isPassword("", "")).toBe(false);
  expect(await isPassword("plain", "plain")).toBe(false);
});
