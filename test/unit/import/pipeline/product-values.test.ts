import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { verifyImport } from "../../../../src/import/verify/verify.ts";
import { ServiceError } from "../../../../src/contract/index.ts";
import type { Service } from "../../../../src/service/service.ts";
import { backends } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

interface Row {
  readonly order: number;
  readonly day: number;
  readonly product: string;
  readonly name: string;
  readonly price: string;
  readonly image: string;
}

const header =
  "order_id,order_date,customer_name,email,currency_iso,product_id,product_name,product_url,product_price,product_image\n";

const dateOf = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
const currencyOf = (day: number) => (day % 2 === 0 ? "EUR" : "USD");

function toCsv(rows: readonly Row[]): string {
  const lines = rows.map(({ order, day, product, name, price, image }) =>
    [
      `o-${order}`,
      dateOf(day),
      "Ann",
      "ann@mail.example",
      currencyOf(day),
      product,
      name,
      `https://shop.example/${name}`,
      price,
      image === "" ? "" : `https://shop.example/${image}.jpg`,
    ].join(","),
  );
  return header + lines.map((line) => `${line}\n`).join("");
}

type Listed = Readonly<Record<"name" | "url" | "price" | "currency" | "image_url", string | null>>;

/** The values of each product by the newest order, and of that by the last row: an independent description of the rule. */
function newestValues(rows: readonly Row[]): Record<string, Listed> {
  const sorted = rows.map((row, at) => ({ row, at })).toSorted((a, b) => a.row.day - b.row.day || a.at - b.at);
  const found: Record<string, Listed> = {};
  for (const { row } of sorted) {
    const before = found[row.product];
    found[row.product] = {
      name: row.name,
      url: `https://shop.example/${row.name}`,
      price: row.price === "" ? (before?.price ?? null) : row.price,
      currency: row.price === "" && before?.price ? before.currency : currencyOf(row.day),
      image_url: row.image === "" ? (before?.image_url ?? null) : `https://shop.example/${row.image}.jpg`,
    };
  }
  return found;
}

async function listStored(service: Service): Promise<Record<string, Listed>> {
  const { products } = await service.core.listProducts({ limit: 100 });
  return Object.fromEntries(
    products.map(({ external_id, name, url, price, currency, image_url }) => {
      return [external_id, { name, url, price, currency, image_url }];
    }),
  );
}

/** Rows of orders with one date each; a product may occur in many of them, also twice in one. */
const someRows = fc
  .array(
    fc.record({
      day: fc.integer({ min: 0, max: 8 }),
      lines: fc.array(
        fc.record({
          product: fc.constantFrom("p1", "p2", "p3"),
          name: fc.constantFrom("Brown", "Navy", "Red"),
          price: fc.constantFrom("", "5", "6.5"),
          image: fc.constantFrom("", "front", "back"),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((orders) => orders.flatMap(({ day, lines }, order): Row[] => lines.map((line) => ({ order, day, ...line }))));

let pipeline: Pipeline;
afterEach(() => pipeline[Symbol.asyncDispose]());

/** Imports rows, with an interruption after some calls, and resumes. */
async function importRows(
  rows: readonly Row[],
  options: Partial<ImportOptions>,
  { after = Number.POSITIVE_INFINITY, service = pipeline.service } = {},
) {
  const stop = new AbortController();
  let calls = 0;
  const massCreate: Service["orders"]["massCreate"] = (input, more) => {
    if (++calls > after) stop.abort();
    return service.orders.massCreate(input, more);
  };
  const watched = { ...service, orders: { ...service.orders, massCreate } };
  const openService = async () => ({ service: watched, concurrency: 3, keepsOrder: false, close: async () => {} });
  const first = await pipeline.run("orders", toCsv(rows), options, { openService, stop: stop.signal });
  if (first.state === "finished") return first;
  return pipeline.resume(first.import_id ?? "", {}, { openService });
}

/** The service without its extensions: it ignores what the specification does not define. */
function withoutExtensions({ core, orders, ...service }: Service): Service {
  const listProducts: Service["core"]["listProducts"] = async ({ details: _details, ...query }, options) =>
    core.listProducts(query, options);
  const massCreate: Service["orders"]["massCreate"] = async (input, options) => {
    const { update_products_since_id: _since, details: _details, orders: sent, ...others } = input;
    const plain = sent.map((order) => {
      const products = Object.entries(order.products as Readonly<Record<string, Readonly<Record<string, unknown>>>>);
      const known = products.map(
        ([id, { unit_prices: _prices, quantity: _quantity, currency_iso: _own, ...product }]) => [id, product],
      );
      return Object.assign({}, order, { products: Object.fromEntries(known) });
    });
    return orders.massCreate({ ...others, orders: plain }, options);
  };
  return { ...service, core: { ...core, listProducts }, orders: { ...orders, massCreate } };
}

const teapot = { name: "Teapot", url: "https://shop.example/products/teapot", price: "25.00", currency: "EUR" };
const stored = { ...teapot, image_url: null };
const rowOf = (row: Partial<Row>): Row => ({
  order: 1,
  day: 0,
  product: "p1",
  name: "Red",
  price: "",
  image: "",
  ...row,
});

async function storeTeapot(): Promise<void> {
  await pipeline.service.products.massCreate({ products: { teapot } });
}

/** The values of rows that differ from those of an export, found without the pipeline. */
async function findDifferences(rows: readonly Row[]): Promise<string[]> {
  const { purchases } = await pipeline.service.orders.list({ count: 100, details: true });
  const values = new Map(purchases.map((purchase) => [`${purchase.order_id} ${purchase.product_sku}`, purchase]));
  return rows.flatMap(({ order, product, name, image }, at) => {
    const found = values.get(`o-${order} ${product}`);
    const pairs = [
      ["product_name", name, found?.product_name],
      ["product_url", `https://shop.example/${name}`, found?.product_url],
      ["product_image", image && `https://shop.example/${image}.jpg`, found?.product_image],
    ];
    return pairs.flatMap(([column, own, other]) => (own !== "" && own !== other ? [`${at + 2} ${column}`] : []));
  });
}

describe.each(backends)("over $name", (backend) => {
  beforeEach(async () => {
    pipeline = await openPipeline([backend]);
  });

  const startAccount = async () => Object.assign(pipeline.service, (await pipeline.harness.newAccount()).service);

  test("new products have the values of their newest orders, in any order of rows, calls, and attempts", async () => {
    const batch = fc.integer({ min: 1, max: 4 });
    await fc.assert(
      fc.asyncProperty(someRows, batch, fc.nat(4), fc.boolean(), async (rows, batchSize, after, isPlain) => {
        await startAccount();
        const service = isPlain ? withoutExtensions(pipeline.service) : pipeline.service;
        await importRows(rows, { batchSize }, { after, service });
        const newest = newestValues(rows);
        const found = await listStored(pipeline.service);
        // Without extensions, a product has the currency of the last order.
        for (const [id, values] of isPlain ? Object.entries(newest) : [])
          Object.assign(values, { currency: found[id]?.currency });
        expect(found).toEqual(newest);
      }),
      { numRuns: 40 },
    );
  });

  test("verification lists exactly the rows whose values are not stored", async () => {
    await fc.assert(
      fc.asyncProperty(someRows, async (rows) => {
        await startAccount();
        const { import_id } = await importRows(rows, {});
        const { different } = await verifyImport(import_id ?? "", { maxListed: 1_000 }, pipeline.deps());
        const found = different.map(({ line, column }) => `${line} ${column}`);
        expect(found.toSorted()).toEqual((await findDifferences(rows)).toSorted());
      }),
      { numRuns: 20 },
    );
  });

  test.each([false, true])("existing products are not changed, also without extensions: %s", async (isPlain) => {
    await storeTeapot();
    const service = isPlain ? withoutExtensions(pipeline.service) : pipeline.service;
    const rows = [
      rowOf({ order: 1, product: "teapot", name: "Blue", price: "19.99", image: "blue" }),
      rowOf({ order: 2, product: "teapot", name: "Green", price: "", image: "green", day: 2 }),
      rowOf({ order: 2, product: "new", name: "Cup", price: "3", day: 2 }),
    ];
    await importRows(rows, { batchSize: 1 }, { after: 1, service });
    expect(await listStored(pipeline.service)).toMatchObject({ teapot: stored, new: { name: "Cup", price: "3" } });
    // The price of a purchase is the order's.
    const { purchases } = await pipeline.service.orders.list({ count: 100, details: true });
    if (!isPlain) expect(purchases.map(({ product_price }) => product_price)).toEqual(["19.99", null, "3"]);
  });

  test("--update-products changes existing products to the values of their newest orders", async () => {
    await storeTeapot();
    const rows = [
      rowOf({ order: 1, product: "teapot", name: "New", price: "30", day: 4 }),
      rowOf({ order: 2, product: "teapot", name: "Old", price: "20", day: 2 }),
    ];
    await importRows(rows, { updateProducts: true });
    expect((await listStored(pipeline.service))["teapot"]).toMatchObject({ name: "New", price: "30" });
  });

  test("a service that does not list its products is announced before anything is sent", async () => {
    const { service } = pipeline;
    const listProducts = async () => Promise.reject(new ServiceError("recordNotFound", "not found"));
    const rows = [1, 2, 3].map((order) => rowOf({ order, product: `p${order % 2}` }));
    await importRows(rows, {}, { service: { ...service, core: { ...service.core, listProducts } } });
    expect(pipeline.notices().filter((text) => /\b2 products\b/.test(text))).toHaveLength(1);
    expect(Object.keys(await listStored(service))).toEqual(["p1", "p0"]);
  });

  test("products with several names, prices, and URLs are counted, with examples", async () => {
    const rows = Array.from({ length: 30 }, (_, at) =>
      rowOf({ order: at, product: `p${at % 15}`, name: at < 15 ? "Brown" : "Navy", price: at === 29 ? "6" : "5" }),
    );
    await importRows(rows, {});
    const [named, priced, linked] = pipeline.notices();
    expect(named).toMatch(/^15 products .*p0 \(Brown; Navy\).* 12 more.*--product-id-from/);
    expect(priced).toMatch(/^1 product .*p14 \(5; 6\)/);
    expect(linked).toMatch(/^15 products /);
  });
});
