import { expect, it } from "vitest";
import { useWire } from "../support/wire.ts";

const wire = useWire();

/** Every operation of the specification: one per heading of "Endpoints", and the batch call at its end. */
const specified = [
  ["POST", "/apps/{app_key}/account_platform"],
  ["POST", "/oauth/token"],
  ["GET", "/users/b2blogin.json?app_key={app_key}&secret={secret}"],
  ["POST", "/users"],
  ["GET", "/users/{user_id}"],
  ["POST", "/apps/{app_key}/coupons/unique"],
  ["GET", "/apps/{app_key}/coupons/unique?utoken={utoken}"],
  ["GET", "/apps/{app_key}/coupons/unique/stats?utoken={utoken}"],
  ["POST", "/apps/{app_key}/coupons/unique/delete"],
  ["GET", "/apps/{app_key}/email_stats/{since_date}/{to_date}"],
  ["POST", "/apps/{app_key}/reminders/send_test_email"],
  ["GET", "/missed_products/{app_key}/search_drill_down"],
  ["GET", "/v1/widget/{app_key}/products/promoted_products"],
  ["POST", "/apps/{app_key}/products/mass_create"],
  ["PUT", "/apps/{app_key}/products/mass_update"],
  ["POST", "/apps/{app_key}/purchases"],
  ["POST", "/apps/{app_key}/purchases/mass_create.json"],
  ["GET", "/apps/{app_key}/purchases?utoken={utoken}"],
  ["DELETE", "/apps/{app_key}/purchases"],
  ["GET", "/products/{app_key}/{sku}/questions"],
  ["GET", "/products/{app_key}/{sku}/qna_bottomline"],
  ["GET", "/answers/{answer_id}/vote/{vote_type}"],
  ["POST", "/questions/send_confirmation_mail"],
  ["POST", "/v1/widget/reviews"],
  ["POST", "/reviews/dynamic_create"],
  ["GET", "/products/{app_key}/service_global_reviews/reviews.json"],
  ["GET", "/v1/apps/{app_key}/reviews?utoken={utoken}"],
  ["GET", "/v1/apps/{app_key}/bottom_lines"],
  ["GET", "/products/{app_key}/{product_id}/bottomline"],
  ["GET", "/v1/widget/{app_key}/products/{product_id}/reviews.json"],
  ["GET", "/v1/widget/{app_key}/products/service_site_reviews/reviews.json"],
  ["GET", "/reviews/{review_id}/vote/{vote_type}"],
  ["GET", "/reviews/{review_id}"],
  ["GET", "/apps/{app_key}/top_reviews.json"],
  ["GET", "/apps/{app_key}/subomain_check/{subdomain}?utoken={utoken}"],
  ["GET", "/v1/seo_pages/url/{app_key}/{product_id}"],
  ["POST", "/apps/{app_key}/unsubscribers/mass_create"],
  ["DELETE", "/apps/{app_key}/unsubscribers/mass_delete"],
  ["GET", "/apps/{app_key}/unsubscribers?utoken={utoken}"],
  ["POST", "/v1/apps/{app_key}/products_groups"],
  ["GET", "/v1/apps/{app_key}/products_groups?utoken={utoken}"],
  ["GET", "/v1/apps/{app_key}/products_groups/{group_name}?utoken={utoken}"],
  ["PUT", "/v1/apps/{app_key}/products_groups/{group_name}?utoken={utoken}"],
  ["DELETE", "/v1/apps/{app_key}/products_groups/{group_name}?utoken={utoken}"],
  ["GET", "/core/v3/stores/{store_id}/products"],
  ["POST", "/batch"],
] as const;

/** Further paths that the specification shows. */
const additional = [
  ["GET", "/apps/{app_key}/top_reviews.html"],
  ["GET", "/missed_products/{app_key}/search_drill_down.json"],
  ["GET", "/apps/{app_key}/bottom_lines"],
  ["GET", "/v1/seo_pages/url/{app_key}/"],
  ["GET", "/v1/widget/{app_key}/products/{product_id}/reviews.json?sort[]=date&sort[]=votes_up"],
] as const;

it("contains 46 operations", () => {
  expect(specified).toHaveLength(46);
  expect(new Set(specified.map(([method, path]) => `${method} ${path.split("?")[0]}`)).size).toBe(46);
});

/**
 * Replaces the placeholders of a path with this account's keys or, where any value will do, with a sample
 * value.
 */
function fill(path: string): string {
  const { appKey, secret, utoken } = wire();
  const values: Readonly<Record<string, string>> = {
    app_key: appKey,
    store_id: appKey,
    secret,
    utoken,
    user_id: "1",
    since_date: "2026-03-01",
    to_date: "2026-03-02",
    vote_type: "up",
    review_id: "1",
    answer_id: "1",
  };
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? "teapot");
}

const send = async (method: string, path: string) => {
  const body = method === "GET" ? undefined : { utoken: wire().utoken };
  const { status, text } = await wire().raw(method, fill(path), body);
  return { status, text };
};

it.each([...specified, ...additional])("%s %s is a known path", async (method, path) => {
  const { status, text } = await send(method, path);
  expect(text).not.toContain("Exceptions::UnknownPath");
  expect(text).not.toContain("Exceptions::InternalError");
  expect(status).not.toBe(405);
});

it("returns 404 for an unknown path", async () => {
  expect(await send("GET", "/apps/{app_key}/nothing")).toMatchObject({
    status: 404,
    text: expect.stringContaining("Exceptions::UnknownPath") as string,
  });
});
