import { describe, expect, it } from "vitest";
import { differences, int } from "../support/shape.ts";
import { missedProduct, ok, promotedProduct } from "../support/wire-shapes.ts";
import { addProducts, createReview, noon, invalidParams } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

describe("GET /missed_products/{app_key}/search_drill_down", () => {
  const request = (query = "&missed_products_ids=all", suffix = "") => {
    const { appKey, utoken } = wire();
    return wire().request("GET", `/missed_products/${appKey}/search_drill_down${suffix}?utoken=${utoken}${query}`);
  };
  const list = async (query?: string) => {
    const { status, body } = await request(query);
    expect([query, status]).toEqual([query, 200]);
    return (
      body as {
        response: {
          pagination: { total: number; start: number; size: number };
          missed_products: { id: number; product_sku: string }[];
        };
      }
    ).response;
  };
  /** Creates orders of products with invalid product IDs. */
  const order = async (order_id: string, ...skus: string[]) => {
    const { appKey, utoken } = wire();
    const products = Object.fromEntries(
      skus.map((sku) => [sku, { name: `Product ${sku}`, url: "https://shop.example/p", image: "" }]),
    );
    const { status, body } = await wire().request("POST", `/apps/${appKey}/purchases`, {
      utoken,
      platform: "general",
      email: "ann@mail.example",
      customer_name: "Ann Müller",
      order_id,
      order_date: "2026-03-01",
      products,
      validate_data: true,
    });
    expect([status, body]).toEqual([200, ok]);
  };

  it("lists the products that an order contained and that were ignored", async () => {
    await order("1001", "tea pot", "cup");
    const { status, body } = await request();
    expect(status).toBe(200);
    const pagination = { total: int, start: int, size: int };
    const shape = { status: ok, response: { pagination, missed_products: [missedProduct] } };
    expect(differences(body, shape)).toEqual([]);
    expect(body).toMatchObject({
      response: {
        pagination: { total: 1, start: 0 },
        missed_products: [
          {
            product_name: "Product tea pot",
            product_sku: "tea pot",
            user_email: "ann@mail.example",
            user_display_name: "Ann Müller",
            missed_product_date: noon,
            order_id: "1001",
            purchase_date: "2026-03-01T00:00:00.000Z",
            mail_delivery_date: null,
          },
        ],
      },
    });
    expect((await request(undefined, ".json")).body).toEqual(body);
  });

  it("lists the products with the given IDs", async () => {
    await order("1001", "a b", "c d", "e/f");
    const { missed_products: all } = await list();
    expect(all.map(({ product_sku }) => product_sku).toSorted()).toEqual(["a b", "c d", "e/f"]);
    const [first, , third] = all;
    const { missed_products: some, pagination } = await list(`&missed_products_ids=${first?.id},${third?.id},777`);
    expect(some.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([first?.id, third?.id]);
    expect(pagination.total).toBe(2);
  });

  it("pages with start and size", async () => {
    await order("1001", "a b", "c d", "e f");
    await order("1002", "a b");
    const pages = await Promise.all([
      list("&missed_products_ids=all&start=0&size=3"),
      list("&missed_products_ids=all&start=3&size=3"),
    ]);
    expect(pages.map(({ pagination }) => [pagination.total, pagination.start])).toEqual([
      [4, 0],
      [4, 3],
    ]);
    expect(pages.map(({ missed_products }) => missed_products.length)).toEqual([3, 1]);
    const ids = pages.flatMap(({ missed_products }) => missed_products.map(({ id }) => id));
    expect(new Set(ids).size).toBe(4);
  });

  it("returns an empty list for a new account", async () => {
    expect(await list()).toMatchObject({ pagination: { total: 0, start: 0 }, missed_products: [] });
  });

  it.each([
    ["", "Missing missed_products_ids"],
    ["&missed_products_ids=1;2", "missed_products_ids"],
    ["&missed_products_ids=a_b", "missed_products_ids"],
    ["&missed_products_ids=all&start=-1", "start"],
    ["&missed_products_ids=all&size=many", "size"],
  ])("rejects %j", async (query, message) => {
    expect(await request(query)).toMatchObject(invalidParams(expect.stringContaining(message)));
  });
});

describe("GET /v1/widget/{app_key}/products/promoted_products", () => {
  const request = () => wire().request("GET", `/v1/widget/${wire().appKey}/products/promoted_products`);

  it("returns the products with the best reviews", async () => {
    await addProducts(wire(), "teapot", "cup", "plate");
    await createReview(wire(), { sku: "cup", review_score: 3 });
    await createReview(wire(), { sku: "teapot", review_score: 5 });
    await createReview(wire(), { sku: "teapot", review_score: 4, email: "bo@mail.example" });
    const { status, body } = await request();
    expect(status).toBe(200);
    const shape = { products: [promotedProduct, promotedProduct] };
    expect(differences(body, { status: ok, response: shape })).toEqual([]);
    expect(body).toMatchObject({
      response: {
        products: [
          {
            domain_key: "teapot",
            name: "Product teapot",
            url: "https://shop.example/teapot",
            price: 12.5,
            currency: "EUR",
            image: "https://shop.example/teapot.png",
            destination_app_key: wire().appKey,
            average_score: 4.5,
            total_review: 2,
          },
          { domain_key: "cup", average_score: 3, total_review: 1 },
        ],
      },
    });
  });

  it("returns an empty list if no product has reviews", async () => {
    await addProducts(wire(), "teapot");
    const { status, body } = await request();
    expect([status, body]).toEqual([200, { status: ok, response: { products: [] } }]);
  });
});
