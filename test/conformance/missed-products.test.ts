import { expect, it } from "vitest";
import { maxLength } from "../../src/contract/index.ts";
import { describeBackends, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOrders } from "../support/builders.ts";

async function missedOf({ service }: TestAccount, query: Record<string, unknown> = {}) {
  const { missed_products } = await service.products.missed({ missed_products_ids: "all", ...query });
  return missed_products;
}

const line = (...ids: string[]) =>
  Object.fromEntries(ids.map((id) => [id, anOrderedProduct({ name: `Product ${id}` })]));

function send({ service }: TestAccount, ...orders: Record<string, unknown>[]) {
  return service.orders.massCreate(bulkOrders(orders.map((fields) => anOrder(fields))));
}

describeBackends("missed products of orders", (harness) => {
  it("stores the product IDs that orders could not use, with their orders", async () => {
    const account = await harness().newAccount();
    await send(account, { products: line("a b", "ok", "a/b") });
    expect(await missedOf(account)).toEqual([
      {
        id: expect.any(Number),
        product_name: "Product a b",
        product_sku: "a b",
        user_email: "ann@mail.example",
        user_display_name: "Ann",
        missed_product_date: "2026-03-15T12:00:00.000Z",
        order_id: "1001",
        purchase_date: "2026-03-01T00:00:00.000Z",
        mail_delivery_date: null,
      },
      expect.objectContaining({ product_sku: "a/b" }),
    ]);
    const { purchases } = await account.service.orders.list({});
    expect(purchases.map(({ product_sku }) => product_sku)).toEqual(["ok"]);
  });

  it("stores them even if no product of the order remains and the order is not created", async () => {
    const account = await harness().newAccount();
    await send(account, { order_id: "none", products: line("é") });
    await account.service.orders.create({
      platform: "general",
      ...anOrder({ order_id: "single", order_date: undefined, products: line("a b") }),
    });
    expect(await missedOf(account)).toMatchObject([
      { order_id: "none", product_sku: "é" },
      { order_id: "single", product_sku: "a b", purchase_date: "2026-03-15T12:00:00.000Z" },
    ]);
    expect(await account.service.orders.list({})).toEqual({ purchases: [], total_purchases: 0 });
  });

  it("stores a line of an order once, however often it is sent", async () => {
    const account = await harness().newAccount();
    const order = { order_id: "1", products: line("a b") };
    await send(account, order, order);
    const [first] = await missedOf(account);
    harness().clock.advance(1_000);
    await send(account, { ...order, customer_name: "Bea" });
    await send(account, { ...order, order_id: "2" });
    const found = await missedOf(account);
    expect(found[0]).toEqual(first);
    expect(found.map(({ order_id }) => order_id)).toEqual(["1", "2"]);
  });

  it("stores none of an invalid order", async () => {
    const account = await harness().newAccount();
    await send(account, { email: "nobody", products: line("a b") });
    await send(account, { products: { ...line("a b"), bad: { name: "" } } });
    await account.service.orders.massCreate(
      bulkOrders([anOrder({ order_date: undefined, products: line("a b") })], { validate_data: true }),
    );
    expect(await missedOf(account)).toEqual([]);
  });

  it("stores any product as far as possible", async () => {
    const account = await harness().newAccount();
    const long = "x".repeat(maxLength.id);
    await send(account, {
      products: {
        "": { name: 5 },
        "null ": null,
        "text ": "text",
        "list ": [],
        "nul \u0000": { name: "N\u0000" },
        "half \ud800": { name: "\udc00 half" },
        [`${long}1`]: { name: "y".repeat(maxLength.name + 1) },
        [`${long}2`]: {},
        [`${"x".repeat(maxLength.id - 1)}🫖`]: {},
      },
    });
    const found = await missedOf(account);
    expect(found.map(({ product_sku, product_name }) => [product_sku, product_name])).toEqual([
      ["", ""],
      ["null ", ""],
      ["text ", ""],
      ["list ", ""],
      ["nul \ufffd", "N\ufffd"],
      ["half \ufffd", "\ufffd half"],
      [long, "y".repeat(maxLength.name)],
      [`${"x".repeat(maxLength.id - 1)}\ufffd`, ""],
    ]);
  });
});
