import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";

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
const uuid = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
) as string;

const list = async (query = "") => {
  const { appKey, utoken, ask } = wire();
  return ask("GET", `/apps/${appKey}/purchases?utoken=${utoken}${query}`);
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

describe("POST /apps/{app_key}/purchases", () => {
  it("creates one order, and not twice", async () => {
    const { appKey, utoken, ask } = wire();
    const send = () =>
      ask("POST", `/apps/${appKey}/purchases`, {
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

  it("tells what is wrong when validating", async () => {
    const { appKey, utoken, ask } = wire();
    const { order_date: _date, ...undated } = order;
    const { status, body } = await ask("POST", `/apps/${appKey}/purchases`, {
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
          { order_id: "1001", field: "email", error: "is not a valid email address (local@domain)" },
          { order_id: "1001", field: "order_date", error: "is missing" },
        ],
      },
    ]);
    expect((await list()).body).toMatchObject({ response: { purchases: [], total_purchases: 0 } });
  });

  it("refuses a platform that it does not know", async () => {
    const { appKey, utoken, ask } = wire();
    const { status, body } = await ask("POST", `/apps/${appKey}/purchases`, {
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
  it("creates orders, and adds products that are not there; the last one wins an id", async () => {
    const { appKey, utoken, ask } = wire();
    const { status, body } = await ask("POST", `/apps/${appKey}/purchases/mass_create.json`, {
      utoken,
      platform: "general",
      orders: [
        order,
        { ...order, order_id: "1002", products: { teapot: { ...products.teapot, name: "Pot of tea" } } },
      ],
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

  it("tells which order is wrong, and where, when validating", async () => {
    const { appKey, utoken, ask } = wire();
    const { status, body } = await ask("POST", `/apps/${appKey}/purchases/mass_create.json`, {
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
            error: "is not a valid date (YYYY-MM-DD)",
          },
          { order_num: 2, order_id: null, field: "order_id", error: "is missing" },
        ],
      },
    ]);
    expect((await list()).body).toMatchObject({ response: { total_purchases: 1 } });
  });

  it("passes over a product id with other characters without a word", async () => {
    const { appKey, utoken, ask } = wire();
    const { status, body } = await ask("POST", `/apps/${appKey}/purchases/mass_create.json`, {
      utoken,
      platform: "general",
      validate_data: true,
      orders: [{ ...order, products: { "tea pot": products.teapot } }],
    });
    expect([status, body]).toEqual([200, { ...done, uuid }]);
    expect((await list()).body).toMatchObject({ response: { total_purchases: 0 } });
  });

  it("refuses a call without orders", async () => {
    const { appKey, utoken, ask } = wire();
    const path = `/apps/${appKey}/purchases/mass_create.json`;
    const { status, body } = await ask("POST", path, { utoken, platform: "general" });
    expect([status, body]).toEqual([
      500,
      { status: { message: "Missing orders", code: 500, error_type: "Exceptions::InvalidParams" } },
    ]);
  });
});

describe("GET /apps/{app_key}/purchases", () => {
  it("gives ten where no count is given, from an id, and since a day", async () => {
    const { appKey, utoken, ask } = wire();
    await ask("POST", `/apps/${appKey}/purchases/mass_create.json`, {
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

  it("refuses a date that is none", async () => {
    const { status, body } = await list("&since_date=31/02/2026");
    expect([status, body]).toEqual([
      500,
      {
        status: {
          message: "since_date is not a valid date (YYYY-MM-DD)",
          code: 500,
          error_type: "Exceptions::InvalidParams",
        },
      },
    ]);
  });
});

describe("DELETE /apps/{app_key}/purchases", () => {
  it("stops mails, and answers with its code as text; the order stays", async () => {
    const { appKey, utoken, ask } = wire();
    await ask("POST", `/apps/${appKey}/purchases`, { utoken, platform: "general", ...order });
    const { status, body } = await ask("DELETE", `/apps/${appKey}/purchases`, {
      utoken,
      orders: [{ order_id: "1001" }, { order_id: "1001", skus: ["teapot"] }],
    });
    expect([status, body]).toEqual([200, { code: "200", message: "OK" }]);
    expect((await list()).body).toMatchObject({ response: { total_purchases: 1 } });
  });

  it("refuses a stop without an order id", async () => {
    const { appKey, utoken, ask } = wire();
    const { status, body } = await ask("DELETE", `/apps/${appKey}/purchases`, { utoken, orders: [{}] });
    expect([status, body]).toEqual([
      500,
      {
        status: { message: "Missing orders.0.order_id", code: 500, error_type: "Exceptions::InvalidParams" },
      },
    ]);
  });
});
