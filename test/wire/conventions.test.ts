import { describe, expect, it } from "vitest";
import { addProducts, aReview, createReview, hourMs } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

/** Reads of which the last segment is fixed, without the `.json` with which some are shown. */
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
  const given = `?utoken=${utoken}&missed_products_ids=all${query}`;
  return path.replace("{app_key}", appKey) + suffix + given;
};

describe("addresses", () => {
  it.each(fixedReads)("%s is served with .json and without, and with slashes behind", async (path) => {
    await addProducts(wire(), "teapot");
    await createReview(wire());
    wire().advance(hourMs);
    const bare = await wire().ask("GET", urlOf(path, ""));
    expect([path, bare.status]).toEqual([path, 200]);
    for (const suffix of [".json", "/", ".json/"]) {
      const { status, body } = await wire().ask("GET", urlOf(path, suffix));
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
  ])("%s %s is served in each of those ways", async (method, path, body) => {
    const { appKey, utoken, ask } = wire();
    const statuses: number[] = [];
    for (const suffix of ["", ".json", "/", ".json/"]) {
      const sent = { utoken, ...body };
      statuses.push((await ask(method, path.replace("{app_key}", appKey) + suffix, sent)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  it("serves the calls that open a review and a token in those ways", async () => {
    const { ask, appKey, secret } = wire();
    for (const suffix of ["", ".json", "/"]) {
      const email = `jane${suffix.length}@mail.example`;
      expect((await ask("POST", `/v1/widget/reviews${suffix}`, aReview(wire(), { email }))).status).toBe(200);
      const given = { client_id: appKey, client_secret: secret, grant_type: "client_credentials" };
      expect((await ask("POST", `/oauth/token${suffix}`, given)).status).toBe(200);
    }
  });

  it("keeps the dots of a name that stands in a path", async () => {
    const { appKey, utoken, ask } = wire();
    await ask("POST", `/v1/apps/${appKey}/products_groups`, { utoken, group_name: "v1.2" });
    expect(await ask("GET", `/v1/apps/${appKey}/products_groups/v1.2?utoken=${utoken}`)).toMatchObject({
      status: 200,
      body: { response: { products_group: { display_name: "v1.2" } } },
    });
  });
});

describe("queries", () => {
  it("takes empty values as not given", async () => {
    for (const path of fixedReads) {
      const { status } = await wire().ask("GET", urlOf(path, "", "&count=&page=&callback=&since_date="));
      expect([path, [200, 404].includes(status)]).toEqual([path, true]);
    }
  });

  it("passes over names that it does not know", async () => {
    await createReview(wire());
    const { status } = await wire().ask("GET", urlOf("/apps/{app_key}/purchases", "", "&_=1773576000&x[]=1"));
    expect(status).toBe(200);
  });
});

describe("where a utoken stands", () => {
  it.each([
    ["POST", "/apps/{app_key}/products/mass_create", { products: {} }],
    ["DELETE", "/apps/{app_key}/purchases", { orders: [] }],
    ["PUT", "/apps/{app_key}/products/mass_update", { products: {} }],
  ])("%s %s takes it in the body, and in the query", async (method, path, body) => {
    const { appKey, utoken, ask } = wire();
    const address = path.replace("{app_key}", appKey);
    expect((await ask(method, address, { utoken, ...body })).status).toBe(200);
    expect((await ask(method, `${address}?utoken=${utoken}`, body)).status).toBe(200);
    expect((await ask(method, address, body)).status).toBe(401);
  });
});

describe("answers", () => {
  it("are JSON in UTF-8, errors too", async () => {
    const { appKey, utoken, ask } = wire();
    for (const path of [
      `/apps/${appKey}/purchases?utoken=${utoken}`,
      `/apps/${appKey}/purchases`,
      "/nowhere",
    ]) {
      const { headers } = await ask("GET", path);
      expect([path, headers.get("content-type")]).toEqual([path, "application/json; charset=utf-8"]);
    }
  });

  it("hold text of every language as it was sent", async () => {
    const { appKey, utoken, ask } = wire();
    const customer_name = "Åsa 李 \u{1F600} שלום";
    await ask("POST", `/apps/${appKey}/purchases`, {
      utoken,
      platform: "general",
      email: "asa@mail.example",
      customer_name,
      order_id: "1001",
      order_date: "2026-03-01",
      products: { teapot: { name: "Teapot", url: "https://shop.example/teapot", image: "" } },
      validate_data: true,
    });
    const { body } = await ask("GET", `/apps/${appKey}/purchases?utoken=${utoken}`);
    expect(body).toMatchObject({ response: { purchases: [{ user_name: customer_name }] } });
  });
});
