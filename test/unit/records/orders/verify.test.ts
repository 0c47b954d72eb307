import { expect, test } from "vitest";
import type { Item } from "../../../../src/import/item.ts";
import { storedOrders } from "../../../../src/records/orders/verify.ts";

test("of two rows for a product, each needs its share of the units, rounded up", () => {
  const rows = [2, 3].map((line) => ({ file: 0, line, cells: [] }));
  const payload = { products: { pot: { name: "Pot", quantity: 3 } } };
  const parts = rows.map((row) => ({ id: "pot", row, record: payload.products.pot }));
  const item: Item = { key: "1001", batchKey: "general", rows, size: 1, payload, parts };
  const needs = [...storedOrders.expected(item)].filter(({ needs: units }) => units > 0).map((one) => one.needs);
  expect(needs).toEqual([2, 3]);
});
