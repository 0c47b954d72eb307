import { expect, it } from "vitest";
import { maxLength, specNames } from "../../src/contract/index.ts";
import { productColumnNames } from "../../src/engine/products/product-row.ts";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { anOrder, aProduct, bulkOrders } from "../support/builders.ts";

async function stored({ database }: Harness, productId: string) {
  return database.db.selectFrom("products").selectAll().where("product_id", "=", productId).executeTakeFirst();
}

const errorsOf = (reply: { errors?: Record<string, object> | undefined }) => Object.values(reply.errors ?? {});

const illegal = expect.stringContaining("letters, digits");

describeIsolated("products.massCreate", (harness) => {
  it("stores the product, with normalized spec values and unchanged IDs", async () => {
    const { service } = await harness().newAccount();
    const reply = await service.products.massCreate({
      products: {
        "-007": aProduct({
          image_url: "https://i.example/1",
          description: "A pot",
          currency: "eur",
          price: "12.50",
          product_tags: ["a", "b"],
          specs: { upc: " 00-0123 ", mpn: "N/A", brand: "Acme", isbn: "", sku: "S_1", external_sku: "x1" },
          blacklisted: "true",
        }),
      },
    });
    expect(reply).toEqual({});
    expect(await stored(harness(), "-007")).toMatchObject({
      name: "Teapot",
      image_url: "https://i.example/1",
      description: "A pot",
      currency_iso: "EUR",
      price: "12.50",
      product_tags: "a,b",
      upc: "123",
      mpn: null,
      brand: "Acme",
      isbn: null,
      sku: "S_1",
      external_sku: "x1",
      blacklisted: 1,
    });
  });

  it("prefers currency_iso over currency", async () => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({
      products: { a: aProduct({ currency: "USD", currency_iso: "EUR" }) },
    });
    expect(await stored(harness(), "a")).toMatchObject({ currency_iso: "EUR" });
  });

  it("updates the given fields of an existing product, and keeps the others", async () => {
    const { service } = await harness().newAccount();
    const first = aProduct({ description: "A pot", price: "1", blacklisted: true, specs: { upc: "5" } });
    await service.products.massCreate({ products: { pot: first } });
    const before = await stored(harness(), "pot");
    harness().clock.advance(1_000);
    await service.products.massCreate({ products: { pot: aProduct({ name: "Kettle", description: "" }) } });
    expect(await stored(harness(), "pot")).toEqual({
      ...before,
      name: "Kettle",
      updated_at: harness().clock(),
    });
  });

  it("stores a product without its invalid spec values, and reports them", async () => {
    const { service } = await harness().newAccount();
    const long = "x".repeat(maxLength.spec + 1);
    const specs = { upc: "1 2", mpn: long, brand: "Acme", isbn: "N/A" };
    const reply = await service.products.massCreate({ products: { pot: aProduct({ specs }) } });
    expect(errorsOf(reply)).toEqual(
      expect.arrayContaining([
        { product_id: "pot", field: "specs.upc", error: illegal },
        { product_id: "pot", field: "specs.mpn", error: expect.stringContaining(String(maxLength.spec)) },
      ]),
    );
    expect(errorsOf(reply)).toHaveLength(2);
    expect(await stored(harness(), "pot")).toMatchObject({ upc: null, mpn: null, brand: "Acme", isbn: null });
  });

  it("stores a product without an external_sku that another product has, in the store or earlier in the request", async () => {
    const { service } = await harness().newAccount();
    const withSku = (external_sku: string) => aProduct({ specs: { external_sku } });
    await service.products.massCreate({ products: { a: withSku("one") } });
    const reply = await service.products.massCreate({
      products: { a: withSku("one"), b: withSku("one"), c: withSku("two"), d: withSku("two") },
    });
    const error = expect.stringContaining("another product");
    expect(errorsOf(reply)).toEqual([
      { product_id: "b", field: "specs.external_sku", error },
      { product_id: "d", field: "specs.external_sku", error },
    ]);
    expect(await stored(harness(), "a")).toMatchObject({ external_sku: "one" });
    expect(await stored(harness(), "b")).toMatchObject({ external_sku: null, name: "Teapot" });
    expect(await stored(harness(), "c")).toMatchObject({ external_sku: "two" });
  });

  it("keeps the products of two accounts, and their external_sku, separate", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const products = { pot: aProduct({ specs: { external_sku: "x" } }) };
    expect(await one.service.products.massCreate({ products })).toEqual({});
    expect(await other.service.products.massCreate({ products })).toEqual({});
    await other.service.products.massUpdate({ products: { pot: { name: "Kettle" } } });
    const listed = await one.service.core.listProducts({});
    expect(listed.products.map(({ name }) => name)).toEqual(["Teapot"]);
  });
});

describeIsolated("products.massUpdate", (harness) => {
  const full = aProduct({ description: "A pot", price: "1", specs: { upc: "5" } });

  it("overwrites only with valid values, and reports the rest", async () => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({ products: { pot: full } });
    const reply = await service.products.massUpdate({
      products: {
        pot: { name: "", url: "shop", price: "2", specs: { upc: "a b", mpn: "m" }, blacklisted: true },
      },
    });
    expect(errorsOf(reply)).toMatchObject([
      { product_id: "pot", field: "name" },
      { product_id: "pot", field: "url" },
      { product_id: "pot", field: "specs.upc" },
    ]);
    expect(await stored(harness(), "pot")).toMatchObject({
      name: "Teapot",
      url: "https://shop.example/teapot",
      price: "2",
      upc: "5",
      mpn: "m",
      blacklisted: 1,
    });
  });

  it.each([[""], [null]])("deletes a description by %j, and by nothing else", async (description) => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({ products: { pot: full } });
    await service.products.massUpdate({ products: { pot: { price: "" } } });
    expect(await stored(harness(), "pot")).toMatchObject({ description: "A pot", price: "1" });
    await service.products.massUpdate({ products: { pot: { description } } });
    expect(await stored(harness(), "pot")).toMatchObject({ description: null, price: "1", upc: "5" });
  });

  it("removes a product from the blacklist", async () => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({ products: { pot: aProduct({ blacklisted: true }) } });
    await service.products.massUpdate({ products: { pot: { blacklisted: false } } });
    expect(await stored(harness(), "pot")).toMatchObject({ blacklisted: 0 });
  });

  it("updates updated_at only if something changed", async () => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({ products: { pot: full } });
    const before = await stored(harness(), "pot");
    harness().clock.advance(1_000);
    await service.products.massUpdate({ products: { pot: full } });
    expect(await stored(harness(), "pot")).toEqual(before);
  });
});

describeIsolated("outcomes of products", (harness) => {
  const details = true;

  it("say of each product whether it was created, changed, or unchanged, and which fields changed", async () => {
    const { service } = await harness().newAccount();
    const cup = aProduct({ price: "5.50", description: "Blue", specs: { upc: "012" }, currency: "eur" });
    const first = await service.products.massCreate({ products: { cup, 10: aProduct(), "a b": aProduct() }, details });
    expect(first.outcomes).toEqual([
      { product_id: "10", outcome: "created" },
      { product_id: "cup", outcome: "created" },
      { product_id: "a b", outcome: "dropped", dropped: [{ field: "product_id", error: illegal }] },
    ]);
    const same = await service.products.massCreate({ products: { cup: { ...cup, specs: { upc: "12" } } }, details });
    expect(same).toEqual({ outcomes: [{ product_id: "cup", outcome: "unchanged" }] });
    const changes = {
      price: "6",
      description: "",
      specs: { upc: "13", isbn: "1 2" },
      blacklisted: true,
      currency: "USD",
    };
    const update = { products: { cup: changes, pot: { name: "Pot" }, 10: { name: "Teapot", price: "x" } }, details };
    const changed = await service.products.massUpdate(update);
    expect(changed.outcomes).toEqual([
      { product_id: "10", outcome: "unchanged", dropped: [{ field: "price", error: expect.any(String) }] },
      {
        product_id: "cup",
        outcome: "changed",
        fields: ["description", "currency_iso", "price", "blacklisted", "specs.upc"],
        dropped: [{ field: "specs.isbn", error: illegal }],
      },
      { product_id: "pot", outcome: "dropped", dropped: [{ field: "product_id", error: "product not found" }] },
    ]);
    expect(await stored(harness(), "cup")).toMatchObject({ price: "6", description: null, upc: "13", blacklisted: 1 });
  });

  it("say whether an external_sku belongs to another product", async () => {
    const { service } = await harness().newAccount();
    const withSku = aProduct({ specs: { external_sku: "S1" } });
    const { outcomes } = await service.products.massCreate({ products: { cup: withSku, pot: withSku }, details });
    expect(outcomes).toEqual([
      { product_id: "cup", outcome: "created" },
      { product_id: "pot", outcome: "created", dropped: [{ field: "specs.external_sku", error: expect.any(String) }] },
    ]);
  });
});

describeIsolated("a product that is sent again", (harness) => {
  type Columns = Partial<Record<(typeof productColumnNames)[number], string>>;
  const columns = productColumnNames.filter((name) => name !== "product_id" && name !== "blacklisted");
  const valuesOf = (value: 1 | 2): Columns => ({
    ...Object.fromEntries(columns.map((name) => [name, `${name}${value}`])),
    url: `https://shop.example/${value}`,
    image_url: `https://i.example/${value}`,
    price: String(value),
    currency_iso: value === 1 ? "EUR" : "USD",
  });
  const toProduct = (values: Columns, fields: object = {}) => ({
    ...aProduct({ ...values, specs: Object.fromEntries(specNames.map((name) => [name, values[name]])) }),
    ...fields,
  });

  type Send = (service: Service, complete: Columns, change: Columns) => Promise<unknown>;
  const ways: readonly (readonly [way: string, send: Send])[] = [
    ["massCreate", ({ products }, all) => products.massCreate({ products: { pot: toProduct(all) } })],
    [
      "massCreate with blacklisted",
      ({ products }, all) => products.massCreate({ products: { pot: toProduct(all, { blacklisted: false }) } }),
    ],
    [
      "massUpdate of one field",
      ({ products }, _all, change) =>
        products.massUpdate({ products: { pot: toProduct(change, { name: change.name, url: change.url }) } }),
    ],
    [
      "an order",
      ({ orders }, all) => {
        const pot = toProduct(all, { image: all.image_url });
        return orders.massCreate(bulkOrders([anOrder({ currency_iso: all.currency_iso, products: { pot } })]));
      },
    ],
  ];
  it.each(ways)("by %s has the new value of each field", async (_way, send) => {
    const { service } = await harness().newAccount();
    const [sent, next] = [valuesOf(1), valuesOf(2)];
    await service.products.massCreate({ products: { pot: toProduct(sent) } });
    for (const column of columns) {
      sent[column] = next[column] ?? "";
      await send(service, sent, { [column]: sent[column] });
      expect(await stored(harness(), "pot")).toMatchObject(sent);
    }
  });
});
