import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RowView } from "../../../../src/import/item.ts";
import { LineItems, readProduct } from "../../../../src/records/orders/line-item.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

const header = ["product_id", "product_name", "product_url", "product_price", "order_id"] as const;
const pot = ["pot", "Pot", "https://shop.example/pot", "1.50"];

/** A reader of rows with these columns, directly or, as with a layout, without columns. */
function createReader(columns: readonly string[] = header, { isLayout = false } = {}) {
  const lineItems = new LineItems();
  const columnOf = new Map(columns.map((name, at) => [name, at]));
  const read = (cells: readonly string[], order = "1") => {
    const all = [...cells, order];
    const row: RowView = (field) => (all[columnOf.get(field) ?? -1] ?? "").trim();
    if (!isLayout) row.columnOf = columnOf;
    const known = lineItems.find(row, all);
    if (known) return { product: known.product, isKnown: true };
    const product = readProduct(row, [], () => {}) ?? expect.unreachable();
    return { product: lineItems.add(row, all, { product, units: 1 }), isKnown: false };
  };
  return read;
}

describe.each([false, true])("line items with the same cells (layout: %s)", (isLayout) => {
  test("share one product, which cannot be changed", () => {
    const read = createReader(header, { isLayout });
    const [first, second] = [read(pot, "1"), read(pot, "2")];
    expect([first.isKnown, second.isKnown]).toEqual([false, true]);
    expect(second.product).toBe(first.product);
    expect(first.product).toEqual({ name: "Pot", url: "https://shop.example/pot", image: "", price: 1.5 });
    expect(Object.isFrozen(first.product)).toBe(true);
  });

  test.each([1, 2, 3])("do not if column %i differs", (column) => {
    const read = createReader(header, { isLayout });
    read(pot);
    const other = read(pot.with(column, column === 2 ? "https://shop.example/b" : "2"));
    expect(other.isKnown).toBe(false);
    expect(Object.isFrozen(other.product)).toBe(false);
    expect(read(pot).isKnown).toBe(true);
  });

  test("are replaced by those that follow twice", () => {
    const read = createReader(header, { isLayout });
    const dearer = pot.with(3, "2");
    expect([pot, dearer, dearer, dearer].map((cells) => read(cells).isKnown)).toEqual([false, false, false, true]);
    expect(read(pot).isKnown).toBe(false);
  });
});

test("cells that are not used as they are may have to be reported, so their line items are not remembered", () => {
  const read = createReader();
  const padded = pot.with(1, " Pot ");
  expect([padded, padded].map((cells) => read(cells).isKnown)).toEqual([false, false]);
});

test("at most 10,000 are remembered", () => {
  const read = createReader();
  for (let at = 0; at < 10_000; at++) read(pot.with(0, `p${at}`));
  read(pot);
  expect(read(pot).isKnown).toBe(false);
  expect(read(pot.with(0, "p9999")).isKnown).toBe(true);
});

test("long ones are remembered up to a total length", () => {
  const read = createReader();
  const long = pot.with(2, `https://shop.example/${"a".repeat(2_000)}`);
  for (let at = 0; at < 2_000; at++) read(long.with(0, `p${at}`));
  expect([read(long.with(0, "p0")), read(long.with(0, "p1999"))].map(({ isKnown }) => isKnown)).toEqual([true, false]);
});

describe("an import of rows with the same line item", () => {
  let pipeline: Pipeline;
  beforeAll(async () => {
    pipeline = await openPipeline();
  });
  afterAll(() => pipeline[Symbol.asyncDispose]());

  const columns = "order_id,order_date,customer_name,email,product_id,product_name,product_url,product_description";
  const rows = (line: string) =>
    ["a", "b", "c"].map((id) => `${id},2026-01-02,Ann,ann@mail.example,${line}`).join("\n");

  test("rejects each of them for a damaged value", async () => {
    const line = "pot,Pot,https://shop.example/pot,#REF!";
    const { rows: counts } = await pipeline.run("orders", `${columns}\n${rows(line)}\n`);
    expect(counts).toMatchObject({ read: 3, accepted: 0, rejected: 3 });
  });

  test("reports a dropped value of each", async () => {
    const before = pipeline.notices().length;
    const line = "pot,Pot,https://shop.example/pot,,a b";
    const { rows: counts } = await pipeline.run("orders", `${columns},upc\n${rows(line)}\n`);
    expect(counts).toMatchObject({ accepted: 3 });
    expect(pipeline.notices().slice(before).join("\n")).toMatch(/^3 cells were dropped/m);
  });
});
