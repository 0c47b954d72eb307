import { expect, test } from "vitest";
import { operations, roles } from "../../../src/contract/index.ts";

const all = [...operations];
const permitted = (role: (typeof roles)[number]) => all.filter((one) => one[1].roles.includes(role));

test("read-only permits nothing that changes data", () => {
  expect(permitted("read-only").filter(([, { effect }]) => effect !== "read")).toEqual([]);
});

test("no role permits what needs the account's secret, or returns secrets other than links in emails", () => {
  const secret = all.filter(([, { roles: some, needsSecret, returnsSecret }]) => {
    return some.length > 0 && (needsSecret === true || returnsSecret === true);
  });
  expect(secret.map(([name]) => name).toSorted()).toEqual(["customers.export", "emails.get"]);
});

test.each([
  ["erase", /^customers\.erase$/],
  [
    "change settings, rules, templates, webhooks, or credentials",
    /^(?:account|credentials|emailRules|emailTemplates|reviewRules|webhooks)\./,
  ],
  ["set up events of email providers", /^emailEvents\./],
])("no role can %s", (_, names) => {
  const writes = all.filter(([name, { effect }]) => effect !== "read" && names.test(name));
  expect(writes.length).toBeGreaterThan(0);
  expect(writes.filter(([, { roles: some }]) => some.length > 0)).toEqual([]);
});

test("every role can ask for its name", () => {
  expect(operations.get("credentials.current")?.roles).toEqual(roles);
});
