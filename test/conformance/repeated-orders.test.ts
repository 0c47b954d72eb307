import { expect, it } from "vitest";
import type { OutputOf } from "../../src/service/transport.ts";
import { describeBackends, describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOrders } from "../support/builders.ts";

type Fields = Record<string, unknown>;
type Outcomes = OutputOf<"orders.massCreate">["outcomes"];

const details = { details: true };

async function send({ service }: TestAccount, ...orders: readonly Fields[]): Promise<Outcomes> {
  return (await service.orders.massCreate(bulkOrders(orders.map(anOrder), details))).outcomes;
}

async function stored({ service }: TestAccount) {
  return (await service.orders.list({ count: 100, details: true })).purchases;
}

const cup = (fields: Fields = {}) => anOrderedProduct({ name: "Cup", ...fields });

describeIsolated("a repeated order", (harness) => {
  it("is unchanged if nothing differs", async () => {
    const account = await harness().newAccount();
    const order = {
      email: "Ann@mail.example",
      currency_iso: "EUR",
      user_reference: "u1",
      products: { cup: cup({ price: "5.50", quantity: 2 }) },
    };
    expect(await send(account, order)).toEqual([{ outcome: "created" }]);
    const before = await stored(account);
    const again = { ...order, email: "ann@MAIL.example", currency_iso: "eur", products: { cup: cup({ price: 5.5 }) } };
    expect(await send(account, order, again, { ...order, order_date: null })).toEqual(
      Array.from({ length: 3 }, () => ({ outcome: "unchanged" })),
    );
    expect(await stored(account)).toEqual(before);
  });

  it("replaces the fields that differ, and names them", async () => {
    const account = await harness().newAccount();
    await send(account, { currency_iso: "EUR", user_reference: "u1", products: { cup: cup({ price: "5" }) } });
    const [before] = await stored(account);
    const changes = {
      customer_name: "Bea",
      order_date: "2026-03-02",
      currency_iso: "USD",
      user_reference: "u2",
      products: { cup: cup({ price: "6", name: "Mug" }) },
    };
    expect(await send(account, changes)).toEqual([
      {
        outcome: "changed",
        fields: [
          "customer_name",
          "order_date",
          "currency_iso",
          "user_reference",
          "products.cup.price",
          "products.cup.name",
        ],
      },
    ]);
    expect(await stored(account)).toEqual([
      {
        ...before,
        user_name: "Bea",
        order_date: "2026-03-02T00:00:00.000Z",
        currency_iso: "USD",
        user_reference: "u2",
        product_price: "6",
        product_name: "Mug",
      },
    ]);
  });

  it("keeps the values that it does not specify", async () => {
    const account = await harness().newAccount();
    await send(account, { currency_iso: "EUR", user_reference: "u1", products: { cup: cup({ price: "5" }) } });
    const before = await stored(account);
    const less = { order_date: undefined, currency_iso: "", user_reference: null, products: { cup: cup() } };
    expect(await send(account, less)).toEqual([{ outcome: "unchanged" }]);
    expect(await stored(account)).toEqual(before);
  });

  it("keeps its platform, and the time of an unspecified date if a date of the same day is sent", async () => {
    const account = await harness().newAccount();
    await send(account, { order_date: null });
    const [before] = await stored(account);
    const same = anOrder({ order_date: "2026-03-15", customer_name: "Bea" });
    const { outcomes } = await account.service.orders.massCreate(
      bulkOrders([same], { ...details, platform: "shopify" }),
    );
    expect(outcomes).toEqual([{ outcome: "changed", fields: ["customer_name"] }]);
    expect(await stored(account)).toEqual([{ ...before, user_name: "Bea" }]);
  });

  it("adds products and keeps those that it does not name", async () => {
    const account = await harness().newAccount();
    await send(account, {});
    expect(await send(account, { products: { cup: cup() } })).toEqual([{ outcome: "changed", fields: ["products"] }]);
    expect((await stored(account)).map(({ product_sku }) => product_sku)).toEqual(["teapot", "cup"]);
    expect((await account.service.orders.list({})).total_purchases).toBe(2);
  });

  it("adds and removes units as its quantity says", async () => {
    const account = await harness().newAccount();
    const withUnits = (fields: Fields) => ({ products: { cup: cup(fields) } });
    const prices = async () => (await stored(account)).map(({ product_price }) => product_price);
    await send(account, withUnits({ quantity: 2, price: "5" }));
    const more = withUnits({ quantity: 3, price: "5" });
    expect(await send(account, more)).toEqual([{ outcome: "changed", fields: ["products.cup.quantity"] }]);
    expect(await prices()).toEqual(["5", "5", "5"]);
    const mixed = withUnits({ quantity: 3, unit_prices: ["5", "6", null] });
    expect(await send(account, mixed)).toEqual([{ outcome: "changed", fields: ["products.cup.price"] }]);
    expect(await prices()).toEqual(["5", "6", "5"]);
    // Services that do not know `quantity` send none.
    expect(await send(account, withUnits({ price: "5" }))).toEqual([{ outcome: "unchanged" }]);
    harness().clock.advance(86_400_000);
    await send(account, { ...withUnits({}), order_id: "1002" });
    const fewer = withUnits({ quantity: 1, price: "5" });
    expect(await send(account, fewer)).toEqual([{ outcome: "changed", fields: ["products.cup.quantity"] }]);
    const { purchases, total_purchases } = await account.service.orders.list({});
    expect(purchases.map(({ order_id }) => order_id)).toEqual(["1001", "1002"]);
    expect(total_purchases).toBe(2);
    expect((await account.service.orders.list({ since_date: "2026-03-16" })).total_purchases).toBe(1);
  });

  it("removes a line item with a quantity of 0, but neither the last one nor its product", async () => {
    const account = await harness().newAccount();
    await send(account, { products: { cup: cup({ quantity: 2, price: "5" }), mug: cup({ name: "Mug" }) } });
    const removed = { products: { cup: cup({ name: "Bowl", quantity: 0 }), lid: cup({ quantity: 0 }) } };
    expect(await send(account, removed)).toEqual([{ outcome: "changed", fields: ["products.cup.quantity"] }]);
    expect((await stored(account)).map(({ product_sku }) => product_sku)).toEqual(["mug"]);
    expect((await account.service.orders.list({})).total_purchases).toBe(1);
    const { products } = await account.service.core.listProducts({});
    expect(products.map(({ external_id, name }) => [external_id, name])).toEqual([
      ["cup", "Cup"],
      ["mug", "Mug"],
    ]);
    expect(await send(account, removed)).toEqual([{ outcome: "unchanged" }]);
    const full = Object.fromEntries(Array.from({ length: 999 }, (_, at) => [`p${at}`, cup()]));
    await send(account, { products: full });
    const swapped = { products: { mug: cup({ quantity: 0 }), spoon: cup() } };
    expect(await send(account, swapped)).toMatchObject([{ outcome: "changed" }]);
    const others = Object.fromEntries(Object.keys(full).map((id) => [id, cup({ quantity: 0 })]));
    await send(account, { products: others });
    await send(account, { products: { mug: cup(), spoon: cup({ quantity: 0 }) } });
    const last = { products: { mug: cup({ quantity: 0 }) } };
    const dropped = [{ field: "products", error: "are missing: an order has at least one" }];
    expect(await send(account, last, { ...last, order_id: "1002" })).toEqual([
      { outcome: "dropped", dropped },
      { outcome: "dropped", dropped },
    ]);
    const both = await account.service.orders.massCreate(
      bulkOrders([anOrder({ order_id: "3", products: { mug: cup({ quantity: 0 }), cup: cup() } })], details),
    );
    expect(both.outcomes).toEqual([{ outcome: "created" }]);
    expect((await stored(account)).map(({ order_id, product_sku }) => [order_id, product_sku])).toEqual([
      ["1001", "mug"],
      ["3", "cup"],
    ]);
  });

  it("names the product data that it changes", async () => {
    const account = await harness().newAccount();
    const product = { price: "5", image: "https://i.example/1", description: "Blue", specs: { upc: "12", sku: "S" } };
    const order = { products: { cup: cup(product) } };
    await send(account, order, { order_id: "2", products: { cup: cup({ ...product, price: "7" }) } });
    expect(await send(account, order)).toEqual([{ outcome: "unchanged" }]);
    const changed = { image: "https://i.example/2", description: "Red", specs: { upc: "0013", sku: "S" } };
    const newer = { products: { cup: cup(changed) } };
    const fields = ["products.cup.image", "products.cup.description", "products.cup.specs.upc"];
    expect(await send(account, newer, { ...newer, order_id: "2" }, { ...newer, order_id: "3" })).toEqual([
      { outcome: "changed", fields },
      { outcome: "changed", fields },
      { outcome: "created" },
    ]);
    // The first product data does not outlast the call.
    expect(await send(account, order, newer)).toEqual([{ outcome: "unchanged" }, { outcome: "unchanged" }]);
    expect(await send(account, newer, order)).toEqual([{ outcome: "unchanged" }, { outcome: "changed", fields }]);
  });

  it("is merged into an earlier order of the same request", async () => {
    const account = await harness().newAccount();
    const outcomes = await send(
      account,
      { products: { cup: cup({ price: "5" }) } },
      { customer_name: "Bea", products: { cup: cup({ price: "6", quantity: 2 }) } },
      { email: "other@mail.example" },
      { customer_name: "Bea", products: { cup: cup({ price: "6" }) } },
    );
    expect(outcomes).toEqual([
      { outcome: "created" },
      { outcome: "changed", fields: ["customer_name", "products.cup.quantity", "products.cup.price"] },
      { outcome: "dropped", dropped: [{ field: "email", error: expect.any(String) }] },
      { outcome: "unchanged" },
    ]);
    expect((await stored(account)).map((one) => [one.user_name, one.user_email, one.product_price])).toEqual([
      ["Bea", "ann@mail.example", "6"],
      ["Bea", "ann@mail.example", "6"],
    ]);
  });
});

describeIsolated("an order that repeats the ID of another customer's", (harness) => {
  const foreign = {
    email: "zoe@mail.example",
    customer_name: "Zoe",
    order_date: "2026-03-09",
    products: { teapot: anOrderedProduct({ name: "Kettle" }), cup: cup(), "a b": cup() },
  };

  const rows = (table: "orders" | "purchases" | "products" | "missed_products" | "mails") =>
    harness().database.db.selectFrom(table).selectAll().orderBy("id").execute();

  const everything = async () =>
    Promise.all([rows("orders"), rows("purchases"), rows("products"), rows("missed_products"), rows("mails")]);

  it("is not stored, nor are its products, skipped lines, and emails", async () => {
    const account = await harness().newAccount();
    await send(account, {});
    const before = await everything();
    expect(await send(account, foreign)).toEqual([
      { outcome: "dropped", dropped: [{ field: "email", error: expect.any(String) }] },
    ]);
    expect(await send(account, { ...foreign, products: { "a b": cup() } })).toMatchObject([{ outcome: "dropped" }]);
    expect(await everything()).toEqual(before);
  });

  it("is an error when validating, and silent otherwise", async () => {
    const account = await harness().newAccount();
    await send(account, {});
    const orders = [anOrder({ order_id: "2" }), anOrder(foreign)];
    const { errors } = await account.service.orders.massCreate(bulkOrders(orders, { validate_data: true }));
    expect(errors).toEqual([{ order_num: 1, order_id: "1001", field: "email", error: expect.any(String) }]);
    expect(await account.service.orders.massCreate(bulkOrders(orders))).toEqual({ uuid: expect.any(String) });
    const single = { platform: "general" as const, ...anOrder(foreign) };
    expect(await account.service.orders.create({ ...single, validate_data: true })).toMatchObject({
      errors: [{ order_id: "1001", field: "email" }],
    });
    expect(await account.service.orders.create(single)).toEqual({});
  });
});

describeIsolated("the emails of a repeated order", (harness) => {
  const emails = async ({ database }: Harness) =>
    database.db.selectFrom("mails").select(["name", "due_at", "state", "product_row"]).orderBy("id").execute();

  it("follow its new date and customer name while they are queued", async () => {
    const account = await harness().newAccount();
    await account.service.emailRules.set({ name: "one_mail_per", value: "product" });
    await send(account, { products: { cup: cup(), pot: cup() } });
    const [first, second] = await emails(harness());
    await harness()
      .database.db.updateTable("mails")
      .set({ state: "sent" })
      .where("due_at", "=", first?.due_at ?? 0)
      .where("product_row", "=", first?.product_row ?? 0)
      .execute();
    await send(account, { customer_name: "Bea", order_date: "2026-03-04", products: { cup: cup() } });
    expect(await emails(harness())).toEqual([
      { ...first, state: "sent" },
      { ...second, name: "Bea", due_at: Date.UTC(2026, 2, 4 + 14) },
    ]);
  });

  it.each([{ attempts: 1 }, { worker: "lost" }])(
    "are not moved after an attempt (%j), nor queued again",
    async (attempt) => {
      const account = await harness().newAccount();
      await send(account, {});
      const [before] = await emails(harness());
      await harness().database.db.updateTable("mails").set(attempt).execute();
      await send(account, { order_date: "2026-03-04", customer_name: "Bea" });
      expect(await emails(harness())).toEqual([{ ...before, name: "Bea" }]);
    },
  );
});

describeBackends("outcomes of orders", (harness) => {
  it("are returned only on request", async () => {
    const { service } = await harness().newAccount();
    expect(await service.orders.massCreate(bulkOrders([anOrder()]))).toEqual({ uuid: expect.any(String) });
    const single = { platform: "general" as const, ...anOrder({ customer_name: "Bea" }) };
    expect(await service.orders.create({ ...single, details: true })).toEqual({
      outcomes: [{ outcome: "changed", fields: ["customer_name"] }],
    });
  });

  it("list everything that is not stored", async () => {
    const { service } = await harness().newAccount();
    const products = {
      cup: { name: "Cup", url: "https://shop.example/cup", price: "1,99", specs: { upc: "1 2" }, quantity: -1 },
      "a b": { name: "Bad", url: "https://shop.example/bad" },
    };
    const { outcomes } = await service.orders.massCreate(
      bulkOrders(
        [
          anOrder({ order_id: "1", products, currency_iso: "E" }),
          anOrder({ order_id: "2", email: "nobody", products }),
          anOrder({ order_id: "3", products: { "a b": cup() } }),
          anOrder({ order_id: "4", order_date: "2026-02-30" }),
        ],
        details,
      ),
    );
    const named = outcomes?.map(({ outcome, dropped }) => [outcome, dropped?.map(({ field }) => field)]);
    const invalidProducts = ["products.cup.price", "products.cup.quantity", "products.cup.specs.upc", "products.a b"];
    expect(named).toEqual([
      ["created", ["currency_iso", ...invalidProducts]],
      ["dropped", ["email", ...invalidProducts]],
      ["dropped", ["products.a b"]],
      ["dropped", ["order_date"]],
    ]);
    const { purchases } = await service.orders.list({ details: true });
    expect(purchases).toMatchObject([{ order_id: "1", product_sku: "cup", product_price: null, currency_iso: null }]);
  });

  it("include an external SKU that belongs to another product", async () => {
    const { service } = await harness().newAccount();
    const withSku = { specs: { external_sku: "S1" } };
    const orders = [
      anOrder({ order_id: "1", products: { cup: cup(withSku) } }),
      anOrder({ order_id: "2", products: { pot: cup(withSku) } }),
    ];
    expect((await service.orders.massCreate(bulkOrders(orders, details))).outcomes).toEqual([
      { outcome: "created" },
      { outcome: "created", dropped: [{ field: "products.pot.specs.external_sku", error: expect.any(String) }] },
    ]);
    expect((await service.orders.massCreate(bulkOrders(orders, details))).outcomes).toEqual([
      { outcome: "unchanged" },
      { outcome: "unchanged", dropped: [{ field: "products.pot.specs.external_sku", error: expect.any(String) }] },
    ]);
  });
});

describeIsolated("update_products_since_id", (harness) => {
  const lastId = async ({ service }: TestAccount) =>
    (await service.core.listProducts({ limit: 1, details: true })).pagination.last_id;
  const productsOf = async ({ service }: TestAccount) =>
    Object.fromEntries((await service.core.listProducts({})).products.map((product) => [product.external_id, product]));
  const massCreate = ({ service }: TestAccount, since: number | undefined, ...orders: readonly Fields[]) => {
    const options = { ...details, ...(since !== undefined && { update_products_since_id: since }) };
    return service.orders.massCreate(bulkOrders(orders.map(anOrder), options));
  };

  it("leaves the products alone that have this ID or a lower one", async () => {
    const account = await harness().newAccount();
    expect(await lastId(account)).toBe(0);
    await massCreate(account, undefined, { order_id: "1", products: { cup: cup({ price: "5" }) } });
    const since = await lastId(account);
    const order = { order_id: "2", products: { cup: cup({ name: "Mug", price: "6" }), pot: cup({ name: "Pot" }) } };
    expect((await massCreate(account, since, order)).outcomes).toEqual([{ outcome: "created" }]);
    await massCreate(account, since, { order_id: "3", products: { pot: cup({ name: "Teapot" }) } });
    expect(await productsOf(account)).toMatchObject({ cup: { name: "Cup", price: "5" }, pot: { name: "Teapot" } });
    const { purchases } = await account.service.orders.list({ details: true, count: 10 });
    expect(purchases.map(({ product_price }) => product_price)).toEqual(["5", "6", null, null]);
    // Sent again, nothing has changed; without the restriction, the product changes, although the call before it was equal.
    expect((await massCreate(account, since, order)).outcomes).toMatchObject([
      { outcome: "changed", fields: ["products.pot.name"] },
    ]);
    expect((await massCreate(account, undefined, order)).outcomes).toMatchObject([
      { outcome: "changed", fields: ["products.cup.name"] },
    ]);
    expect(await productsOf(account)).toMatchObject({ cup: { name: "Mug", price: "6" }, pot: { name: "Pot" } });
  });

  it("reports no SKU of another product for a product that stays as it is", async () => {
    const account = await harness().newAccount();
    const withSku = { specs: { external_sku: "S1" } };
    await massCreate(account, undefined, { order_id: "1", products: { cup: cup(withSku), pot: cup() } });
    const order = { order_id: "2", products: { pot: cup(withSku) } };
    expect((await massCreate(account, await lastId(account), order)).outcomes).toEqual([{ outcome: "created" }]);
  });

  it("does not change the currency that a line item states for its product", async () => {
    const account = await harness().newAccount();
    const order = { currency_iso: "EUR", products: { cup: cup({ price: "5", currency_iso: "USD" }), pot: cup() } };
    await massCreate(account, undefined, order);
    expect(await productsOf(account)).toMatchObject({ cup: { currency: "USD" }, pot: { currency: "EUR" } });
  });
});
