import { describe, expect, test } from "vitest";
import { isItem, type Item } from "../../../../src/import/item.ts";
import { kinds } from "../../../support/record-kinds.ts";

const behavior = kinds.get("orders").prepare({ dryRun: true, map: {} });

const head = { order_id: "1", email: "ann@mail.example", customer_name: "Ann", order_date: "2026-01-02" };

interface Product {
  readonly price: number | string;
  readonly quantity?: number;
}

/** Reads a row of an order, which is valid. */
function readRow(cells: Readonly<Record<string, string>>, line = 1, dropped: string[] = []): Item {
  const row: Readonly<Record<string, string>> = {
    ...head,
    product_name: "Pot",
    product_url: "https://shop.example/pot",
    ...cells,
  };
  const source = { file: 0, line, cells: Object.values(row) };
  const item = behavior.read(
    (field) => row[field] ?? "",
    source,
    (field) => dropped.push(field),
    [],
  );
  if (!isItem(item)) throw new Error(JSON.stringify(item));
  return item;
}

function productsOf({ payload }: Item): Readonly<Record<string, Product>> {
  return (payload as { readonly products: Readonly<Record<string, Product>> }).products;
}

/** Joins rows to an order. Returns it, and the number of rows that were refused. */
function joinRows(rows: readonly Readonly<Record<string, string>>[]): { order: Item; refused: number } {
  const [first, ...others] = rows.map((cells, at) => readRow(cells, at + 2));
  if (!first) throw new Error("no rows");
  const problems = others.flatMap((next) => behavior.join?.(first, next, "line") ?? []);
  expect(new Set(problems.map(({ code }) => code)).size).toBeLessThanOrEqual(1);
  return { order: first, refused: problems.length };
}

test.each([
  ["12.50", 12.5],
  ["0", 0],
  ["0.00", 0],
  ["0.000001", 0.000001],
  ["0.0000009", "0.0000009"],
  ["123456789012345", 123_456_789_012_345],
  ["00000123456789012345", 123_456_789_012_345],
  ["1234567890123.45", 1_234_567_890_123.45],
  ["1234567890123456", "1234567890123456"],
])("the price %s is sent as %s, which loses no digit", (given, sent) => {
  expect(productsOf(readRow({ product_id: "pot", product_price: given }))["pot"]?.price).toBe(sent);
});

test.each([
  ["de_AT", "de", []],
  ["zh-CN", "zh-Hans", []],
  ["tlh", undefined, ["language"]],
  ["", undefined, []],
])("the language %s is sent as %s, without %j", (given, sent, expected) => {
  const dropped: string[] = [];
  const { payload } = readRow({ product_id: "pot", language: given }, 1, dropped);
  expect([(payload as { readonly language?: string }).language, dropped]).toEqual([sent, expected]);
});

describe("an order has at most", () => {
  const rowOf = (id: number, quantity?: number) => ({
    product_id: `p${id}`,
    ...(quantity !== undefined && { quantity: String(quantity) }),
  });
  const rowsOf = (count: number) => Array.from({ length: count }, (_, id) => rowOf(id));

  test("1,000 products", () => {
    const { order, refused } = joinRows([...rowsOf(1_001), rowOf(0)]);
    expect([Object.keys(productsOf(order)).length, refused]).toEqual([1_000, 1]);
    expect(productsOf(order)["p0"]?.quantity).toBe(2);
  });

  test("1,000 products, each of which may have several rows", () => {
    const { order, refused } = joinRows([...rowsOf(500), ...rowsOf(500), ...rowsOf(600)]);
    expect([Object.keys(productsOf(order)).length, order.rows.length, refused]).toEqual([600, 1_600, 0]);
  });

  test("5,000 units", () => {
    const full = [0, 1, 2, 3, 4].map((id) => rowOf(id, 1_000));
    expect(joinRows(full).refused).toBe(0);
    const { order, refused } = joinRows([...full, rowOf(5), rowOf(0, 1)]);
    expect([Object.keys(productsOf(order)).length, order.rows.length, refused]).toEqual([5, 6, 1]);
  });
});

test("the size of an order is that of its rows", () => {
  const { order } = joinRows([{ product_id: "pot" }, { product_id: "cup" }]);
  expect(order.size).toBe(readRow({ product_id: "pot" }).size + readRow({ product_id: "cup" }).size);
});
