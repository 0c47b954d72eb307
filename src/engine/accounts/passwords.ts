import { scrypt, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "../kernel/handler.ts";

const cost = { N: 16_384, r: 8, p: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;

interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Hashes a password as `scrypt$N$r$p$salt$hash`. The format includes the cost, so that it can be raised later. */
export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  const salt = random(saltBytes);
  const hash = await derive(password, salt, cost);
  const { N, r, p } = cost;
  return ["scrypt", N, r, p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/** Whether `password` matches the hash. Returns false for hashes in another format. */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const [form, N, r, p, salt, hash] = hashed.split("$");
  if (form !== "scrypt" || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, "base64url");
  const stored = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, "base64url"), stored);
  return found.length === expected.length && timingSafeEqual(found, expected);
}

function derive(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, hashBytes, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
