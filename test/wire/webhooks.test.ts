import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";

const wire = useWire();
const ok = { code: 200, message: "OK" };

const prefix = () => `/starpost/v1/apps/${wire().appKey}`;
const get = (path: string, query = "") =>
  wire().ask("GET", `${prefix()}${path}?utoken=${wire().utoken}${query}`);
const subscribe = (url: string, event_name = "review_create") =>
  wire().ask("POST", `${prefix()}/webhooks`, { utoken: wire().utoken, url, event_name });
const write = () =>
  wire().ask("POST", "/v1/widget/reviews", {
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
  it("are refused for addresses of the own network", async () => {
    const { status, body } = await subscribe("http://[::ffff:7f00:1]/");
    expect([status, body]).toEqual([
      500,
      {
        status: {
          message: expect.stringMatching(/^url .*127\.0\.0\.1/),
          code: 500,
          error_type: "Exceptions::InvalidParams",
        },
      },
    ]);
  });
});

describe("webhook_deliveries", () => {
  it("tell what waits, what it holds, and send it again", async () => {
    expect((await get("/webhook_deliveries")).body).toEqual({ status: ok, response: { deliveries: [] } });
    await subscribe("https://shop.example/hook");
    await write();
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
    const listed = await get(
      "/webhook_deliveries",
      "&state=queued&event_name=review_create&webhook_id=1&since_id=1&count=5",
    );
    expect([listed.status, listed.body]).toEqual([200, { status: ok, response: { deliveries: [delivery] } }]);
    const data = {
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
    };
    const body = JSON.stringify({ event: "review_create", data });
    const told = await get("/webhook_deliveries/1");
    expect([told.status, told.body]).toEqual([
      200,
      { status: ok, response: { delivery: { ...delivery, body }, attempts: [] } },
    ]);
    const path = `${prefix()}/webhook_deliveries/1/redeliver`;
    const again = await wire().ask("POST", path, { utoken: wire().utoken });
    expect([again.status, again.body]).toEqual([200, { status: ok, response: { delivery } }]);
    expect((await get("/webhook_attempts", "&since_id=1")).body).toEqual({
      status: ok,
      response: { attempts: [] },
    });
  });

  it("are not there for others, nor where there is none", async () => {
    const { status, body } = await get("/webhook_deliveries/7");
    expect([status, body]).toEqual([
      404,
      {
        status: {
          message: "Couldn't find Delivery with id = 7",
          code: 404,
          error_type: "Exceptions::RecordNotFound",
        },
      },
    ]);
    const unsigned = await wire().ask("GET", `${prefix()}/webhook_deliveries`);
    expect(unsigned.status).toBe(401);
    const wrong = await get("/webhook_deliveries", "&state=lost");
    expect([wrong.status, wrong.body]).toMatchObject([
      500,
      { status: { message: "state must be one of queued, leased, delivered, failed" } },
    ]);
  });
});
