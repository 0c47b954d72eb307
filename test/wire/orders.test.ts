import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";

const wire = useWire();

const products = { teapot: { name: "Teapot", url: "https://shop.example/teapot", image: "", price: 12.5 } };
const order = {
  email: "ann@shop.example",
  customer_name: "Ann Müller",
  order_id: "1001",
  order_date: "2026-03-01",
  currency_iso: "EUR",
  products,
};
const done = { code: 200, message: "OK" };
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) as string;

const list = async (query = "") => {
  const { appKey, utoken, request } = wire();
  return request("GET", `/apps/${appKey}/purchases?utoken=${utoken}${query}`);
};

const record = {
  id: 1,
  user_email: "ann@shop.example",
  user_name: "Ann Müller",
  order_id: "1001",
  product_sku: "teapot",
  product_name: "Teapot",
  product_url: "https://shop.example/teapot",
  order_date: "2026-03-01T00:00:00.000Z",
  product_description: null,
  created_at: "2026-03-15T12:00:00.000Z",
};

it("takes the largest call that the limits allow", async () => {
  const { appKey, utoken, request } = wire();
  const orders = Array.from({ length: 2_000 }, (_, nth) => {
    const product = {
      ...products.teapot,
      description: "Pours well. ".repeat(35),
      specs: { upc: `1${nth}`, brand: "Tea" },
    };
    return { ...order, order_id: `large-${nth}`, email: `n${nth}@shop.example`, products: { [`pot-${nth}`]: product } };
  });
  const { status, body } = await request("POST", `/apps/${appKey}/purchases/mass_create`, {
    utoken,
    platform: "general",
    orders,
  });
  expect([status, body]).toMatchObject([200, { code: 200 }]);
  expect(await list("&count=1")).toMatchObject({ body: { response: { total_purchases: 2_000 } } });
});

describe("POST /apps/{app_key}/purchases", () => {
  it("creates an order only once", async () => {
    const { appKey, utoken, request } = wire();
    const send = () =>
      request("POST", `/apps/${appKey}/purchases`, {
        utoken,
        platform: "general",
        validate_data: true,
        ...order,
      });
    for (const { status, body } of [await send(), await send()]) expect([status, body]).toEqual([200, done]);
    expect(await list()).toMatchObject({
      status: 200,
      body: { status: { code: 200, message: "OK" }, response: { purchases: [record], total_purchases: 1 } },
    });
  });

  it("reports invalid fields when validating", async () => {
    const { appKey, utoken, request } = wire();
    const { order_date: _date, ...undated } = order;
    const { status, body } = await request("POST", `/apps/${appKey}/purchases`, {
      utoken,
      platform: "shopify",
      validate_data: true,
      ...undated,
      email: "ann",
    });
    expect([status, body]).toEqual([
      200,
      {
        ...done,
        errors: [
          { order_id: "1001", field: "email", error: expect.stringContaining("email address") },
          { order_id: "1001", field: "order_date", error: "is missing" },
        ],
      },
    ]);
    expect((await list()).body).toMatchObject({ response: { purchases: [], total_purchases: 0 } });
  });

  it("lists what it dropped only with details, in the body or in the query", async () => {
    const { appKey, utoken, request } = wire();
    const mixed = { ...order, products: { teapot: { ...products.teapot, price: "1,99" }, "a b": products.teapot } };
    const send = (query: string, fields: Readonly<Record<string, unknown>>) =>
      request("POST", `/apps/${appKey}/purchases${query}`, { utoken, platform: "general", ...mixed, ...fields });
    expect((await send("", {})).body).toEqual(done);
    expect((await list()).body).toMatchObject({ response: { purchases: [record], total_purchases: 1 } });
    const dropped = [
      { field: "products.teapot.price", error: expect.any(String) },
      { field: "products.a b", error: expect.any(String) },
    ];
    const reported = { ...done, outcomes: [{ outcome: "unchanged", dropped }] };
    expect((await send("", { details: true })).body).toEqual(reported);
    expect((await send("?details=true", {})).body).toEqual(reported);
  });

  it("rejects an unknown platform", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/purchases`, {
      utoken,
      ...order,
      platform: "mall",
    });
    expect(status).toBe(500);
    expect(body).toMatchObject({
      status: {
        message: expect.stringMatching(/^platform must be one of three_d_cart, .*general$/) as string,
        code: 500,
        error_type: "Exceptions::InvalidParams",
      },
    });
  });
});

describe("POST /apps/{app_key}/purchases/mass_create.json", () => {
  it("creates orders and missing products; the last product with an ID wins", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/purchases/mass_create.json`, {
      utoken,
      platform: "general",
      orders: [order, { ...order, order_id: "1002", products: { teapot: { ...products.teapot, name: "Pot of tea" } } }],
    });
    expect([status, body]).toEqual([200, { ...done, uuid }]);
    expect((await list()).body).toMatchObject({
      response: {
        purchases: [
          { order_id: "1001", product_name: "Pot of tea" },
          { order_id: "1002", product_name: "Pot of tea" },
        ],
        total_purchases: 2,
      },
    });
  });

  it("reports the invalid order and field when validating", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/purchases/mass_create.json`, {
      utoken,
      platform: "general",
      validate_data: true,
      orders: [
        order,
        { ...order, order_id: "1002", order_date: "2026-02-30" },
        { email: "bo@shop.example", customer_name: "Bo", order_date: "2026-03-01", products },
      ],
    });
    expect([status, body]).toEqual([
      200,
      {
        ...done,
        uuid,
        errors: [
          {
            order_num: 1,
            order_id: "1002",
            field: "order_date",
            error: expect.stringContaining("YYYY-MM-DD"),
          },
          { order_num: 2, order_id: null, field: "order_id", error: "is missing" },
        ],
      },
    ]);
    expect((await list()).body).toMatchObject({ response: { total_purchases: 1 } });
  });

  it("ignores a product ID with invalid characters without reporting it", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("POST", `/apps/${appKey}/purchases/mass_create.json`, {
      utoken,
      platform: "general",
      validate_data: true,
      orders: [{ ...order, products: { "tea pot": products.teapot } }],
    });
    expect([status, body]).toEqual([200, { ...done, uuid }]);
    expect((await list()).body).toMatchObject({ response: { total_purchases: 0 } });
  });

  it("rejects a request without orders", async () => {
    const { appKey, utoken, request } = wire();
    const path = `/apps/${appKey}/purchases/mass_create.json`;
    const { status, body } = await request("POST", path, { utoken, platform: "general" });
    expect([status, body]).toEqual([
      500,
      { status: { message: "Missing orders", code: 500, error_type: "Exceptions::InvalidParams" } },
    ]);
  });
});

describe("GET /apps/{app_key}/purchases", () => {
  it("returns ten by default, starting from an ID or a day", async () => {
    const { appKey, utoken, request } = wire();
    await request("POST", `/apps/${appKey}/purchases/mass_create.json`, {
      utoken,
      platform: "general",
      orders: Array.from({ length: 12 }, (_, at) => ({ ...order, order_id: `n${at}` })),
    });
    const idsOf = async (query: string) => {
      const { status, body } = await list(query);
      expect(status).toBe(200);
      const { response } = body as { response: { purchases: { id: number }[]; total_purchases: number } };
      return [response.purchases.map(({ id }) => id), response.total_purchases];
    };
    expect(await idsOf("")).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 12]);
    expect(await idsOf("&since_id=11")).toEqual([[11, 12], 12]);
    expect(await idsOf("&count=2&since_id=3")).toEqual([[3, 4], 12]);
    expect(await idsOf("&since_date=2026-03-15&count=1")).toEqual([[1], 12]);
    expect(await idsOf("&since_date=2026-03-16")).toEqual([[], 0]);
  });

  it("rejects an invalid date", async () => {
    const { status, body } = await list("&since_date=31/02/2026");
    expect([status, body]).toEqual([
      500,
      {
        status: {
          message: mentioning("since_date", "YYYY-MM-DD"),
          code: 500,
          error_type: "Exceptions::InvalidParams",
        },
      },
    ]);
  });
});

describe("DELETE /apps/{app_key}/purchases", () => {
  it("cancels emails but keeps the order, and returns its code as text", async () => {
    const { appKey, utoken, request } = wire();
    await request("POST", `/apps/${appKey}/purchases`, { utoken, platform: "general", ...order });
    const { status, body } = await request("DELETE", `/apps/${appKey}/purchases`, {
      utoken,
      orders: [{ order_id: "1001" }, { order_id: "1001", skus: ["teapot"] }],
    });
    expect([status, body]).toEqual([200, { code: "200", message: "OK" }]);
    expect((await list()).body).toMatchObject({ response: { total_purchases: 1 } });
  });

  it("rejects an item without an order ID", async () => {
    const { appKey, utoken, request } = wire();
    const { status, body } = await request("DELETE", `/apps/${appKey}/purchases`, { utoken, orders: [{}] });
    expect([status, body]).toEqual([
      500,
      {
        status: { message: "Missing orders.0.order_id", code: 500, error_type: "Exceptions::InvalidParams" },
      },
    ]);
  });
});
