import { expect, it } from "vitest";
import type { InputOf } from "../../src/service/transport.ts";
import { describeBackends, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOrders } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";

const dayMs = 24 * 3_600_000;

describeBackends("searching orders", (harness) => {
  const find = async ({ service }: TestAccount, query: InputOf<"orders.search">) =>
    (await service.orders.search(query)).purchases.map(({ order_id, product_sku }) => `${order_id} ${product_sku}`);

  it("finds the lines of orders by address, ID, and time", async () => {
    const account = await harness().newAccount();
    const startMs = harness().clock();
    const products = { teapot: anOrderedProduct(), pan: anOrderedProduct() };
    const orders = [
      anOrder({ order_id: "a", email: "Ann@mail.example" }),
      anOrder({ order_id: "b", email: "bo@mail.example", products }),
      anOrder({ order_id: "c", email: "ann@MAIL.example" }),
    ];
    for (const order of orders) {
      await account.service.orders.massCreate(bulkOrders([order]));
      harness().clock.advance(dayMs);
    }
    const at = (days: number) => new Date(startMs + days * dayMs).toISOString();
    const all = ["c teapot", "b pan", "b teapot", "a teapot"];
    expect(await find(account, {})).toEqual(all);
    expect(await find(account, { sort: "oldest" })).toEqual(all.toReversed());
    expect(await find(account, { email: "ann@mail.example" })).toEqual(["c teapot", "a teapot"]);
    expect(await find(account, { email: "nobody@mail.example" })).toEqual([]);
    expect(await find(account, { order_id: "b" })).toEqual(["b pan", "b teapot"]);
    expect(await find(account, { order_id: "b", email: "ann@mail.example" })).toEqual([]);
    expect(await find(account, { product_id: "pan" })).toEqual(["b pan"]);
    expect(await find(account, { product_id: "teapot", sort: "oldest" })).toEqual(["a teapot", "b teapot", "c teapot"]);
    expect(await find(account, { product_id: "teapot", email: "bo@mail.example" })).toEqual(["b teapot"]);
    expect(await find(account, { product_id: "teapot", since_date: at(1) })).toEqual(["c teapot", "b teapot"]);
    expect(await find(account, { product_id: "lid" })).toEqual([]);
    expect(await find(account, { since_date: at(1) })).toEqual(all.slice(0, 3));
    expect(await find(account, { since_date: at(1.1) })).toEqual(["c teapot"]);
    expect(await find(account, { since_date: at(9) })).toEqual([]);
    expect(await find(account, { until_date: at(1) })).toEqual(["a teapot"]);
    expect(await find(account, { since_date: at(0.5), until_date: at(1.5) })).toEqual(["b pan", "b teapot"]);
    expect(await find(account, { until_date: at(0) })).toEqual([]);

    const first = await account.service.orders.search({ limit: 3 });
    const rest = await account.service.orders.search({ page_info: first.pagination.next_page_info ?? "" });
    expect(rest.purchases.map(({ order_id }) => order_id)).toEqual(["a"]);
    expect(rest.pagination).toEqual({ next_page_info: null });
    expect((await account.service.orders.search({ limit: 0 })).purchases).toHaveLength(1);
    await expect(account.service.orders.search({ page_info: "1" })).rejects.toMatchObject(invalidField("page_info"));
  });

  it("returns an order with its products", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const products = {
      teapot: anOrderedProduct({ quantity: 2, price: "12.50" }),
      pan: anOrderedProduct({ name: "Pan" }),
    };
    await account.service.orders.massCreate(
      bulkOrders([anOrder({ products, currency_iso: "EUR" })], { send_mail: false }),
    );
    const { order } = await account.service.orders.get({ order_id: "1001" });
    expect(order).toMatchObject({
      order_id: "1001",
      email: "ann@mail.example",
      customer_name: "Ann",
      order_date: "2026-03-01T00:00:00.000Z",
      currency_iso: "EUR",
      platform: "general",
      send_mail: false,
    });
    expect(order.products).toEqual([
      { product_id: "teapot", name: "Teapot", url: expect.any(String), quantity: 2, price: "12.50", review_id: null },
      { product_id: "pan", name: "Pan", url: expect.any(String), quantity: 1, price: null, review_id: null },
    ]);
    await expect(other.service.orders.get({ order_id: "1001" })).rejects.toMatchObject({ kind: "recordNotFound" });
  });
});
