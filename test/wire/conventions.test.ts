import { describe, expect, it } from "vitest";
import { addProducts, aReview, createReview, hourMs } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

/** Read endpoints whose last segment is fixed, without the `.json` suffix. */
const fixedReads = [
  "/apps/{app_key}/coupons/unique",
  "/apps/{app_key}/coupons/unique/stats",
  "/missed_products/{app_key}/search_drill_down",
  "/v1/widget/{app_key}/products/promoted_products",
  "/apps/{app_key}/purchases",
  "/products/{app_key}/teapot/questions",
  "/products/{app_key}/teapot/qna_bottomline",
  "/products/{app_key}/service_global_reviews/reviews",
  "/v1/apps/{app_key}/reviews",
  "/v1/apps/{app_key}/bottom_lines",
  "/apps/{app_key}/bottom_lines",
  "/products/{app_key}/teapot/bottomline",
  "/v1/widget/{app_key}/products/teapot/reviews",
  "/v1/widget/{app_key}/products/service_site_reviews/reviews",
  "/apps/{app_key}/top_reviews",
  "/apps/{app_key}/unsubscribers",
  "/v1/apps/{app_key}/products_groups",
];

const urlOf = (path: string, suffix: string, query = "") => {
  const { appKey, utoken } = wire();
  const parameters = `?utoken=${utoken}&missed_products_ids=all${query}`;
  return path.replace("{app_key}", appKey) + suffix + parameters;
};

describe("paths", () => {
  it.each(fixedReads)("%s is served with and without .json and with trailing slashes", async (path) => {
    await addProducts(wire(), "teapot");
    await createReview(wire());
    wire().advance(hourMs);
    const bare = await wire().request("GET", urlOf(path, ""));
    expect([path, bare.status]).toEqual([path, 200]);
    for (const suffix of [".json", "/", ".json/"]) {
      const { status, body } = await wire().request("GET", urlOf(path, suffix));
      expect([suffix, status, body]).toEqual([suffix, 200, bare.body]);
    }
  });

  it.each([
    ["POST", "/apps/{app_key}/products/mass_create", { products: {} }],
    ["PUT", "/apps/{app_key}/products/mass_update", { products: {} }],
    ["POST", "/apps/{app_key}/purchases/mass_create", { platform: "general", orders: [] }],
    ["DELETE", "/apps/{app_key}/purchases", { orders: [] }],
    ["POST", "/apps/{app_key}/unsubscribers/mass_create", { email_list: {} }],
    ["DELETE", "/apps/{app_key}/unsubscribers/mass_delete", { email_list: {} }],
    ["POST", "/apps/{app_key}/reminders/send_test_email", { email: "jo@shop.example" }],
    ["POST", "/apps/{app_key}/coupons/unique/delete", { coupon_action: "map_share" }],
  ])("%s %s is served in each of these forms", async (method, path, body) => {
    const { appKey, utoken, request } = wire();
    const statuses: number[] = [];
    for (const suffix of ["", ".json", "/", ".json/"]) {
      const sent = { utoken, ...body };
      statuses.push((await request(method, path.replace("{app_key}", appKey) + suffix, sent)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  it("serves the endpoints that create reviews and tokens in each of these forms", async () => {
    const { request, appKey, secret } = wire();
    for (const suffix of ["", ".json", "/"]) {
      const email = `jane${suffix.length}@mail.example`;
      expect((await request("POST", `/v1/widget/reviews${suffix}`, aReview(wire(), { email }))).status).toBe(200);
      const parameters = { client_id: appKey, client_secret: secret, grant_type: "client_credentials" };
      expect((await request("POST", `/oauth/token${suffix}`, parameters)).status).toBe(200);
    }
  });

  it("keeps dots in a name that is part of a path", async () => {
    const { own } = wire();
    await own("POST", "/v1/apps/{app}/products_groups", { group_name: "v1.2" });
    expect(await own("GET", "/v1/apps/{app}/products_groups/v1.2")).toMatchObject({
      status: 200,
      body: { response: { products_group: { display_name: "v1.2" } } },
    });
  });
});

describe("queries", () => {
  it("treats empty values as absent", async () => {
    for (const path of fixedReads) {
      const { status } = await wire().request("GET", urlOf(path, "", "&count=&page=&callback=&since_date="));
      expect([path, [200, 404].includes(status)]).toEqual([path, true]);
    }
  });

  it("ignores unknown parameters", async () => {
    await createReview(wire());
    const { status } = await wire().request("GET", urlOf("/apps/{app_key}/purchases", "", "&_=1773576000&x[]=1"));
    expect(status).toBe(200);
  });
});

describe("utoken", () => {
  it.each([
    ["POST", "/apps/{app_key}/products/mass_create", { products: {} }],
    ["DELETE", "/apps/{app_key}/purchases", { orders: [] }],
    ["PUT", "/apps/{app_key}/products/mass_update", { products: {} }],
  ])("%s %s accepts it in the body and in the query", async (method, path, body) => {
    const { appKey, utoken, request } = wire();
    const address = path.replace("{app_key}", appKey);
    expect((await request(method, address, { utoken, ...body })).status).toBe(200);
    expect((await request(method, `${address}?utoken=${utoken}`, body)).status).toBe(200);
    expect((await request(method, address, body)).status).toBe(401);
  });
});

describe("responses", () => {
  it("are JSON in UTF-8, including errors", async () => {
    const { appKey, utoken, request } = wire();
    for (const path of [`/apps/${appKey}/purchases?utoken=${utoken}`, `/apps/${appKey}/purchases`, "/nowhere"]) {
      const { headers } = await request("GET", path);
      expect([path, headers.get("content-type")]).toEqual([path, "application/json; charset=utf-8"]);
    }
  });

  it("preserve text in every language", async () => {
    const { own } = wire();
    const customer_name = "Åsa 李 \u{1F600} שלום";
    await own("POST", "/apps/{app}/purchases", {
      platform: "general",
      email: "asa@mail.example",
      customer_name,
      order_id: "1001",
      order_date: "2026-03-01",
      products: { teapot: { name: "Teapot", url: "https://shop.example/teapot", image: "" } },
      validate_data: true,
    });
    const { body } = await own("GET", "/apps/{app}/purchases");
    expect(body).toMatchObject({ response: { purchases: [{ user_name: customer_name }] } });
  });
});
