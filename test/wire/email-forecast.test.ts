import { describe, expect, it } from "vitest";
import { ok } from "../support/wire-shapes.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const read = (query = "") =>
  wire().request("GET", `/starpost/v1/apps/${wire().appKey}/mail_forecast?utoken=${wire().utoken}${query}`);

describe("GET /starpost/v1/apps/{app_key}/mail_forecast", () => {
  it("returns emails, people, days, and the reasons why emails are not sent", async () => {
    const product = { name: "Teapot", url: "https://shop.example/teapot", image: "" };
    const order = {
      email: "ann@mail.example",
      customer_name: "Ann",
      order_date: "2026-03-10",
      products: { teapot: product },
    };
    await wire().own("POST", "/apps/{app}/purchases/mass_create", {
      platform: "general",
      orders: [
        { ...order, order_id: "1" },
        { ...order, order_id: "2", order_date: "2024-03-10" },
      ],
    });
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body).toEqual({
      status: ok,
      response: {
        mails: 1,
        people: 1,
        days: [{ day: "2026-03-24", mails: 1 }],
        not_sent: {
          requests_off: 0,
          order_too_old: 1,
          bad_address: 0,
          product_blacklisted: 0,
          mails_stopped: 0,
          unsubscribed: 0,
          reported_spam: 0,
          bounced_before: 0,
          reviewed_lately: 0,
          too_many_to_person: 0,
        },
      },
    });
    expect((await read("&since_purchase_id=3")).body).toMatchObject({ response: { mails: 0, people: 0 } });
  });

  it("rejects an invalid ID and a request without a utoken", async () => {
    expect((await read("&since_purchase_id=first")).body).toMatchObject({
      status: { error_type: "Exceptions::InvalidParams" },
    });
    const path = `/starpost/v1/apps/${wire().appKey}/mail_forecast`;
    expect((await wire().request("GET", path)).status).toBe(401);
  });
});
