import { expect, it } from "vitest";
import { maxLength, maxQuantity, orderLimits, purchasePage } from "../../src/contract/index.ts";
import { type Harness, describeBackends, describeIsolated, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOrders } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

async function allPurchases({ service }: TestAccount) {
  return (await service.orders.list({ count: 5_000 })).purchases;
}

async function storedProduct({ database }: Harness, productId: string) {
  return database.db.selectFrom("products").selectAll().where("product_id", "=", productId).executeTakeFirst();
}

describeIsolated("orders.massCreate", (harness) => {
  it("stores orders, creates their unknown products, and returns a uuid", async () => {
    const account = await harness().newAccount();
    const { uuid, errors } = await account.service.orders.massCreate(bulkOrders([anOrder()]));
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(errors).toBeUndefined();
    expect(await allPurchases(account)).toEqual([
      {
        id: expect.any(Number),
        user_email: "ann@mail.example",
        user_name: "Ann",
        order_id: "1001",
        product_sku: "teapot",
        product_name: "Teapot",
        product_url: "https://shop.example/teapot",
        order_date: "2026-03-01T00:00:00.000Z",
        product_description: null,
        created_at: "2026-03-15T12:00:00.000Z",
      },
    ]);
  });

  it("stores order and product IDs unchanged", async () => {
    const account = await harness().newAccount();
    await account.service.orders.massCreate(
      bulkOrders([
        anOrder({ order_id: "000123 ", products: { "-007": anOrderedProduct() } }),
        anOrder({ order_id: 42 }),
      ]),
    );
    const found = await allPurchases(account);
    expect(found.map(({ order_id, product_sku }) => [order_id, product_sku])).toEqual([
      ["000123 ", "-007"],
      ["42", "teapot"],
    ]);
  });

  it("returns every problem when validating, and stores only valid orders", async () => {
    const account = await harness().newAccount();
    const { errors } = await account.service.orders.massCreate(
      bulkOrders(
        [
          anOrder({ order_id: "good" }),
          anOrder({
            order_id: "bad",
            email: "nobody",
            order_date: undefined,
            products: { pot: { name: "", url: "shop", specs: { upc: "1 2" } }, cup: aProduct() },
          }),
          anOrder({ order_id: undefined, products: {} }),
        ],
        { validate_data: true },
      ),
    );
    const named = errors?.map(({ order_num, order_id, field }) => [order_num, order_id, field]);
    expect(named).toEqual([
      [1, "bad", "email"],
      [1, "bad", "order_date"],
      [1, "bad", "products.pot.name"],
      [1, "bad", "products.pot.url"],
      [1, "bad", "products.cup.image"],
      [2, null, "order_id"],
      [2, null, "products"],
    ]);
    expect(errors?.[0]?.error).toContain("email address");
    expect((await allPurchases(account)).map(({ order_id }) => order_id)).toEqual(["good"]);
  });

  it("reports an invalid spec only when validating", async () => {
    const account = await harness().newAccount();
    const orders = [anOrder({ products: { cup: anOrderedProduct({ specs: { upc: "1 2", mpn: "N/A" } }) } })];
    const rejected = await account.service.orders.massCreate(bulkOrders(orders, { validate_data: true }));
    expect(rejected.errors?.map(({ field }) => field)).toEqual(["products.cup.specs.upc"]);
    expect(await allPurchases(account)).toEqual([]);
    await account.service.orders.massCreate(bulkOrders(orders));
    expect(await storedProduct(harness(), "cup")).toMatchObject({ upc: null, mpn: null });
  });

  it.each([true, false])("drops an unknown language, and normalizes others (validating: %s)", async (validate_data) => {
    const account = await harness().newAccount();
    const orders = ["tlh", "pt_PT"].map((language, at) => anOrder({ order_id: `${at}`, language }));
    const { errors, outcomes } = await account.service.orders.massCreate(
      bulkOrders(orders, { validate_data, details: true }),
    );
    expect(errors).toBeUndefined();
    expect(outcomes?.map(({ dropped }) => dropped?.map(({ field }) => field))).toEqual([["language"], undefined]);
    const { purchases } = await account.service.orders.list({ details: true });
    expect(purchases.map(({ order_id, language }) => [order_id, language])).toEqual([
      ["0", null],
      ["1", "pt-BR"],
    ]);
  });

  it.each([
    ["2026-03-01T23:30:00-05:00", "2026-03-01"],
    ["2026-03-02T00:30:00.123456+02:00", "2026-03-02"],
    ["2026-03-02 00:30", "2026-03-02"],
  ])("uses the day of the order date %s as written", async (order_date, day) => {
    const account = await harness().newAccount();
    const { errors } = await account.service.orders.massCreate(bulkOrders([anOrder({ order_date })]));
    expect(errors).toBeUndefined();
    expect((await allPurchases(account))[0]?.order_date).toBe(`${day}T00:00:00.000Z`);
  });

  it.each([undefined, null])("uses the time of the request for the order date %s", async (order_date) => {
    const account = await harness().newAccount();
    await account.service.orders.massCreate(bulkOrders([anOrder({ order_date })]));
    expect((await allPurchases(account))[0]?.order_date).toBe("2026-03-15T12:00:00.000Z");
  });

  it.each([
    [true, 0],
    [false, 1],
  ])("accepts at most 1,000 units of a product (validating: %s)", async (validate_data, units) => {
    const account = await harness().newAccount();
    const orders = [anOrder({ products: { cup: anOrderedProduct({ quantity: 1_001 }) } })];
    const { errors = [], outcomes } = await account.service.orders.massCreate(
      bulkOrders(orders, { validate_data, details: true }),
    );
    expect(await allPurchases(account)).toHaveLength(units);
    expect(errors.map(({ field }) => field)).toEqual(validate_data ? ["products.cup.quantity"] : []);
    expect(outcomes?.[0]?.dropped?.map(({ field }) => field)).toEqual(["products.cup.quantity"]);
  });

  it("stores 1,000 units of a product", async () => {
    const account = await harness().newAccount();
    const products = { cup: anOrderedProduct({ quantity: maxQuantity }) };
    await account.service.orders.massCreate(bulkOrders([anOrder({ products })], { validate_data: true }));
    expect(await allPurchases(account)).toHaveLength(1_000);
  });

  const productsOf = (count: number, fields: Parameters<typeof anOrderedProduct>[0] = {}) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, anOrderedProduct(fields)]));

  it.each([
    ["products", productsOf(orderLimits.products + 1)],
    ["units", productsOf(6, { quantity: 1_000 })],
  ])("rejects an order of too many %s, and stores the others", async (_, products) => {
    const account = await harness().newAccount();
    const orders = [anOrder({ products }), anOrder({ order_id: "other" })];
    const { errors } = await account.service.orders.massCreate(bulkOrders(orders, { validate_data: true }));
    expect(errors).toMatchObject([{ order_num: 0, field: "products" }]);
    expect((await allPurchases(account)).map(({ order_id }) => order_id)).toEqual(["other"]);
  });

  it("rejects further products of an order that has as many as allowed", async () => {
    const account = await harness().newAccount();
    const full = anOrder({ products: productsOf(5, { quantity: 1_000 }) });
    await account.service.orders.massCreate(bulkOrders([full]));
    for (const [products, isRejected] of [
      [{ more: anOrderedProduct() }, true],
      [productsOf(1, { price: 2 }), false],
    ] as const) {
      const order = bulkOrders([anOrder({ products })], { validate_data: true });
      const { errors } = await account.service.orders.massCreate(order);
      expect(errors !== undefined).toBe(isRejected);
    }
  });

  it.each([
    ["orders", Array.from({ length: orderLimits.ordersPerCall + 1 }, () => ({}))],
    ["products", Array.from({ length: 11 }, () => ({ products: productsOf(1_000) }))],
    ["units", Array.from({ length: 11 }, () => ({ products: { p: anOrderedProduct({ quantity: 1_000 }) } }))],
    [
      "elements",
      Array.from({ length: 6 }, () => ({ products: { ...productsOf(999), p: anOrderedProduct({ quantity: -1e9 }) } })),
    ],
    [
      "prices",
      Array.from({ length: 11 }, () => ({ products: productsOf(1, { unit_prices: Array(1_000).fill("x") }) })),
    ],
    [
      "problems",
      Array.from({ length: 10 }, () => ({ products: productsOf(1_000, { image: 0, price: {}, specs: 0 }) })),
    ],
  ])("rejects a call with too many %s", async (_, orders) => {
    const { service } = await harness().newAccount();
    const call = service.orders.massCreate(bulkOrders(orders.map((fields) => anOrder(fields))));
    await expect(call).rejects.toMatchObject({ kind: "invalidParams", message: expect.stringMatching(/^orders /) });
  });

  it("shortens an invalid order ID, which each error repeats", async () => {
    const { service } = await harness().newAccount();
    const order = anOrder({ order_id: "x".repeat(10_000), products: productsOf(2, { name: {} }) });
    const { errors } = await service.orders.massCreate(bulkOrders([order], { validate_data: true }));
    expect(errors?.map(({ order_id }) => order_id)).toEqual(Array(3).fill("x".repeat(maxLength.id)));
  });

  it("uses the last value of each product field, within a request and between requests", async () => {
    const account = await harness().newAccount();
    const first = {
      name: "Old",
      description: "Blue",
      price: "1",
      image: "https://i.example/1",
      specs: { upc: "0012" },
    };
    const later = { name: "New", url: "https://shop.example/new", description: "", price: 2.5 };
    await account.service.orders.massCreate(
      bulkOrders([
        anOrder({ order_id: "1", products: { cup: anOrderedProduct(first) } }),
        anOrder({ order_id: "2", products: { cup: anOrderedProduct(later) } }),
      ]),
    );
    const wanted = {
      name: "New",
      url: "https://shop.example/new",
      description: "Blue",
      price: "2.5",
      upc: "12",
    };
    expect(await storedProduct(harness(), "cup")).toMatchObject(wanted);
    await account.service.orders.massCreate(
      bulkOrders([anOrder({ order_id: "3", products: { cup: anOrderedProduct({ name: "Newest" }) } })]),
    );
    expect(await storedProduct(harness(), "cup")).toMatchObject({
      ...wanted,
      name: "Newest",
      url: aProduct()["url"],
    });
    expect((await allPurchases(account)).map(({ product_name }) => product_name)).toEqual(Array(3).fill("Newest"));
  });

  it("updates a product's updated_at only if something changed", async () => {
    const { service } = await harness().newAccount();
    const send = (order_id: string, name: string) =>
      service.orders.massCreate(bulkOrders([anOrder({ order_id, products: { cup: anOrderedProduct({ name }) } })]));
    await send("1", "Cup");
    const before = await storedProduct(harness(), "cup");
    harness().clock.advance(1_000);
    await send("2", "Cup");
    expect(await storedProduct(harness(), "cup")).toEqual(before);
    await send("3", "Mug");
    expect(await storedProduct(harness(), "cup")).toMatchObject({
      created_at: before?.created_at,
      updated_at: (before?.updated_at ?? 0) + 1_000,
    });
  });
});

describeBackends("orders.create", (harness) => {
  const single = (fields: Record<string, unknown> = {}) => ({
    platform: "shopify" as const,
    ...anOrder(fields),
  });

  it("stores a single order, without an image", async () => {
    const account = await harness().newAccount();
    const products = { cup: aProduct({ price: "3" }) };
    expect(await account.service.orders.create(single({ products, validate_data: true }))).toEqual({});
    expect(await allPurchases(account)).toMatchObject([{ product_sku: "cup" }]);
  });
});

describeBackends("orders.list", (harness) => {
  async function withOrders(count: number, from = 0) {
    const account = await harness().newAccount();
    await addOrders(account, count, from);
    return account;
  }

  function addOrders({ service }: TestAccount, count: number, from: number) {
    const ids = Array.from({ length: count }, (_, at) => String(from + at));
    return service.orders.massCreate(bulkOrders(ids.map((order_id) => anOrder({ order_id }))));
  }

  it("accepts a one-based page, and count purchases per page", async () => {
    const { service } = await withOrders(5);
    const page = async (query: object) => (await service.orders.list(query)).purchases.map(({ order_id }) => order_id);
    expect(await page({ count: "2", page: "1" })).toEqual(["0", "1"]);
    expect(await page({ count: 2, page: 3 })).toEqual(["4"]);
    expect(await page({ count: 2, page: 4 })).toEqual([]);
  });

  it("limits count to the maximum page size", async () => {
    const perCall = orderLimits.ordersPerCall;
    const account = await withOrders(1);
    const { service } = account;
    for (let from = 1; from <= purchasePage.max; from += perCall) {
      await addOrders(account, Math.min(perCall, purchasePage.max + 1 - from), from);
    }
    const { purchases, total_purchases } = await service.orders.list({ count: purchasePage.max * 10 });
    expect(purchases).toHaveLength(purchasePage.max);
    expect(total_purchases).toBe(purchasePage.max + 1);
  });

  it("accepts a timestamp as since_date, in the list and in the total", async () => {
    const account = await withOrders(2);
    harness().clock.advance(hourMs);
    await addOrders(account, 1, 10);
    harness().clock.advance(dayMs);
    await addOrders(account, 1, 20);
    const since = async (since_date: string) => {
      const { purchases, total_purchases } = await account.service.orders.list({ since_date });
      return [purchases.map(({ order_id }) => order_id), total_purchases];
    };
    expect(await since("2026-03-15T12:00:00Z")).toEqual([["0", "1", "10", "20"], 4]);
    expect(await since("2026-03-15T12:00:00.001Z")).toEqual([["10", "20"], 2]);
    expect(await since("2026-03-15T15:00:00+02:00")).toEqual([["10", "20"], 2]);
    expect(await since("2026-03-15T13:00:01")).toEqual([["20"], 1]);
    expect(await since("2026-03-16T13:00:01Z")).toEqual([[], 0]);
    expect(await since("2026-03-18T10:00:00Z")).toEqual([[], 0]);
  });

  it("lists by created_at, even after the clock was set back", async () => {
    const account = await withOrders(1);
    harness().clock.advance(-dayMs);
    await addOrders(account, 1, 10);
    const { purchases, total_purchases } = await account.service.orders.list({ since_date: "2026-03-15" });
    expect(purchases.map(({ order_id }) => order_id)).toEqual(["0"]);
    expect(total_purchases).toBe(1);
  });
});

describeIsolated("orders.cancelEmails", (harness) => {
  it("stores cancellations by order ID, for some products or for all, even before the order exists", async () => {
    const one = await harness().newAccount();
    const stop = {
      orders: [{ order_id: "1001", skus: ["teapot", "cup"] }, { order_id: "later" }, { order_id: "e", skus: [] }],
    };
    expect(await one.service.orders.cancelEmails(stop)).toEqual({});
    expect(await one.service.orders.cancelEmails(stop)).toEqual({});
    const stops = await harness()
      .database.db.selectFrom("mail_stops")
      .select(["order_id", "product_id"])
      .orderBy("order_id")
      .orderBy("product_id")
      .execute();
    expect(stops.map(({ order_id, product_id }) => [order_id, product_id])).toEqual([
      ["1001", "cup"],
      ["1001", "teapot"],
      ["e", ""],
      ["later", ""],
    ]);
    await one.service.orders.massCreate(bulkOrders([anOrder()]));
    expect(await allPurchases(one)).toHaveLength(1);
  });

  it("is refused for more than 10,000 products", async () => {
    const { service } = await harness().newAccount();
    const skus = Array.from({ length: 100 }, (_, n) => `sku${n}`);
    const orders = Array.from({ length: 100 }, (_, n) => ({ order_id: `o${n}`, skus }));
    const tooMany = service.orders.cancelEmails({ orders: [...orders, { order_id: "one" }] });
    await expect(tooMany).rejects.toMatchObject(invalidField("orders"));
    expect(await service.orders.cancelEmails({ orders })).toEqual({});
  });
});
