import { expect, test } from "vitest";
import type { Item } from "../../../../src/import/item.ts";
import { isConflicting, writesOf } from "../../../../src/import/send/overlapping-writes.ts";
import { kinds } from "../../../support/record-kinds.ts";

const behavior = kinds.get("orders").prepare({ dryRun: true, map: {} });

const product = { name: "Pot", url: "https://shop.example/pot" };

/** A call with one order, as another file of the run may repeat it. */
function chunkOf(order_id: string, payload: Readonly<Record<string, unknown>>) {
  const full = { order_id, email: "ann@mail.example", customer_name: "Ann", order_date: "2026-01-02", ...payload };
  const item: Item = { key: order_id, batchKey: "general", rows: [], size: 1, payload: full };
  return { n: 0, items: [item], extent: "" };
}

test("orders are sent one after another if they repeat an order with other values, or write a product differently", () => {
  const first = chunkOf("1", { products: { pot: product } });
  const conflicts = (order_id: string, payload: Readonly<Record<string, unknown>>) =>
    isConflicting(writesOf(first, behavior), writesOf(chunkOf(order_id, payload), behavior));
  expect(conflicts("1", { products: { pot: product } })).toBe(false);
  expect(conflicts("1", { products: { pot: product }, customer_name: "Bob" })).toBe(true);
  expect(conflicts("1", { products: { cup: product } })).toBe(true);
  expect(conflicts("2", { products: { pot: product }, customer_name: "Bob" })).toBe(false);
  expect(conflicts("2", { products: { pot: { ...product, name: "Teapot" } } })).toBe(true);
  expect(conflicts("2", { products: { pot: { ...product, quantity: 2 } } })).toBe(false);
  expect(conflicts("2", { products: { pot: { ...product, unit_prices: [1] } } })).toBe(false);
  expect(conflicts("2", { products: { pot: { ...product, quantity: 2, price: 1 } } })).toBe(true);
});
