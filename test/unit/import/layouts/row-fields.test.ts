import { describe, expect, test } from "vitest";
import type { Layout } from "../../../../src/import/layouts/layout.ts";
import { type FieldSupply, RowFields } from "../../../../src/import/layouts/row-fields.ts";

const header = ["Order ID", "First", "Last", "Company", "Items", "price", "price"];
const layout: Layout = {
  name: "shop",
  title: "a shop export",
  signatures: [],
  fields: {
    order_id: { from: ["Order ID"] },
    customer_name: { from: [["First", "Last"], "Company"] },
    sku: { from: ["Sku"] },
    note: { from: ["Company", "Last"], isOneColumn: true },
    quantity: { from: ["Order ID"], countsAsEmpty: (value) => value === "-", as: (value) => `${value}!` },
  },
  constants: { platform: "general", currency_iso: "EUR" },
};
const withLines: Layout = {
  ...layout,
  lines: {
    column: (names) => names.find((name) => name === "Items"),
    read: (cell) =>
      cell("items")
        .split(";")
        .map((sku) => ({ SKU: sku })),
  },
};

const fieldsOf = (supply: Partial<FieldSupply> = {}) =>
  new RowFields(header, {
    layout,
    mapped: new Map(),
    named: new Map(),
    set: new Map(),
    supplied: {},
    dateOrder: undefined,
    ...supply,
  });
const row = (...cells: string[]) => ({ cells });
const none = () => "";

describe("the value of a field", () => {
  test.each([
    ["order_id", [" 7 "], "7"],
    ["order_id", ["'=7"], "=7"],
    ["order_id", ["#REF!"], "#REF!"],
    ["order_id", [], ""],
    ["customer_name", ["", "Ann", "Lee", "Inc"], "Ann Lee"],
    ["customer_name", ["", " Ann ", " ", "Inc"], "Ann"],
    ["customer_name", ["", "", "", " Inc "], "Inc"],
    ["customer_name", ["", "", "'=Lee"], "=Lee"],
    ["note", ["", "", "Lee", ""], ""],
    ["sku", ["7", "A"], ""],
    ["quantity", ["7"], "7!"],
    ["quantity", ["-"], ""],
    ["quantity", ["#N/A"], "#N/A"],
    ["unknown", ["7"], ""],
  ])("%s of %j is %j", (field, cells, value) => {
    expect(fieldsOf().given(field, row(...cells), none)).toBe(value);
  });

  test("comes from a mapped column first, and from a named one last", () => {
    const fields = fieldsOf({
      mapped: new Map([
        ["order_id", 1],
        ["quantity", 2],
      ]),
      named: new Map([
        ["order_id", 2],
        ["city", 3],
      ]),
    });
    const cells = row("7", "A", "B", "C");
    expect(["order_id", "quantity", "city"].map((field) => fields.given(field, cells, none))).toEqual(["A", "B!", "C"]);
  });

  test("that no cell gives is set, given by a flag, a constant, or a URL", () => {
    const make = (_: unknown, cell: (column: string) => string) => `https://shop.example/${cell("order-id")}`;
    const fields = fieldsOf({
      set: new Map([["platform", "set"]]),
      supplied: { platform: "supplied", currency_iso: "USD" },
      url: { field: "product_url", make },
    });
    const found = ["platform", "currency_iso", "product_url", "other"].map((field) =>
      fields.supplied(field, row("7"), none),
    );
    expect(found).toEqual(["set", "USD", "https://shop.example/7", ""]);
    expect(fieldsOf().supplied("platform", row("7"), none)).toBe("general");
  });
});

describe("a cell by its column", () => {
  test.each([
    ["order id", " 7 ", "7"],
    ["ORDER_ID", "'=7", "=7"],
    ["price", "1", ""],
    ["none", "7", ""],
  ])("%s of %j is %j", (column, cell, value) => {
    expect(fieldsOf().cellView(row(cell))(column)).toBe(value);
  });

  test("is the first of that name, and that of a line first", () => {
    const fields = fieldsOf();
    expect(fields.cellView(row("", "", "", "", "", "1", "2"))("price")).toBe("1");
    const part = new Map([["orderid", "8"]]);
    expect(fields.cellView({ cells: ["7", "A"], part })("Order ID")).toBe("8");
    expect(fields.cellView({ cells: ["7", "A"], part })("First")).toBe("A");
    expect(fields.familyOf((cell) => ({ key: cell("first") }))(["7", "A"])).toEqual({ key: "A" });
  });
});

describe("the column of a field", () => {
  test.each([
    ["order_id", [], 0],
    ["customer_name", [], 1],
    ["customer_name", ["", "", " ", ""], 1],
    ["customer_name", ["", "", "Lee", "Inc"], 1],
    ["customer_name", ["", "", " ", "Inc"], 3],
    ["note", ["", "", "Lee"], 3],
    ["sku", ["7"], undefined],
    ["unknown", ["7"], undefined],
  ])("%s of %j is %j", (field, cells, at) => {
    expect(fieldsOf().columnOf(field, cells)).toBe(at);
  });

  test("of a line is that of all lines", () => {
    const fields = fieldsOf({ layout: withLines });
    expect([fields.columnOf("sku", ["7"]), fields.columnOf("order_id", ["7"]), fields.columnOf("unknown")]).toEqual([
      4,
      0,
      undefined,
    ]);
  });
});

test("lines are read from their cell, by normalized names", () => {
  const parts = fieldsOf({ layout: withLines }).partsOf(["7", "", "", "", "a;b"]) ?? [];
  expect(parts.map((part) => [...part])).toEqual([[["sku", "a"]], [["sku", "b"]]]);
  expect(fieldsOf().partsOf(["7"])).toBeUndefined();
  const [part] = parts;
  expect(fieldsOf({ layout: withLines }).given("sku", { cells: ["7"], part }, none)).toBe("a");
});

test.each([
  [["none", "Order_ID", "First"], 0],
  [["none"], undefined],
])("rows are grouped by the first of the columns %j that the file has", (columns, at) => {
  const groups = { by: { columns }, makes: "lines" } as const;
  expect(fieldsOf({ layout: { ...layout, groups }, mapped: new Map([["order_id", 3]]) }).groupColumn).toBe(at);
  expect(fieldsOf({ layout: { ...layout, groups: { ...groups, by: { start: () => true } } } }).groupColumn).toBe(
    undefined,
  );
  expect(fieldsOf().groupColumn).toBeUndefined();
});
