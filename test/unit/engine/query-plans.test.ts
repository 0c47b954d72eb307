import { randomBytes } from "node:crypto";
import { type CompiledQuery, type Kysely, type Transaction } from "kysely";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { selectFirstProduct } from "../../../src/engine/accounts/account-profile.ts";
import { selectProducts } from "../../../src/engine/products/core.ts";
import type { HandlerContext } from "../../../src/engine/kernel/handler.ts";
import { selectMissedPage } from "../../../src/engine/products/missed-products.ts";
import { selectReviewPage, selectTopReviews } from "../../../src/engine/reviews/review-list.ts";
import { selectBestProducts } from "../../../src/engine/reviews/promoted-products.ts";
import { selectPurchases } from "../../../src/engine/orders/purchase-list.ts";
import { SavedProducts } from "../../../src/engine/kernel/saved-products.ts";
import { createSealer } from "../../../src/engine/kernel/sealer.ts";
import { selectUnsubscribers } from "../../../src/engine/unsubscribers/unsubscribers.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import type { Tables } from "../../../src/storage/tables.ts";
import { engines, type Harness } from "../../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOrders } from "../../support/builders.ts";

let harness: Harness;
let context: HandlerContext;

beforeEach(async () => {
  const sqlite = engines.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  harness = await sqlite.open();
  const db: Kysely<Tables> = harness.database.db;
  context = {
    transaction: db as Transaction<Tables>,
    dialect: harness.database.dialect,
    account: { id: 1, appKey: "a" },
    nowMs: 0,
    random: randomBytes,
    sealer: createSealer(randomBytes(32)),
    savedProducts: new SavedProducts(),
    publicUrl: "http://127.0.0.1",
  };
});

afterEach(() => harness.close());

async function planOf({ sql, parameters }: Pick<CompiledQuery, "sql" | "parameters">): Promise<string[]> {
  const file = new SqliteFile(harness.database.shownAs);
  try {
    const rows = file.all(`explain query plan ${sql}`, parameters as (string | number)[]);
    return rows.map(({ detail }) => String(detail));
  } finally {
    file.close();
  }
}

it("finds the first product of a store without reading the others", async () => {
  expect(await planOf(selectFirstProduct(1, context.transaction).compile())).toEqual([
    "SEARCH products USING INDEX products_by_store (account_id=?)",
  ]);
});

it("lists purchases using the account's index, and joins only the page", async () => {
  for (const since of [undefined, 1_000]) {
    const page = { fromId: 5, since, count: 10, offset: 50_000 };
    const plan = await planOf(selectPurchases(page, context).compile());
    const counting = since === undefined ? "COVERING INDEX" : "INDEX";
    expect(plan).toEqual([
      "SEARCH purchases USING INDEX purchases_by_account (account_id=? AND id>?)",
      "SCALAR SUBQUERY 1",
      `SEARCH purchases USING ${counting} purchases_by_account (account_id=? AND id>?)`,
      "SEARCH orders USING INTEGER PRIMARY KEY (rowid=?)",
      "SEARCH products USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
  }
});

it("lists unsubscribers using the account's index of IDs", async () => {
  const plan = await planOf(selectUnsubscribers({ count: 10, offset: 50_000 }, context).compile());
  expect(plan).toEqual([
    "SEARCH unsubscribers USING INDEX unsubscribers_by_account (account_id=? AND id>?)",
    "SCALAR SUBQUERY 1",
    "SEARCH unsubscribers USING COVERING INDEX unsubscribers_by_account (account_id=?)",
  ]);
});

it("lists all missed products using the account's index of IDs", async () => {
  const page = { ids: undefined, start: 50_000, size: 10 };
  const plan = await planOf(selectMissedPage(page, context).compile());
  expect(plan).toEqual([
    "SEARCH missed_products USING INDEX missed_products_by_account (account_id=? AND id>?)",
    "SCALAR SUBQUERY 1",
    "SEARCH missed_products USING COVERING INDEX missed_products_by_account (account_id=?)",
  ]);
});

it("looks up requested missed products by ID", async () => {
  const plan = await planOf(selectMissedPage({ ids: [3, 1], start: 0, size: 10 }, context).compile());
  const looks = plan.filter((step) => step.includes("missed_products"));
  expect(looks).toHaveLength(2);
  for (const look of looks) expect(look).toMatch(/^SEARCH missed_products USING .*(account_id=\? AND id=\?|rowid=\?)/);
});

it("selects the best products in index order", async () => {
  const plan = await planOf(selectBestProducts(context).limit(10).compile());
  expect(plan).toEqual([
    "SEARCH review_totals USING COVERING INDEX review_totals_best (account_id=?)",
    "SEARCH products USING INTEGER PRIMARY KEY (rowid=?)",
  ]);
});

it("selects the IDs of a page of reviews using an index of the account, and reads only their rows", async () => {
  const queries = [{}, { since_id: 5 }, { since_date: "2026-01-01" }, { since_updated_at: "2026-01-01" }];
  const pages = queries.flatMap((query) =>
    [false, true].map((areFew) => selectReviewPage({ ...query, page: 2 }, areFew, context).compile()),
  );
  for (const page of pages) {
    const plan = await planOf(page);
    const reads = plan.filter((step) => step.includes("reviews"));
    expect(reads).toEqual([
      expect.stringMatching(/^SEARCH reviews USING (?:COVERING )?INDEX \w+ \(account_id=\?/),
      "SEARCH reviews USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
  }
});

it("selects the top reviews of products and of the store using an index each", async () => {
  const plan = await planOf(selectTopReviews(context).compile());
  const reads = plan.filter((step) => step.startsWith("SEARCH reviews"));
  expect(reads.filter((step) => !/rowid=|AND id=/.test(step))).toEqual([
    expect.stringContaining("reviews_of_products_by_score"),
    expect.stringContaining("reviews_by_score"),
  ]);
  expect(plan.filter((step) => step.startsWith("SCAN reviews"))).toEqual([]);
});

it("lists products in the order of the update index, without sorting", async () => {
  for (const after of [undefined, { updated_at: 5, id: 7 }]) {
    const plan = await planOf(selectProducts({ after, since: 3 }, context).limit(10).compile());
    expect(plan).toHaveLength(1);
    expect(plan[0]).toMatch(/^SEARCH products USING INDEX products_by_change \(account_id=\? AND /);
  }
});

it("scans each batch once and looks up its rows, in every statement of a bulk call", async () => {
  const account = await harness.newAccount();
  let statements: Pick<CompiledQuery, "sql" | "parameters">[] = [];
  const ran = [vi.spyOn(SqliteFile.prototype, "run"), vi.spyOn(SqliteFile.prototype, "all")];
  try {
    const specs = { external_sku: "x" };
    const products = { pot: anOrderedProduct({ specs, quantity: 2 }), "a b": {} };
    await account.service.orders.massCreate(bulkOrders([anOrder({ products })]));
    const changed = anOrder({ customer_name: "Other", products: { pot: anOrderedProduct({ quantity: 1 }) } });
    await account.service.orders.massCreate(bulkOrders([changed]));
    await account.service.products.massCreate({ products: { pot: aProduct({ specs }) } });
    await account.service.products.massUpdate({ products: { pot: aProduct({ specs }) } });
    await account.service.groups.create({ group_name: "G" });
    await account.service.groups.update({ group_name: "G", product_ids_to_add: ["pot"] });
    await account.service.unsubscribers.massCreate({ email_list: { 1: ["a@mail.example"] } });
    await account.service.unsubscribers.massDelete({ email_list: { 1: ["a@mail.example"] } });
    statements = ran.flatMap(({ mock }) => mock.calls.map(([sql, parameters = []]) => ({ sql, parameters })));
  } finally {
    vi.restoreAllMocks();
  }
  const bulk = statements.filter(({ sql }) => sql.includes("jsonb_each"));
  expect(bulk.length).toBeGreaterThanOrEqual(16);
  for (const statement of bulk) {
    const [outer, ...inner] = await planOf(statement);
    const deletes = statement.sql.trimStart().startsWith("delete");
    if (!deletes) expect(outer, statement.sql).toMatch(/^SCAN jsonb_each/);
    const steps = (deletes ? [outer ?? ""] : inner).filter((step) => !/TEMP B-TREE/.test(step));
    for (const step of steps)
      expect(step, statement.sql).toMatch(/^SEARCH .*(=\? AND |rowid=\?|product_row=\?|rating_target=\?)/);
  }
});
