import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";

const wire = useWire();

const teapot = {
  name: "Teapot",
  url: "https://shop.example/teapot",
  image_url: "https://shop.example/teapot.png",
  description: "Holds tea",
  currency: "USD",
  price: "12.50",
  product_tags: ["tea", "pot"],
  specs: { upc: "000-4711 ", brand: "Acme", isbn: "N/A" },
  blacklisted: true,
};

/** Returns the products as the core API lists them. */
async function listProducts(): Promise<readonly Record<string, unknown>[]> {
  const { appKey, utoken, request } = wire();
  const { body } = await request("GET", `/core/v3/stores/${appKey}/products`, undefined, {
    "X-Service-Token": utoken,
  });
  return (body as { products: readonly Record<string, unknown>[] }).products;
}

describe("POST /apps/{app_key}/products/mass_create", () => {
  it("creates products", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/products/mass_create`, {
      utoken,
      products: { "teapot-1": teapot, cup: { name: "Cup", url: "http://shop.example/cup" } },
    });
    expect([status, body]).toEqual([200, { code: 200, message: "OK" }]);
    expect(await listProducts()).toMatchObject([
      {
        external_id: "teapot-1",
        brand: "Acme",
        currency: "USD",
        price: "12.50",
        gtins: [{ declared_type: "UPC", value: "4711" }],
      },
      { external_id: "cup", description: null },
    ]);
  });

  it("reports invalid products and creates the others", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/products/mass_create`, {
      utoken,
      products: { good: teapot, bad: { url: "shop", price: "1,50" }, "bad id": teapot, none: "text" },
    });
    expect([status, body]).toEqual([
      200,
      {
        code: 200,
        message: "OK",
        errors: {
          0: { product_id: "bad", field: "name", error: "is missing" },
          1: { product_id: "bad", field: "url", error: expect.stringContaining("https://") },
          2: { product_id: "bad", field: "price", error: expect.stringContaining("price") },
          3: { product_id: "bad id", field: "product_id", error: expect.stringContaining("letters, digits") },
          4: { product_id: "none", field: "product", error: expect.stringContaining("object") },
        },
      },
    ]);
    expect(await listProducts()).toHaveLength(1);
  });

  it("accepts 500 products and rejects 501", async () => {
    const { appKey, utoken, request } = wire();
    const productsOf = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { name: "P", url: "http://p.example" }]));
    const path = `/apps/${appKey}/products/mass_create`;
    expect((await request("POST", path, { utoken, products: productsOf(500) })).status).toBe(200);
    const { status, body } = await request("POST", path, { utoken, products: productsOf(501) });
    expect([status, body]).toEqual([
      500,
      {
        status: {
          message: mentioning("products", 501, 500),
          code: 500,
          error_type: "Exceptions::InvalidParams",
        },
      },
    ]);
  });

  it("rejects a list", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/products/mass_create`, {
      utoken,
      products: [teapot],
    });
    expect([status, body]).toEqual([
      500,
      {
        status: {
          message: mentioning("products", "object"),
          code: 500,
          error_type: "Exceptions::InvalidParams",
        },
      },
    ]);
  });
});

describe("PUT /apps/{app_key}/products/mass_update", () => {
  it("overwrites with valid values, and deletes the description if it is empty", async () => {
    const { appKey, utoken, request } = wire();
    await request("POST", `/apps/${appKey}/products/mass_create`, { utoken, products: { teapot } });
    const { status, body } = await request("PUT", `/apps/${appKey}/products/mass_update`, {
      utoken,
      products: { teapot: { name: "Pot", price: "12 dollars", description: "" }, ghost: { name: "Ghost" } },
    });
    expect([status, body]).toEqual([
      200,
      {
        code: 200,
        message: "OK",
        errors: {
          0: {
            product_id: "teapot",
            field: "price",
            error: expect.stringContaining("price"),
          },
          1: { product_id: "ghost", field: "product_id", error: expect.stringContaining("not found") },
        },
      },
    ]);
    expect(await listProducts()).toMatchObject([
      { external_id: "teapot", name: "Pot", price: "12.50", url: "https://shop.example/teapot" },
    ]);
    expect([null, ""]).toContain((await listProducts())[0]?.["description"]);
  });
});

describe("an invalid optional field of a product", () => {
  const create = (product: object) =>
    wire().own("POST", "/apps/{app}/products/mass_create", { products: { pot: { ...teapot, ...product } } });

  it("is dropped and reported, and the product is stored", async () => {
    const { status, body } = await create({ price: "12,50", currency_iso: "EURO", image_url: "pot.jpg" });
    expect(status).toBe(200);
    const errors = Object.values((body as { errors: Readonly<Record<string, { field: string }>> }).errors);
    expect([...new Set(errors.map(({ field }) => field))].toSorted()).toEqual(["currency_iso", "image_url", "price"]);
    expect(await listProducts()).toMatchObject([{ external_id: "pot", name: teapot.name, price: null }]);
  });

  it("counts as not given if it is null", async () => {
    const nothing = {
      price: null,
      currency: null,
      currency_iso: null,
      image_url: null,
      product_tags: null,
      specs: null,
    };
    const { body } = await create({ ...nothing, blacklisted: null });
    expect(body).not.toHaveProperty("errors");
  });
});
