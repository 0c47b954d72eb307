import { describe, expect, it } from "vitest";
import { ok } from "../support/wire-shapes.ts";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { refusal } from "../support/wire-steps.ts";

const wire = useWire();

const path = (rest: string) => `/starpost/v1/apps/${wire().appKey}${rest}?utoken=${wire().utoken}`;
const change = (body: object) => wire().own("PUT", "/starpost/v1/apps/{app}/mail_rules", { ...body });
const store = (fields: object, send: object = {}) =>
  wire().request("POST", `/apps/${wire().appKey}/purchases/mass_create.json`, {
    utoken: wire().utoken,
    platform: "general",
    ...send,
    orders: [
      {
        email: "jane@mail.example",
        customer_name: "Jane",
        order_id: "1001",
        order_date: "2026-03-10",
        products: { teapot: { name: "Teapot", url: "https://shop.example/teapot", image: "" } },
        ...fields,
      },
    ],
  });

const days = {
  name: "due_after_days",
  description: expect.any(String),
  type: "number",
  value: 14,
  default: 14,
  changed: false,
  min: 0,
  max: 365,
  choices: null,
};

describe("/starpost/v1/apps/{app_key}/mail_rules", () => {
  it("lists the rules and the settings", async () => {
    const { status, body } = await wire().request("GET", path("/mail_rules"));
    expect(status).toBe(200);
    const { response, ...envelope } = body as { response: { rules: object[]; settings: object[] } };
    expect(envelope).toEqual({ status: ok });
    expect(response.rules).toHaveLength(14);
    expect(response.rules).toContainEqual({
      name: "order_too_old",
      description: expect.any(String),
      on: true,
      can_be_off: true,
      settings: ["order_too_old", "oldest_order_months"],
    });
    expect(response.rules).toContainEqual({
      name: "unsubscribed",
      description: expect.any(String),
      on: true,
      can_be_off: false,
      settings: [],
    });
    expect(response.settings).toContainEqual(days);
    expect(response.settings).toContainEqual({
      name: "one_mail_per",
      description: expect.any(String),
      type: "choice",
      value: "order",
      default: "order",
      changed: false,
      min: null,
      max: null,
      choices: ["product", "order"],
    });
  });

  it("changes a setting, and resets it with null", async () => {
    const changed = await change({ name: "due_after_days", value: 3 });
    expect(changed).toMatchObject({
      status: 200,
      body: { status: ok, response: { setting: { ...days, value: 3, changed: true } } },
    });
    const reset = await change({ name: "due_after_days", value: null });
    expect(reset.body).toEqual({ status: ok, response: { setting: days } });
  });

  it("rejects an invalid value", async () => {
    const reject = async (body: object) => {
      const { status, body: reply } = await change(body);
      return [status, (reply as { status: { message: string; error_type: string } }).status];
    };
    expect(await reject({ name: "due_after_days", value: -1 })).toEqual([
      500,
      { code: 500, error_type: "Exceptions::InvalidParams", message: expect.stringContaining("due_after_days") },
    ]);
    const [, unknown] = await reject({ name: "due_days", value: 1 });
    expect(unknown).toMatchObject({ message: expect.stringContaining("send_review_requests, ") });
    const [status] = await reject({ name: "due_after_days" });
    expect(status).toBe(500);
    const unauthorized = { method: "PUT", path: `/starpost/v1/apps/${wire().appKey}/mail_rules` };
    expect(
      (await wire().request(unauthorized.method, unauthorized.path, { name: "track_opens", value: true })).status,
    ).toBe(401);
  });
});

describe("POST /apps/{app_key}/purchases/mass_create with send_mail", () => {
  it("queues emails and returns no email fields if it is omitted", async () => {
    const { body } = await store({});
    expect(Object.keys(body as object).toSorted()).toEqual(["code", "message", "uuid"]);
    expect(await wire().emails()).toEqual([
      { category: "map", email_type_id: 1, email: "jane@mail.example", linkToken: undefined },
    ]);
  });

  it("returns the number of queued emails if true, and queues none if false", async () => {
    expect((await store({}, { send_mail: true })).body).toMatchObject({
      code: 200,
      message: "OK",
      mails: { queued: 1, first_due: "2026-03-24" },
    });
    const { body } = await store({ order_id: "1002" }, { send_mail: "false" });
    expect(Object.keys(body as object).toSorted()).toEqual(["code", "message", "uuid"]);
    expect(await wire().emails()).toHaveLength(1);
    expect((await store({ order_id: "1003" }, { send_mail: "perhaps" })).body).toMatchObject({
      status: { message: mentioning("send_mail", "true", "false") },
    });
  });
});

describe("GET /starpost/v1/apps/{app_key}/orders/{order_id}/mails", () => {
  it("returns the decision for each product", async () => {
    await store({});
    const { status, body } = await wire().request("GET", path("/orders/1001/mails"));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: ok,
      response: {
        order_id: "1001",
        order_date: "2026-03-10T00:00:00.000Z",
        email: "jane@mail.example",
        customer_name: "Jane",
        created_at: "2026-03-15T12:00:00.000Z",
        sends_mail: true,
        decisions: [
          {
            products: [{ product_id: "teapot", name: "Teapot", dropped_by: null }],
            is_whole_order: true,
            mail_id: 1,
            state: "queued",
            decided_by: null,
            at: "2026-03-24T00:00:00.000Z",
            sentence: expect.any(String),
          },
        ],
      },
    });
    const { decisions } = (body as { response: { decisions: { rules: unknown[] }[] } }).response;
    expect(decisions[0]?.rules[0]).toEqual({ name: "past_order", description: expect.any(String), result: "passed" });
  });

  it("returns 404 for an unknown order, and 401 without a utoken", async () => {
    const { status, body } = await wire().request("GET", path("/orders/1002/mails"));
    expect([status, body]).toEqual([404, refusal("Couldn't find Order with order_id = 1002", 404, "RecordNotFound")]);
    expect((await wire().request("GET", `/starpost/v1/apps/${wire().appKey}/orders/1001/mails`)).status).toBe(401);
  });
});
