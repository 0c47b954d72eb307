import { expect, it, vi } from "vitest";
import { SqliteFile } from "../../../../../src/storage/sqlite/sqlite-file.ts";
import { engines, type Harness } from "../../../../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOrders } from "../../../../support/builders.ts";
import { evaluateDueEmails } from "../../../../support/due-emails.ts";

/** The steps of the plans of all `select` and `update` statements that are sent meanwhile. */
async function findSteps({ database }: Harness, run: () => Promise<unknown>): Promise<readonly string[]> {
  const spies = [vi.spyOn(SqliteFile.prototype, "all"), vi.spyOn(SqliteFile.prototype, "run")];
  await run();
  const calls = spies.flatMap(({ mock }) => mock.calls.map(([sql, parameters = []]) => [sql, parameters] as const));
  for (const spy of spies) spy.mockRestore();
  const file = new SqliteFile(database.shownAs);
  const steps = new Set(
    [...new Map(calls)]
      // Excludes statements with which the tests read results.
      .filter(([sql]) => /^\s*(?:select|update)/i.test(sql) && !sql.includes("left join"))
      .flatMap(([sql, parameters]) =>
        file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => String(detail)),
      ),
  );
  file.close();
  return [...steps];
}

async function openSqlite(): Promise<Harness> {
  const sqlite = engines.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  return sqlite.open();
}

it("finds the emails of new and changed orders using the index of orders", async () => {
  const harness = await openSqlite();
  try {
    const { service } = await harness.newAccount();
    const order = anOrder({ products: { teapot: anOrderedProduct() } });
    for (const customer_name of ["Ann", "Anna"]) {
      const orders = bulkOrders([{ ...order, customer_name }]);
      const steps = await findSteps(harness, () => service.orders.massCreate({ ...orders, send_mail: true }));
      expect(steps).toContainEqual(expect.stringMatching(/^SEARCH mails USING INDEX mails_of_orders /));
      expect(steps.filter((step) => /^SEARCH mails USING INDEX mails_by_(?:account_)?state/.test(step))).toEqual([]);
    }
  } finally {
    await harness.close();
  }
});

it("evaluates emails using indexes", async () => {
  const harness = await openSqlite();
  try {
    const { service } = await harness.newAccount();
    const products = { teapot: anOrderedProduct(), pan: anOrderedProduct() };
    await service.orders.massCreate(bulkOrders([anOrder({ products })]));
    await service.emailRules.set({ name: "one_mail_per", value: "order" });
    await service.orders.massCreate(bulkOrders([anOrder({ order_id: "2", products })]));
    await service.emails.sendTest({ email: "ann@mail.example" });
    const steps = await findSteps(harness, () => evaluateDueEmails(harness));
    expect(
      steps.filter((step) => /^SCAN (?!jsonb_each|due_leases|due_queued|CONSTANT|times|pending)/.test(step)),
    ).toEqual([]);
    expect(steps).toEqual(
      expect.arrayContaining([
        "SEARCH mails USING INDEX mails_by_account_state (account_id=? AND state=? AND due_at<?)",
        expect.stringMatching(/^SEARCH mails USING INDEX \w+ \(account_id=\? AND state=\?\)$/),
        "SEARCH mails USING INDEX mails_by_person (account_id=? AND email_key=? AND sent_at>?)",
        expect.stringMatching(/^SEARCH unsubscribers USING .*\(account_id=\? AND email_type_id=\? AND email_key=\?\)$/),
        expect.stringMatching(/^SEARCH mail_suppressions USING .*\(account_id=\? AND email_key=\?\)$/),
        expect.stringMatching(/^SEARCH mail_stops USING .*\(account_id=\? AND order_id=\? AND product_id=\?\)$/),
        "SEARCH reviews USING COVERING INDEX reviews_by_author (account_id=? AND user_row=? AND product_row=? AND created_at>?)",
        expect.stringMatching(/^SEARCH purchases USING .*\(account_id=\? AND order_row=\?\)$/),
      ]),
    );
  } finally {
    await harness.close();
  }
});
