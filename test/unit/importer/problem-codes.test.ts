import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rejectCodes, sharpenReason } from "../../../src/import/check/reject-codes.ts";
import { readServiceProblem } from "../../../src/import/check/service-errors.ts";

/** Words of the tally and of verifying, which never stand in a reject file. */
const otherWords = new Set(["left_out", "kept", "erased", "fixed", "not_there", "still_there", "too_few"]);

function* sourcesOf(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* sourcesOf(join(folder, entry.name));
    else yield readFileSync(join(folder, entry.name), "utf8");
  }
}

describe("codes of the reject file", () => {
  test("stand in docs/reference/rejects.md, all of them and word by word", () => {
    const rows = readFileSync("docs/reference/rejects.md", "utf8").split("## The codes")[1] ?? "";
    const told = [...rows.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) ?\|$/gm)].map(([, ...cells]) => cells);
    const held = Object.entries(rejectCodes).map(([code, { means, hint = "" }]) => [code, means, hint]);
    expect(told).toEqual(held);
  });

  test("are all that the importer gives", () => {
    const given = [...sourcesOf("src/import"), ...sourcesOf("src/records")].flatMap((text) =>
      [...text.matchAll(/\bcode: (?:[^"\n]{0,40}\? )?"(\w+)"(?: : "(\w+)")?/g)].flatMap(([, one, other]) =>
        [one, other].filter((code) => code !== undefined),
      ),
    );
    expect(given.length).toBeGreaterThan(15);
    expect(given.filter((code) => !otherWords.has(code) && !(code in rejectCodes))).toEqual([]);
  });
});

describe("what a service says", () => {
  test.each([
    ["email", "is not an email address (local@domain)", "bad_email"],
    ["email", "email is not valid", "bad_email"],
    ["email", "is invalid", "bad_email"],
    ["email_type_id", "email type ID is not valid", "bad_email_type"],
    ["email", "unsubscribed by the user", "unsubscribed_by_user"],
    ["customer_name", "is missing", "missing"],
    ["customer_name", "can't be blank", "missing"],
    ["product_name", "is longer than 1024 characters", "too_long"],
    ["product_name", "is too long (maximum is 255 characters)", "too_long"],
    ["product_url", "is not a URL that starts with http:// or https://", "bad_url"],
    ["order_date", "is not a date of the calendar, the day alone (YYYY-MM-DD)", "bad_date"],
    ["product_price", "is not a price (digits, and a point before the decimals)", "bad_price"],
    ["currency_iso", "is not an ISO currency code of three letters", "bad_currency"],
    ["platform", "must be one of shopify, general", "bad_platform"],
    ["sku", "allows only letters, digits, _ and -", "bad_id"],
    ["name", "must be text", "bad_type"],
    ["name", "holds U+0000 or half a surrogate pair", "bad_characters"],
    ["code", "has already been taken", "duplicate"],
    ["name", "the moon is not right", "refused"],
    ["name", "is invalid", "refused"],
  ])("of %s: %j is %s", (field, text, code) => {
    const problem = readServiceProblem(field, text);
    expect(problem.code).toBe(code);
    expect(problem.field).toBe(field);
    expect(Object.keys(rejectCodes)).toContain(code);
  });

  test("is told after the column's name, which is not said twice", () => {
    expect(readServiceProblem("email", "email is not valid").reason).toBe("is not valid, says the service");
    expect(readServiceProblem("email_type_id", "email type ID is not valid").reason).toBe(
      "is not valid, says the service",
    );
    expect(readServiceProblem("a(b", "is odd").reason).toBe("was refused by the service: is odd");
  });

  test("an address without an @ is told so, whoever found it", () => {
    expect(sharpenReason("bad_email", "is not valid, says the service", "foo")).toBe("has no @");
    expect(sharpenReason("bad_email", "is not valid", "foo@")).toBe("is not valid");
  });
});
