import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { invalidParams } from "../support/wire-steps.ts";

const wire = useWire();

const specs = { upc: "123", mpn: "M-1", brand: "Acme", isbn: "978", sku: "S-1", external_sku: "X-1" };

/** Each list endpoint with its default response and the fields that `details` adds to its records. */
async function compare(path: string, headers: Readonly<Record<string, string>> = {}) {
  const { request } = wire();
  const separator = path.includes("?") ? "&" : "?";
  const plain = await request("GET", path, undefined, headers);
  const no = await request("GET", `${path}${separator}details=false`, undefined, headers);
  const detailed = await request("GET", `${path}${separator}details=true`, undefined, headers);
  expect([plain.status, no.status, detailed.status]).toEqual([200, 200, 200]);
  expect(no.body).toEqual(plain.body);
  expect(detailed.body).toMatchObject(plain.body as object);
  return { plain: plain.body, detailed: detailed.body };
}

describe("details=true, an extension of the specification", () => {
  it("GET /apps/{app_key}/purchases", async () => {
    const { appKey, utoken, own } = wire();
    const sent = { currency_iso: "EUR", user_reference: "u-1", language: "de" };
    await own("POST", "/apps/{app}/purchases", {
      platform: "magento",
      validate_data: true,
      email: "ann@shop.example",
      customer_name: "Ann",
      order_id: "1001",
      order_date: "2026-03-01",
      ...sent,
      products: { teapot: { name: "Teapot", url: "https://shop.example/teapot", price: "12.50", specs } },
    });
    const { plain, detailed } = await compare(`/apps/${appKey}/purchases?utoken=${utoken}`);
    const record = {
      id: 1,
      user_email: "ann@shop.example",
      user_name: "Ann",
      order_id: "1001",
      product_sku: "teapot",
      product_name: "Teapot",
      product_url: "https://shop.example/teapot",
      order_date: "2026-03-01T00:00:00.000Z",
      product_description: null,
      created_at: "2026-03-15T12:00:00.000Z",
    };
    const status = { code: 200, message: "OK" };
    expect(plain).toEqual({ status, response: { purchases: [record], total_purchases: 1 } });
    const more = {
      platform: "magento",
      ...sent,
      product_image: null,
      product_price: "12.50",
      product_tags: null,
      ...specs,
    };
    expect(detailed).toEqual({ status, response: { purchases: [{ ...record, ...more }], total_purchases: 1 } });
  });

  it("GET /core/v3/stores/{store_id}/products", async () => {
    const { appKey, utoken, own } = wire();
    await own("POST", "/apps/{app}/products/mass_create", {
      products: { teapot: { name: "Teapot", url: "https://shop.example/teapot", product_tags: "tea", specs } },
    });
    const path = `/core/v3/stores/${appKey}/products`;
    const { plain, detailed } = await compare(path, { "X-Service-Token": utoken });
    const record = {
      id: 1,
      external_id: "teapot",
      name: "Teapot",
      description: null,
      url: "https://shop.example/teapot",
      image_url: null,
      price: null,
      currency: null,
      brand: "Acme",
      sku: "S-1",
      mpn: "M-1",
      gtins: [
        { declared_type: "UPC", value: "123" },
        { declared_type: "ISBN", value: "978" },
      ],
      status: "active",
      created_at: "2026-03-15T12:00:00.000Z",
      updated_at: "2026-03-15T12:00:00.000Z",
    };
    const more = { product_tags: "tea", blacklisted: false, upc: "123", isbn: "978", external_sku: "X-1" };
    const pagination = { next_page_info: null };
    expect(plain).toEqual({ products: [record], pagination });
    expect(detailed).toEqual({ products: [{ ...record, ...more }], pagination: { ...pagination, last_id: record.id } });
  });

  it("GET /v1/apps/{app_key}/reviews", async () => {
    const { appKey, utoken, request } = wire();
    await request("POST", "/reviews/dynamic_create", {
      appkey: appKey,
      sku: "teapot",
      product_title: "Teapot",
      product_url: "https://shop.example/teapot",
      display_name: "Ann",
      email: "ann@mail.example",
      review_content: "It pours very well.",
      review_title: "Pours well",
      review_score: "5",
    });
    const { plain, detailed } = await compare(`/v1/apps/${appKey}/reviews?utoken=${utoken}`);
    const record = {
      id: 1,
      title: "Pours well",
      content: "It pours very well.",
      score: 5,
      votes_up: 0,
      votes_down: 0,
      created_at: "2026-03-15T12:00:00.000Z",
      updated_at: "2026-03-15T12:00:00.000Z",
      sku: "teapot",
      name: "Ann",
      email: "ann@mail.example",
      reviewer_type: "anonymous",
      deleted: false,
      user_reference: null,
    };
    const more = {
      published: true,
      state: "published",
      comment: null,
      comment_created_at: null,
      images: [],
      product_title: "Teapot",
      product_url: "https://shop.example/teapot",
    };
    expect(plain).toEqual({ reviews: [record] });
    expect(detailed).toEqual({ reviews: [{ ...record, ...more }] });
  });

  it("GET /apps/{app_key}/coupons/unique", async () => {
    const { appKey, utoken, own } = wire();
    await own("POST", "/apps/{app}/coupons/unique", { coupon_action: "map_share", codes: ["AAA"] });
    const { plain, detailed } = await compare(`/apps/${appKey}/coupons/unique?utoken=${utoken}`);
    const status = { code: 200, message: "OK" };
    expect(plain).toEqual({ status, response: { coupons: [{ code: "AAA" }] } });
    const coupon = { code: "AAA", coupon_action: "map_share", issued_to: null, issued_at: null };
    expect(detailed).toEqual({ status, response: { coupons: [coupon] } });
  });

  it("accepts only true and false", async () => {
    expect(await wire().own("GET", "/apps/{app}/purchases?details=perhaps")).toMatchObject(
      invalidParams(mentioning("details", "true", "false")),
    );
  });
});
