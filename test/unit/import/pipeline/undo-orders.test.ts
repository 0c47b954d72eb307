import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { showImport, startImport } from "../../../../src/import/import.ts";
import { undoImport } from "../../../../src/import/undo/undo.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { runPaths } from "../../../../src/import/run/run-folder.ts";
import { readFileSync } from "node:fs";
import { ServiceError } from "../../../../src/contract/index.ts";
import type { Service } from "../../../../src/service/service.ts";
import { backends } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

const header =
  "order_id,order_date,customer_name,email,currency_iso,user_reference,product_id,product_name,product_url,product_price\n";

interface Row {
  readonly order: number;
  readonly day: number;
  readonly customer: string;
  readonly reference: string;
  readonly product: string;
  readonly name: string;
  readonly price: string;
}

function toCsv(rows: readonly Row[]): string {
  const lines = rows.map(({ order, day, customer, reference, product, name, price }) =>
    [
      `o-${order}`,
      new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
      customer,
      "ann@mail.example",
      day % 2 === 0 ? "EUR" : "USD",
      reference,
      product,
      name,
      `https://shop.example/${name}`,
      price,
    ].join(","),
  );
  return header + lines.map((line) => `${line}\n`).join("");
}

/** The orders, with the prices of their units, and the products, without what depends on when they were stored. */
async function readState(service: Service) {
  const { purchases } = await service.orders.list({ count: 1_000, details: true });
  const orders: Record<string, unknown> = {};
  for (const {
    order_id,
    product_sku,
    product_price,
    user_name,
    order_date,
    currency_iso,
    user_reference,
  } of purchases) {
    const own = (orders[order_id] ??= { user_name, order_date, currency_iso, user_reference, units: {} }) as {
      units: Record<string, unknown[]>;
    };
    (own.units[product_sku] ??= []).push(product_price);
  }
  const { products } = await service.core.listProducts({ details: true, limit: 100 });
  const catalog = Object.fromEntries(
    products.map(({ external_id, name, url, price, currency }) => {
      return [external_id, { name, url, price, currency }];
    }),
  );
  return { orders, catalog };
}

/** Rows of orders that have one customer, date, and reference each. */
const someRows = fc
  .array(
    fc.record({
      day: fc.integer({ min: 0, max: 5 }),
      customer: fc.constantFrom("Ann", "Bea", "Cy"),
      reference: fc.constantFrom("r1", "r2"),
      lines: fc.array(
        fc.record({
          product: fc.constantFrom("p1", "p2", "p3", "p4"),
          name: fc.constantFrom("Brown", "Navy", "Red"),
          price: fc.constantFrom("5", "6.5", "7.00"),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((orders) =>
    orders.flatMap(({ lines, ...order }, at): Row[] => lines.map((line) => ({ order: at, ...order, ...line }))),
  );

describe.each(backends)("an undo of orders over $name", (backend) => {
  let pipeline: Pipeline;
  beforeEach(async () => {
    pipeline = await openPipeline([backend]);
  });
  afterEach(() => pipeline[Symbol.asyncDispose]());

  const importRows = async (rows: string, options: Partial<ImportOptions> & { updateProducts?: boolean } = {}) => {
    pipeline.harness.clock.advance(2_000);
    const { import_id } = await pipeline.run("orders", rows, options);
    return import_id ?? "";
  };
  const undo = (id: string, replaced = {}) => {
    const request = { isPlan: false, maxListed: 100, listsExceptions: false, confirm: async () => {} };
    return undoImport(id, request, pipeline.deps(replaced));
  };

  test("restores what was stored before, whatever the run changed", { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(someRows, someRows, fc.boolean(), async (first, second, updateProducts) => {
      await pipeline[Symbol.asyncDispose]();
      pipeline = await openPipeline([backend]);
      await importRows(toCsv(first));
      const before = await readState(pipeline.service);
      const id = await importRows(toCsv(second), { undoable: true, updateProducts });
      const undone = await undo(id);
      const after = await readState(pipeline.service);
      for (const [order, value] of Object.entries(before.orders)) expect(after.orders[order]).toEqual(value);
      for (const [product, value] of Object.entries(before.catalog)) expect(after.catalog[product]).toEqual(value);
      expect(undone).toMatchObject({ state: "finished", impossible: 0, rows_not_taken: 0 });
      expect(undone.reversed + undone.kept).toBe(second.length);
    });
    await fc.assert(property, { numRuns: 12, endOnFailure: true });
  });

  const row = (fields: Partial<Row>): Row => {
    return { order: 1, day: 0, customer: "Ann", reference: "r1", product: "p1", name: "Brown", price: "5", ...fields };
  };

  test("says for each row what it restored, and cancels the emails of what the run added", async () => {
    await importRows(toCsv([row({}), row({ order: 2 })]));
    const second = [
      row({ customer: "Bea", name: "Navy" }),
      row({ customer: "Bea", product: "p2", name: "Cup" }),
      row({ order: 2, name: "Navy" }),
      row({ order: 3, name: "Navy" }),
    ];
    const id = await importRows(toCsv(second), { undoable: true, updateProducts: true, sendMail: true });
    const queued = async () => (await pipeline.service.emails.list({ state: "queued" })).mails.length;
    expect(await queued()).toBeGreaterThan(0);
    const undone = await undo(id);
    expect(undone).toMatchObject({ reversed: 4, kept: 0, impossible: 0 });
    expect(undone.rows.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["reversed", "has its previous values; product p1: has its previous values"],
      ["reversed", "has its previous values; product p2: the run created it, and the API cannot delete products"],
      ["reversed", "has its previous values; product p1: has its previous values"],
      ["reversed", expect.stringMatching(/^its emails are canceled; .*; product p1: has its previous values$/)],
    ]);
    const { orders, catalog } = await readState(pipeline.service);
    expect(orders["o-1"]).toMatchObject({ user_name: "Ann", units: { p1: ["5"] } });
    expect(catalog["p1"]).toMatchObject({ name: "Brown" });
  });

  test("leaves an order alone that was changed since, and names values that the API cannot restore", async () => {
    await importRows(toCsv([row({ customer: "Ann" }), row({ order: 2, reference: "" }), row({ order: 3, price: "" })]));
    const second = [
      row({ customer: "Bea" }),
      row({ order: 2, customer: "Bea", reference: "r9" }),
      row({ order: 3, customer: "Bea", price: "8" }),
    ];
    const id = await importRows(toCsv(second), { undoable: true });
    await importRows(toCsv([row({ customer: "Cy" })]));
    const undone = await undo(id);
    expect(undone.rows.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["kept", "changed since: customer_name"],
      ["impossible", expect.stringMatching(/^has its previous values, but: .* the API erases none: user_reference$/)],
      [
        "impossible",
        expect.stringMatching(/^has its previous values, but: .* the API erases none: products\.p1\.price$/),
      ],
    ]);
    const { orders } = await readState(pipeline.service);
    expect(orders).toMatchObject({
      "o-1": { user_name: "Cy" },
      "o-2": { user_name: "Ann", user_reference: "r9" },
      "o-3": { user_name: "Ann", units: { p1: ["8"] } },
    });
  });

  test("restores an order that several calls of the run named, each with other values", async () => {
    const stored = [row({ price: "8" }), row({ price: "1" }), row({ price: "2" }), row({ order: 2, price: "3" })];
    await importRows(toCsv(stored));
    const before = await readState(pipeline.service);
    const first = [row({ price: "5" }), row({ price: "6" }), row({ price: "7" }), row({ order: 2, price: "5" })];
    const second = [row({ price: "9" }), row({ order: 2, price: "" })];
    const files = [first, second].map((rows, at) => pipeline.write(`part-${at}.csv`, toCsv(rows)));
    const options = { dryRun: false, map: {}, undoable: true, batchSize: 2 };
    pipeline.harness.clock.advance(2_000);
    const { import_id } = await startImport({ kind: "orders", files, options }, pipeline.deps());
    expect((await readState(pipeline.service)).orders["o-1"]).toMatchObject({ units: { p1: ["9", "6", "7"] } });
    expect(await undo(import_id ?? "")).toMatchObject({ reversed: 6, kept: 0, impossible: 0 });
    expect((await readState(pipeline.service)).orders).toEqual(before.orders);
  });

  test("keeps a line item that was changed since, and rows of which the order or the product was", async () => {
    await importRows(toCsv([row({}), row({ order: 2, product: "p2" })]));
    const changes = [
      row({ customer: "Bea" }),
      row({ customer: "Bea", product: "q" }),
      row({ order: 2, product: "p2", customer: "Bea", name: "Navy" }),
    ];
    const id = await importRows(toCsv(changes), { undoable: true, updateProducts: true });
    await importRows(toCsv([row({ customer: "Bea", product: "q", price: "99" })]));
    const product = { p2: { name: "Red", url: "https://shop.example/r" } };
    await pipeline.service.products.massUpdate({ products: product });
    const undone = await undo(id);
    expect(undone.rows.map(({ outcome, reason }) => [outcome, reason.split(";")[0]])).toEqual([
      ["kept", "changed since: products.q.price"],
      ["kept", "changed since: products.q.price"],
      ["kept", "has its previous values"],
    ]);
    expect(undone.rows[2]?.reason).toMatch(/; product p2: changed since: name/);
    expect((await readState(pipeline.service)).orders["o-1"]).toMatchObject({ units: { q: ["99"] } });
  });

  test("does not overwrite what was changed during the undo and was not part of the run", async () => {
    await importRows(toCsv([row({})]));
    const id = await importRows(toCsv([row({ price: "9" })]), { undoable: true });
    const request = { isPlan: false, maxListed: 10, listsExceptions: false };
    const product = { name: "Brown", url: "https://shop.example/Brown" };
    const change = { customer_name: "Ann", email: "ann@mail.example", order_id: "o-1", user_reference: "r2" };
    const confirm = async () => {
      await pipeline.service.orders.create({ platform: "general", ...change, products: { p1: product } });
    };
    expect(await undoImport(id, { ...request, confirm }, pipeline.deps())).toMatchObject({ reversed: 1 });
    expect((await readState(pipeline.service)).orders["o-1"]).toMatchObject({
      user_reference: "r2",
      units: { p1: ["5"] },
    });
  });

  test("sends orders that are too large for one call in several, and refuses only those that the service refuses", async () => {
    const many = Array.from({ length: 12 }, (_, order) => {
      return Array.from({ length: 500 }, (_unit, at) => row({ order, product: `p${at % 2}` }));
    }).flat();
    await importRows(toCsv(many));
    const before = await readState(pipeline.service);
    const id = await importRows(
      toCsv(many.map(({ order, product }) => row({ order, product, customer: "Bea", price: "6" }))),
      {
        undoable: true,
      },
    );
    const { massCreate } = pipeline.service.orders;
    const refusing: Service["orders"]["massCreate"] = (input, options) => {
      const isBad = input.orders.some(({ order_id }) => order_id === "o-3");
      return isBad ? Promise.reject(new ServiceError("invalidParams", "bad order")) : massCreate(input, options);
    };
    const service = { ...pipeline.service, orders: { ...pipeline.service.orders, massCreate: refusing } };
    const openService = async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} });
    expect(await undo(id, { openService })).toMatchObject({ reversed: 11 * 500, impossible: 500 });
    const after = await readState(pipeline.service);
    expect({ ...after.orders, "o-3": before.orders["o-3"] }).toEqual(before.orders);
  });

  test("restores an order whose product has no URL, and needs no list of products for the emails", async () => {
    const review = { product_id: "p1", email: "ann@mail.example", display_name: "Ann", review_score: "5" };
    const head =
      "product_id,email,display_name,review_score,review_title,review_content,date,published,product_title\n";
    await pipeline.run("reviews", `${head}${Object.values(review).join(",")},Good,Good pot,2026-01-01,true,Pot\n`);
    await importRows(toCsv([row({})]));
    const id = await importRows(toCsv([row({ price: "9" })]), { undoable: true });
    expect(await undo(id)).toMatchObject({ reversed: 1, impossible: 0 });
    expect((await readState(pipeline.service)).orders["o-1"]).toMatchObject({ units: { p1: ["5"] } });
    const created = await importRows(toCsv([row({ order: 7 })]), { updateProducts: true });
    const listProducts = () => Promise.reject(new ServiceError("featureDisabled", "not in this plan"));
    const service = { ...pipeline.service, core: { ...pipeline.service.core, listProducts } };
    const openService = async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} });
    expect(await undo(created, { openService })).toMatchObject({ reversed: 1, impossible: 0 });
  });

  test("of a service without extensions restores what it returns; the import and its report name the rest", async () => {
    await importRows(toCsv([row({}), row({ order: 2 })]));
    const { orders } = pipeline.service;
    const plain: Service = {
      ...pipeline.service,
      orders: {
        ...orders,
        list: async ({ details: _details, ...query }, options) => orders.list(query, options),
        massCreate: async ({ details: _details, update_products_since_id: _id, ...input }, options) => {
          const { outcomes: _outcomes, ...reply } = await orders.massCreate(input, options);
          return reply;
        },
      },
    };
    const opened = { service: plain, concurrency: 1, keepsOrder: true, close: async () => {} };
    const openService = async () => opened;
    pipeline.harness.clock.advance(2_000);
    const second = toCsv([row({ customer: "Bea", price: "9" }), row({ order: 2 })]);
    const { import_id } = await pipeline.run("orders", second, { undoable: true }, { openService });
    const limits = expect.stringMatching(
      /^`imports undo` cannot restore lines, prices, .* user references of orders: /,
    );
    expect(pipeline.notices()).toContainEqual(limits);
    const { manifest } = runPaths(pipeline.deps().runsFolder, import_id ?? "");
    expect(JSON.parse(readFileSync(manifest, "utf8"))).toMatchObject({ notices: expect.arrayContaining([limits]) });
    const undone = await undo(import_id ?? "", { openService });
    expect(undone).toMatchObject({ reversed: 1, kept: 1, impossible: 0 });
    expect(undone.rows[0]?.reason).toMatch(/, but: .* does not return stay: .*products\.p1\.price/);
    expect((await readState(pipeline.service)).orders["o-1"]).toMatchObject({ user_name: "Ann", units: { p1: ["9"] } });
  });

  test("if the service does not list its orders, the import says that undo cannot restore them", async () => {
    await importRows(toCsv([row({})]));
    const list = () => Promise.reject(new ServiceError("featureDisabled", "not in this plan"));
    const service = { ...pipeline.service, orders: { ...pipeline.service.orders, list } };
    const openService = async () => ({ service, concurrency: 1, keepsOrder: true, close: async () => {} });
    const { import_id } = await pipeline.run("orders", toCsv([row({})]), { undoable: true }, { openService });
    expect(pipeline.notices()).toContainEqual(expect.stringMatching(/cannot restore them: not in this plan$/));
    expect(await showImport(pipeline.deps().runsFolder, import_id ?? "")).toMatchObject({ state: "finished" });
  });
});
