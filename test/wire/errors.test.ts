import { afterEach, describe, expect, it } from "vitest";
import { createServer } from "../../src/server/server.ts";
import { silentLog } from "../support/silent-log.ts";
import { aQuestion, aReview, addProducts, refusal, setFeature, refused } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

/** Endpoints that require a utoken. Source: spec "Authentication" 1, which names those that do not. */
const withUtoken = [
  ["POST", "/apps/{app_key}/account_platform"],
  ["POST", "/apps/{app_key}/coupons/unique"],
  ["GET", "/apps/{app_key}/coupons/unique"],
  ["GET", "/apps/{app_key}/coupons/unique/stats"],
  ["POST", "/apps/{app_key}/coupons/unique/delete"],
  ["GET", "/apps/{app_key}/email_stats/2026-03-01/2026-03-02?categories=map&aggregate=day"],
  ["POST", "/apps/{app_key}/reminders/send_test_email"],
  ["GET", "/missed_products/{app_key}/search_drill_down?missed_products_ids=1"],
  ["POST", "/apps/{app_key}/products/mass_create"],
  ["PUT", "/apps/{app_key}/products/mass_update"],
  ["POST", "/apps/{app_key}/purchases"],
  ["POST", "/apps/{app_key}/purchases/mass_create.json"],
  ["GET", "/apps/{app_key}/purchases"],
  ["DELETE", "/apps/{app_key}/purchases"],
  ["GET", "/v1/apps/{app_key}/reviews"],
  ["GET", "/apps/{app_key}/subomain_check/teashop"],
  ["POST", "/apps/{app_key}/unsubscribers/mass_create"],
  ["DELETE", "/apps/{app_key}/unsubscribers/mass_delete"],
  ["GET", "/apps/{app_key}/unsubscribers"],
  ["POST", "/v1/apps/{app_key}/products_groups"],
  ["GET", "/v1/apps/{app_key}/products_groups"],
  ["GET", "/v1/apps/{app_key}/products_groups/pots"],
  ["PUT", "/v1/apps/{app_key}/products_groups/pots"],
  ["DELETE", "/v1/apps/{app_key}/products_groups/pots"],
] as const;

const fill = (path: string, appKey = wire().appKey) => path.replace("{app_key}", appKey);

describe("unauthorized request: HTTP 401", () => {
  it.each(withUtoken)("%s %s", async (method, path) => {
    const { request, utoken } = wire();
    const unauthorized = refusal("You are not authorized to access this page.", 401, "AccessDenied");
    const tokens = [undefined, "", "wrong", `${utoken}x`, utoken.toLowerCase(), "' or 1=1 --"];
    for (const token of tokens) {
      const response =
        method === "GET"
          ? await request(
              method,
              fill(path) +
                (token === undefined ? "" : `${path.includes("?") ? "&" : "?"}utoken=${encodeURIComponent(token)}`),
            )
          : await request(method, fill(path), { utoken: token });
      expect([token, response.status, response.body]).toEqual([token, 401, unauthorized]);
    }
  });

  it("rejects the utoken of another account", async () => {
    const { request, utoken } = wire();
    const user = { email: "jo@shop.example", display_name: "Jo", password: "correct horse", url: "https://jo.example" };
    const { body } = await request("POST", "/users", { user });
    const { app_key } = (body as { response: { app_key: string } }).response;
    for (const [method, path] of withUtoken) {
      const query = `${path.includes("?") ? "&" : "?"}utoken=${utoken}`;
      const response = await request(method, fill(path, app_key) + query, method === "GET" ? undefined : { utoken });
      expect([path, response.status]).toEqual([path, 401]);
    }
  });
});

describe("record not found: code 404", () => {
  it.each([
    ...withUtoken,
    ["GET", "/products/{app_key}/teapot/questions"],
    ["GET", "/products/{app_key}/teapot/qna_bottomline"],
    ["GET", "/products/{app_key}/service_global_reviews/reviews.json"],
    ["GET", "/v1/apps/{app_key}/bottom_lines?count=10&page=1"],
    ["GET", "/products/{app_key}/teapot/bottomline"],
    ["GET", "/v1/widget/{app_key}/products/teapot/reviews.json"],
    ["GET", "/v1/widget/{app_key}/products/service_site_reviews/reviews.json"],
    ["GET", "/v1/widget/{app_key}/products/promoted_products"],
    ["GET", "/apps/{app_key}/top_reviews.json"],
    ["GET", "/v1/seo_pages/url/{app_key}/teapot"],
  ] as const)("%s %s of an unknown account", async (method, path) => {
    const { request, utoken } = wire();
    const query = `${path.includes("?") ? "&" : "?"}utoken=${utoken}`;
    const response = await request(method, fill(path, "nobody") + query, method === "GET" ? undefined : { utoken });
    expect([response.status, response.body]).toEqual([
      404,
      refusal("Couldn't find Account with app_key = nobody", 404, "RecordNotFound"),
    ]);
  });
});

describe("invalid parameters: code 500", () => {
  it("reports a body that is not JSON", async () => {
    const { appKey, utoken, request } = wire();
    const path = `/apps/${appKey}/purchases?utoken=${utoken}`;
    for (const body of ["{", "nonsense", "[1,", '{"a":1}}']) {
      const { status, body: answer } = await request("POST", path, body);
      expect([body, status >= 400]).toEqual([body, true]);
      const expected = { message: expect.any(String) as string, code: status };
      expect(answer).toMatchObject({ status: expected });
    }
  });

  it.each(["[]", '"text"', "7", "null", "true"])("reports a body that is not an object: %s", async (body) => {
    const response = await wire().request("POST", "/reviews/dynamic_create", body);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.body).toMatchObject({ status: { code: response.status } });
  });

  it.each(["\u0000", "a\u0000b", "\uD800", "a\uDC00"])("reports that %j cannot be stored", async (text) => {
    for (const field of ["review_content", "review_title", "display_name", "product_title"]) {
      const response = await wire().request("POST", "/v1/widget/reviews", aReview(wire(), { [field]: text }));
      expect(response).toMatchObject(refused(expect.stringContaining(field), 500, "InvalidParams"));
    }
    const response = await wire().request(
      "POST",
      "/questions/send_confirmation_mail",
      aQuestion(wire(), { review_content: text }),
    );
    expect(response).toMatchObject({ status: 500, body: { status: { error_type: "Exceptions::InvalidParams" } } });
  });
});

describe("feature disabled: code 401", () => {
  it.each([
    ["questions_and_answers", "GET", "/products/{app_key}/teapot/questions"],
    ["questions_and_answers", "GET", "/products/{app_key}/teapot/qna_bottomline"],
    ["unsubscribers", "GET", "/apps/{app_key}/unsubscribers"],
    ["unsubscribers", "POST", "/apps/{app_key}/unsubscribers/mass_create"],
    ["unsubscribers", "DELETE", "/apps/{app_key}/unsubscribers/mass_delete"],
    ["dynamic_coupons", "GET", "/apps/{app_key}/coupons/unique"],
  ] as const)("%s: %s %s", async (feature, method, path) => {
    const { request, utoken } = wire();
    await addProducts(wire(), "teapot");
    const email_list = { 1: ["ann@mail.example"] };
    const send = () =>
      request(method, `${fill(path)}?utoken=${utoken}`, method === "GET" ? undefined : { utoken, email_list });
    expect((await send()).status).toBe(200);
    await setFeature(wire(), feature, false);
    const { status, body } = await send();
    expect([status, body]).toEqual([401, refusal(expect.stringContaining(feature), 401, "FeatureDisabled")]);
    await setFeature(wire(), feature, true);
    expect((await send()).status).toBe(200);
  });
});

describe("internal error: HTTP 500", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  it("does not reveal the cause", async () => {
    const broken = {
      call: () => Promise.reject(new Error("the disk is full: /var/lib/secret.db")),
      close: () => Promise.resolve(),
    };
    const server = createServer(broken, { logger: silentLog });
    closing.push(() => server.close());
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
    const response = await fetch(`${url}/apps/any/coupons/unique?utoken=any`);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ status: { code: 500 } });
    expect(text).not.toMatch(/disk|secret| at |\.ts/);
  });
});
