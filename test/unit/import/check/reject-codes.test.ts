import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rejectCodes, sharpenReason } from "../../../../src/import/check/reject-codes.ts";
import { recordKinds } from "../../../../src/records/index.ts";
import { readServiceProblem } from "../../../../src/import/check/service-errors.ts";

/** All codes, including those of single kinds. */
const allCodes = Object.assign({}, rejectCodes, ...recordKinds.map((kind) => kind.rejectCodes)) as typeof rejectCodes;

/** Codes of warnings and of verification, which never appear in a reject file. */
const otherCodes = new Set(["dropped", "kept", "erased", "fixed", "not_there", "still_there", "too_few", "differs"]);

function* sourcesOf(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* sourcesOf(join(folder, entry.name));
    else yield readFileSync(join(folder, entry.name), "utf8");
  }
}

describe("reject codes", () => {
  test("match the table in docs/reference/rejects.md", () => {
    const rows = readFileSync("docs/reference/rejects.md", "utf8").split("## The codes")[1] ?? "";
    const documented = [...rows.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) ?\|$/gm)].map(([, ...cells]) => cells);
    const declared = Object.entries(allCodes).map(([code, { means, hint = "" }]) => [code, means, hint]);
    expect(documented).toEqual(declared);
  });

  test("include every code in the source", () => {
    const given = [...sourcesOf("src/import"), ...sourcesOf("src/records")].flatMap((text) =>
      [...text.matchAll(/\bcode: (?:[^"\n]{0,40}\? )?"(\w+)"(?: : "(\w+)")?/g)].flatMap(([, one, other]) =>
        [one, other].filter((code) => code !== undefined),
      ),
    );
    expect(given.length).toBeGreaterThan(15);
    expect(given.filter((code) => !otherCodes.has(code) && !(code in allCodes))).toEqual([]);
  });
});

describe("readServiceProblem", () => {
  test.each([
    ["email", "is not a valid email address (local@domain)", "bad_email"],
    ["email", "email is not valid", "bad_email"],
    ["email", "is invalid", "bad_email"],
    ["email_type_id", "email type ID is not valid", "bad_email_type"],
    ["email", "unsubscribed by the user", "unsubscribed_by_user"],
    ["customer_name", "is missing", "missing"],
    ["customer_name", "can't be blank", "missing"],
    ["product_name", "is longer than 1024 characters", "too_long"],
    ["product_name", "is too long (maximum is 255 characters)", "too_long"],
    ["product_url", "is not a valid http:// or https:// URL", "bad_url"],
    ["order_date", "is not a valid date (YYYY-MM-DD)", "bad_date"],
    ["product_price", "is not a valid price (such as 12.50)", "bad_price"],
    ["currency_iso", "is not a three-letter ISO currency code", "bad_currency"],
    ["platform", "must be one of shopify, general", "bad_platform"],
    ["sku", "allows only letters, digits, _ and -", "bad_id"],
    ["name", "must be a string", "bad_type"],
    ["name", "contains U+0000 or an unpaired surrogate", "bad_characters"],
    ["code", "has already been taken", "duplicate"],
    ["name", "the moon is not right", "refused"],
    ["name", "is invalid", "refused"],
  ])("reads %s %j as %s", (field, text, code) => {
    const problem = readServiceProblem(field, text);
    expect(problem.code).toBe(code);
    expect(problem.field).toBe(field);
    expect(Object.keys(allCodes)).toContain(code);
  });

  test("does not repeat the column name", () => {
    expect(readServiceProblem("email", "email is not valid").reason).toMatch(/^is not valid/);
    expect(readServiceProblem("email_type_id", "email type ID is not valid").reason).toMatch(/^is not valid/);
    expect(readServiceProblem("a(b", "is odd").reason).toMatch(/is odd$/);
  });

  test("sharpenReason reports an address without @", () => {
    expect(sharpenReason("bad_email", "is not valid (reported by the service)", "foo")).toBe("has no @");
    expect(sharpenReason("bad_email", "is not valid", "foo@")).toBe("is not valid");
  });
});
