import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { refusal, invalidParams } from "../support/wire-steps.ts";

const wire = useWire();
const ok = { code: 200, message: "OK" };

const prefix = () => `/starpost/v1/apps/${wire().appKey}`;
const get = (path: string, query = "") => wire().request("GET", `${prefix()}${path}?utoken=${wire().utoken}${query}`);
const subscribe = (url: string, event_name = "review_create") =>
  wire().request("POST", `${prefix()}/webhooks`, { utoken: wire().utoken, url, event_name });
const write = () =>
  wire().request("POST", "/v1/widget/reviews", {
    appkey: wire().appKey,
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Ann",
    email: "ann@mail.example",
    review_content: "It pours well.",
    review_title: "Good pot",
    review_score: 4,
  });

describe("webhooks", () => {
  it("reject URLs in the private network", async () => {
    expect(await subscribe("http://[::ffff:7f00:1]/")).toMatchObject(
      invalidParams(expect.stringMatching(/^url .*127\.0\.0\.1/)),
    );
  });
});

const delivery = {
  id: 1,
  webhook_id: 1,
  url: "https://shop.example/hook",
  event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
  event_name: "review_create",
  state: "queued",
  created_at: "2026-03-15T12:00:00.000Z",
  due_at: "2026-03-15T12:00:00.000Z",
  delivered_at: null,
  reason: null,
  attempts: 0,
};

const eventData = () => ({
  id: 1,
  title: "Good pot",
  content: "It pours well.",
  score: 4,
  user_type: "Anonymous",
  verified_buyer: false,
  votes_up: 0,
  votes_down: 0,
  created_at: "2026-03-15T12:00:00.000Z",
  updated_at: "2026-03-15T12:00:00.000Z",
  deleted: false,
  archived: false,
  new: true,
  app_key: wire().appKey,
  sku: "teapot",
  product_title: "Teapot",
  product_url: "https://shop.example/teapot",
  customer_name: "Ann",
  customer_email: "ann@mail.example",
  order_id: null,
});

const pagination = { next_page_info: null };

describe("webhook_deliveries", () => {
  it("list and show queued deliveries, and redeliver them", async () => {
    expect((await get("/webhook_deliveries")).body).toEqual({ status: ok, response: { deliveries: [], pagination } });
    await subscribe("https://shop.example/hook");
    await write();
    const listed = await get(
      "/webhook_deliveries",
      "&state=queued&event_name=review_create&webhook_id=1&since_id=1&count=5",
    );
    expect([listed.status, listed.body]).toEqual([
      200,
      { status: ok, response: { deliveries: [delivery], pagination } },
    ]);
    const body = JSON.stringify({ event: "review_create", data: eventData() });
    const shown = await get("/webhook_deliveries/1");
    expect([shown.status, shown.body]).toEqual([
      200,
      { status: ok, response: { delivery: { ...delivery, body }, attempts: [] } },
    ]);
    const path = `${prefix()}/webhook_deliveries/1/redeliver`;
    const redelivered = await wire().request("POST", path, { utoken: wire().utoken });
    expect([redelivered.status, redelivered.body]).toEqual([200, { status: ok, response: { delivery } }]);
    expect((await get("/webhook_attempts", "&since_id=1")).body).toEqual({
      status: ok,
      response: { attempts: [], pagination },
    });
  });

  it("return 404 for an unknown delivery, 401 without a utoken, and reject an unknown state", async () => {
    const { status, body } = await get("/webhook_deliveries/7");
    expect([status, body]).toEqual([404, refusal("Couldn't find Delivery with id = 7", 404, "RecordNotFound")]);
    const unauthorized = await wire().request("GET", `${prefix()}/webhook_deliveries`);
    expect(unauthorized.status).toBe(401);
    const rejected = await get("/webhook_deliveries", "&state=lost");
    expect([rejected.status, rejected.body]).toMatchObject([
      500,
      { status: { message: mentioning("state", "queued, leased, delivered, failed") } },
    ]);
  });
});
