import crypto from "node:crypto";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { formatSignedMessage } from "../../../src/engine/accounts/vendor-signature.ts";

const page = readFileSync("docs/reference/api.md", "utf8").split("## Trusted vendors")[1] ?? "";
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^\`]*)\`\`\``).exec(page)?.[1]?.trim() ?? "";
const secret = /the secret `([^`]+)`/.exec(page)?.[1] ?? "";
const [message, signature] = block("text").split("\n");
const readReview = () => JSON.parse(block("json")) as Record<string, unknown>;

it("signs the documented example as documented", () => {
  const { appkey, ...fields } = readReview();
  expect(formatSignedMessage({ ...fields, signature: "x" }, String(appkey))).toBe(message);
  expect(
    crypto
      .createHmac("sha256", secret)
      .update(message ?? "")
      .digest("hex"),
  ).toBe(signature);
});

it("documents code that produces the signature", () => {
  const review = readReview();
  runInNewContext(block("js"), { review, secret, crypto });
  expect(review["signature"]).toBe(signature);
});
