import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { engines, type Harness, type TestAccount } from "../../support/backends.ts";

let harness: Harness;
let account: TestAccount;

beforeAll(async () => {
  const sqlite = engines.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  harness = await sqlite.open();
  account = await harness.newAccount();
});
afterAll(() => harness.close());

/** The plans of the statements that a call sends and that read a table. */
async function planOf(table: string, call: () => Promise<unknown>): Promise<string[]> {
  const sent = vi.spyOn(SqliteFile.prototype, "all");
  await call();
  const statements = sent.mock.calls.filter(([sql]) => new RegExp(`from "?${table}"?\\b`).test(sql));
  sent.mockRestore();
  const file = new SqliteFile(harness.database.shownAs);
  try {
    return statements.flatMap(([sql, parameters = []]) =>
      file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => String(detail)),
    );
  } finally {
    file.close();
  }
}

const range = { since_date: "2026-01-01", until_date: "2027-01-01" };

it.each([
  ["purchases", "purchases_by_product", (to: TestAccount) => to.service.orders.search({ product_id: "teapot" })],
  ["mails", "mails_by_product", (to: TestAccount) => to.service.emails.list({ product_id: "teapot", state: "sent" })],
  ["mails", "mails_by_state_and_creation", (to: TestAccount) => to.service.emails.list(range)],
  [
    "webhook_deliveries",
    "webhook_deliveries_by_creation",
    (to: TestAccount) => to.service.webhookDeliveries.list({ ...range, state: "failed" }),
  ],
] as const)("lists %s in the order of %s, without sorting", async (table, index, call) => {
  const plan = await planOf(table, () => call(account));
  expect(plan.filter((step) => step.startsWith(`SEARCH ${table} `))).not.toEqual([]);
  for (const step of plan.filter((one) => one.startsWith(`SEARCH ${table} `)))
    expect(step).toContain(`INDEX ${index} `);
  expect(plan.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
});

it.each([
  [{}, "unsubscribers_by_type"],
  [range, "unsubscribers_by_type"],
  [{ email_type_id: 1 }, "unsubscribers_by_type"],
  // The index of the unique constraint.
  [{ email: "ann@mail.example" }, "sqlite_autoindex_unsubscribers_1"],
])("finds unsubscribers by %j with %s", async (filter, index) => {
  const plan = await planOf("unsubscribers", () => account.service.unsubscribers.search(filter));
  const searches = plan.filter((step) => step.includes("SEARCH unsubscribers"));
  expect(searches.length).toBeGreaterThan(0);
  for (const step of searches) expect(step).toContain(index);
});

it("reads the health of webhooks without reading all of their deliveries and attempts", async () => {
  const plan = await planOf("webhook_(?:attempts|deliveries)", () => account.service.webhooks.list({}));
  expect(plan.filter((step) => step.includes("SEARCH webhook_"))).toEqual([
    "SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_by_success (account_id=? AND webhook_row=? AND delivered_at>?)",
    "SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_by_webhook (account_id=? AND state=? AND webhook_row=?)",
    "SEARCH webhook_attempts USING INDEX webhook_attempts_failed (account_id=? AND started_at>?)",
    "SEARCH webhook_deliveries USING INTEGER PRIMARY KEY (rowid=?)",
  ]);
});
