import { afterEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import {
  execute,
  postgresServer,
  postgresSkipped,
  takeEmptyDatabase,
  type TestDatabase,
} from "../../../support/postgres.ts";

/** Orders of an account, as an import stores them. */
const insertOrders = (accountId: number) => `
  insert into orders (id, account_id, order_id, platform, email, customer_name, order_date, created_at)
  overriding system value
  select ${accountId} * 100000 + n, ${accountId}, 'o' || n, 'general', 'ann@mail.example', 'Ann', 0, 0
  from generate_series(1, 2000) as n;
  insert into purchases (account_id, order_row, product_row, unit, created_at)
  select account_id, id, 1, 1, 0 from orders where account_id = ${accountId}`;

const insertAccounts =
  "insert into accounts (id, app_key, secret_sealed, created_at) overriding system value values (1, 'a', '', 0), (2, 'b', '', 0)";

/** How purchases of orders are found that a list names. */
async function explainLookup(url: string): Promise<string> {
  const rows = await execute(
    `explain select * from jsonb_array_elements('[[1, 0]]'::jsonb) as batch cross join orders cross join purchases
     where (batch.value->>1)::bigint = 0 and orders.account_id = 2 and orders.id = (batch.value->>0)::bigint
       and purchases.account_id = 2 and purchases.order_row = orders.id and purchases.unit = 1`,
    url,
  );
  return rows.map((row) => String(row["QUERY PLAN"])).join("\n");
}

describe.skipIf(postgresServer === undefined)("the planner of PostgreSQL", () => {
  let database: TestDatabase;
  afterEach(() => database.drop());

  it("finds rows of a new account by their whole key, even if its statistics do not know the account", async () => {
    database = await takeEmptyDatabase();
    await (await openDatabase(database.url, { nowMs: 0 })).db.destroy();
    await execute(`${insertAccounts}; ${insertOrders(1)}; analyze; ${insertOrders(2)}`, database.url);
    const plan = await explainLookup(database.url);
    // All rows of the account would be compared with each other.
    expect(plan).not.toContain("Join Filter");
    expect(plan).toMatch(/Index Cond: \(\(account_id = 2\) AND \(id = /);
  });
});

if (postgresServer === undefined) it.skip(postgresSkipped);
