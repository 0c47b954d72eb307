import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyImport } from "../../../../src/import/verify/verify.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline[Symbol.asyncDispose]());

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url,product_price\n";
const line = (order: string, product: string, name = "Ann", title = product) =>
  `${order},2026-01-02,${name},ann@mail.example,${product},${title},https://shop.example/${product},10\n`;

async function verify(id: string | null, maxListed = 100) {
  const missing = join(pipeline.folder, "missing.csv");
  const found = await verifyImport(id ?? "", { maxListed, missing }, pipeline.deps());
  const rows = found.missing.map(({ line: at, reason }) => [at, reason]);
  const values = found.different.map(({ line: at, column, expected, stored }) => [at, column, expected, stored]);
  return { ...found, rows, values };
}

test("an unchanged run has no differences, and a second import changes nothing", async () => {
  const rows = header + line("o-1", "p-1") + line("o-1", "p-1") + line("o-2", "p-1", "Bo");
  const first = await pipeline.run("orders", rows, { verify: true });
  expect(first.items).toMatchObject({ accepted: 2, created: 2, changed: 0, unchanged: 0 });
  expect(first.verified).toMatchObject({ checked: { rows: 3, items: 2 }, missing_count: 0, different_count: 0 });
  const second = await pipeline.run("orders", rows, { verify: true });
  expect(second.items).toMatchObject({ accepted: 2, created: 0, changed: 0, unchanged: 2 });
  expect(second.verified).toMatchObject({ missing_count: 0, different_count: 0, missing_file: null });
});

test("missing rows and different values are found together, also in a store with older records", async () => {
  const rows = header + line("o-1", "p-1") + line("o-2", "p-2") + line("o-3", "p-3", "Bo");
  await pipeline.run("orders", rows);
  pipeline.harness.clock.advance(10 * 86_400_000);
  const { import_id } = await pipeline.run("orders", rows);
  const { db } = pipeline.harness.database;
  const second = db.selectFrom("orders").select("id").where("order_id", "=", "o-2");
  await db.deleteFrom("purchases").where("order_row", "=", second).execute();
  await db.updateTable("orders").set({ customer_name: "Eve" }).where("order_id", "=", "o-3").execute();
  const found = await verify(import_id);
  expect(found).toMatchObject({ missing_count: 1, different_count: 1 });
  expect(found.rows).toEqual([[3, "is not stored"]]);
  expect(found.values).toEqual([[4, "customer_name", "Bo", "Eve"]]);
  const file = pipeline.read("missing.csv");
  expect(file).toMatch(/,not_there,/);
  expect(file).toMatch(/,differs,/);
  expect(file).not.toContain("o-1");
});

test("each row is compared with the product that it names", async () => {
  const rows = header + line("o-1", "p-1", "Ann", "First") + line("o-2", "p-1", "Ann", "Second");
  const { import_id } = await pipeline.run("orders", rows);
  const rename = (name: string) => pipeline.harness.database.db.updateTable("products").set({ name }).execute();
  expect((await verify(import_id)).values).toEqual([[2, "product_name", "First", "Second"]]);
  await rename("First");
  expect((await verify(import_id)).values).toEqual([[3, "product_name", "Second", "First"]]);
  await rename("Third");
  expect((await verify(import_id)).values).toEqual([
    [2, "product_name", "First", "Third"],
    [3, "product_name", "Second", "Third"],
  ]);
});

test("no more rows are listed than requested, but all are counted and written", async () => {
  const rows = Array.from({ length: 6 }, (_, at) => line(`o-${at}`, "p-1")).join("");
  const { import_id } = await pipeline.run("orders", header + rows);
  await pipeline.harness.database.db.updateTable("orders").set({ customer_name: "Eve" }).execute();
  const found = await verify(import_id, 2);
  expect([found.different.length, found.different_count]).toEqual([2, 6]);
  expect(pipeline.read("missing.csv").match(/differs/g)).toHaveLength(6);
});

test("rows of a product that overwrite each other are verified and imported together", async () => {
  const content = "product_id,name,url,price\np-1,First,https://shop.example/1,1\np-1,Second,https://shop.example/1,\n";
  const { import_id, items } = await pipeline.run("products", content);
  expect(items).toMatchObject({ sent: 1, accepted: 1, created: 1 });
  await pipeline.service.products.massUpdate({ products: { "p-1": { name: "First", price: "2" } } });
  const found = await verify(import_id);
  expect(found.values).toEqual([
    [3, "name", "Second", "First"],
    [2, "price", "1", "2"],
  ]);
  const again = await pipeline.run("products", pipeline.read("missing.csv"));
  expect(again.items).toMatchObject({ accepted: 1, created: 0, changed: 1 });
  pipeline.write("products.csv", content);
  expect((await verify(import_id)).different_count).toBe(0);
});
