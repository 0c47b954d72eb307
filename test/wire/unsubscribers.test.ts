import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { refusal, invalidParams } from "../support/wire-steps.ts";

const wire = useWire();
const ok = { code: 200, message: "OK" };

const send = async (method: string, path: string, body: object) => {
  const { appKey, utoken, request } = wire();
  return request(method, `/apps/${appKey}/unsubscribers/${path}`, { utoken, ...body });
};
const list = async (query = "") => {
  const { appKey, utoken, request } = wire();
  return request("GET", `/apps/${appKey}/unsubscribers?utoken=${utoken}${query}`);
};
const recordOf = (id: number, user_email: string, email_type_id: number) => ({
  id,
  user_email,
  email_type_id,
  unsubscirbed_by_name: "MODERATOR",
});
const ann = recordOf(1, "ann@shop.example", 1);
const bo = recordOf(2, "bo@shop.example", 17);

describe("POST /apps/{app_key}/unsubscribers/mass_create", () => {
  it("unsubscribes by type", async () => {
    const email_list = { 1: ["ann@shop.example"], 17: ["bo@shop.example"] };
    const { status, body } = await send("POST", "mass_create", { email_list });
    expect([status, body]).toEqual([200, { status: ok, response: { unsubscribers: [ann, bo] } }]);
  });

  it("omits the addresses from the response of an asynchronous request", async () => {
    const { status, body } = await send("POST", "mass_create", {
      email_list: { 1: ["ann@shop.example", "nonsense"] },
      async: true,
    });
    expect([status, body]).toEqual([200, { status: ok }]);
    expect((await list()).body).toEqual({ status: ok, response: { unsubscribers: [ann] } });
  });

  it("reports invalid values when validating", async () => {
    const { status, body } = await send("POST", "mass_create", {
      email_list: { 1: ["ann@shop.example", "nonsense"], 99: ["bo@shop.example"] },
      async: true,
      validate_data: "true",
    });
    expect([status, body]).toEqual([
      200,
      {
        status: ok,
        errors: [
          { value: "nonsense", error: mentioning("email") },
          { value: "99", error: mentioning("email type") },
        ],
      },
    ]);
  });

  it("rejects a value that is not a map of lists", async () => {
    expect(await send("POST", "mass_create", { email_list: "ann@shop.example" })).toMatchObject(
      invalidParams(mentioning("email_list", "object")),
    );
  });
});

describe("DELETE /apps/{app_key}/unsubscribers/mass_delete", () => {
  it("removes the addresses given in its body", async () => {
    await send("POST", "mass_create", { email_list: { 1: ["ann@shop.example"], 17: ["bo@shop.example"] } });
    const { status, body } = await send("DELETE", "mass_delete", { email_list: { 1: ["Ann@shop.example"] } });
    expect([status, body]).toEqual([200, { status: ok, response: { unsubscribers: [ann] } }]);
    expect((await list()).body).toEqual({ status: ok, response: { unsubscribers: [bo] } });
  });
});

describe("GET /apps/{app_key}/unsubscribers", () => {
  it("lists them, with paging on request", async () => {
    await send("POST", "mass_create", { email_list: { 1: ["ann@shop.example"], 17: ["bo@shop.example"] } });
    const { status, body } = await list();
    expect([status, body]).toEqual([200, { status: ok, response: { unsubscribers: [ann, bo] } }]);
    expect((await list("&count=1&page=2")).body).toEqual({ status: ok, response: { unsubscribers: [bo] } });
  });

  it("returns only the first 5,000, unless count or page is given", async () => {
    const addresses = Array.from({ length: 5_001 }, (_, at) => `a${at}@shop.example`);
    for (const part of [addresses.slice(2_501), addresses.slice(1, 2_501), addresses.slice(0, 1)]) {
      await send("POST", "mass_create", { email_list: { 1: part }, async: true });
    }
    const idsOf = async (query = "") => {
      const { body } = await list(query);
      const { unsubscribers } = (body as { response: { unsubscribers: { id: number }[] } }).response;
      return unsubscribers.map(({ id }) => id);
    };
    const first = await idsOf();
    expect(first).toHaveLength(5_000);
    const last = await idsOf("&count=1000&page=6");
    expect(last).toHaveLength(1);
    expect(first).not.toContain(last[0]);
  });
});

describe("GET /starpost/v1/apps/{app_key}/unsubscribers", () => {
  const search = (query = "") => {
    const { appKey, utoken, request } = wire();
    return request("GET", `/starpost/v1/apps/${appKey}/unsubscribers?utoken=${utoken}${query}`);
  };
  const found = (record: object) => ({ ...record, created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) });

  it("lists the addresses that match filters, newest first, by page", async () => {
    await send("POST", "mass_create", { email_list: { 1: ["ann@shop.example"], 17: ["bo@shop.example"] } });
    const { status, body } = await search();
    expect([status, body]).toEqual([
      200,
      { status: ok, response: { unsubscribers: [found(bo), found(ann)], pagination: { next_page_info: null } } },
    ]);
    const only = async (query: string) =>
      ((await search(query)).body as { response: { unsubscribers: unknown[] } }).response.unsubscribers;
    expect(await only("&email=ANN@shop.example")).toEqual([found(ann)]);
    expect(await only("&email_type_id=17")).toEqual([found(bo)]);
    expect(await only("&sort=oldest")).toEqual([found(ann), found(bo)]);
    expect(await only("&until_date=2020-01-01")).toEqual([]);
  });

  it.each(["&email_type_id=18", "&email_type_id=0", "&sort=random", "&since_date=soon", "&limit=x"])(
    "rejects %s",
    async (query) => {
      const { status, body } = await search(query);
      const name = query.slice(1, query.indexOf("="));
      expect([status, body]).toEqual([500, refusal(mentioning(name), 500, "InvalidParams")]);
    },
  );
});
