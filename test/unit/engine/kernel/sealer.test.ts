import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createSealer } from "../../../../src/engine/kernel/sealer.ts";

const key = randomBytes(32);

it("opens sealed texts, also in another process with the same key", () => {
  const sealed = createSealer(key).seal("secret é");
  expect(sealed).not.toContain("secret");
  expect(createSealer(Buffer.from(key)).open(sealed)).toBe("secret é");
});

it("seals the same text differently each time", () => {
  const sealer = createSealer(key);
  expect(sealer.seal("a")).not.toBe(sealer.seal("a"));
});

it("reports a wrong key with a hint", () => {
  const sealed = createSealer(randomBytes(32)).seal("a");
  expect(() => createSealer(key).open(sealed)).toThrow(
    expect.objectContaining({
      kind: "storageFailed",
      message: "the account's secret was sealed with another key",
      hint: expect.stringContaining("STARPOST_KEY"),
    }),
  );
});

it("rejects a text that was changed, truncated, or never sealed", () => {
  const sealer = createSealer(key);
  const sealed = sealer.seal("secret");
  const [version, mark, body = ""] = sealed.split(".");
  const bytes = Buffer.from(body, "base64url");
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const changed = [version, mark, bytes.toString("base64url")].join(".");
  for (const damaged of [changed, `${version}.${mark}.`, sealed.slice(0, 20), "plain", ""]) {
    expect(() => sealer.open(damaged)).toThrow(expect.objectContaining({ kind: "storageFailed" }));
  }
});

it("requires a key of 32 bytes", () => {
  expect(() => createSealer(randomBytes(16))).toThrow(expect.objectContaining({ kind: "storageFailed" }));
});
