import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { invalidParams, noon, refusal } from "../support/wire-steps.ts";

const wire = useWire();
const ok = { code: 200, message: "OK" };

const upload = async (codes: readonly unknown[], coupon_action = "map_review") => {
  return wire().own("POST", "/apps/{app}/coupons/unique", { coupon_action, codes });
};
const get = async (path: string) => {
  return wire().own("GET", `/apps/{app}/coupons/unique${path}`);
};

describe("POST /apps/{app_key}/coupons/unique", () => {
  it("counts errors by category, and new codes", async () => {
    const { status, body } = await upload(["AAAA", "", "AAAA", "X", "BBBB"]);
    expect([status, body]).toEqual([
      200,
      {
        status: ok,
        response: {
          total_codes: 5,
          errors: {
            empty_cell: { error_text: "Empty cells", error_count: 1 },
            code_length: { error_text: "Max/Min code digit requirements", error_count: 1 },
            duplicate_code: { error_text: "Duplicated content", error_count: 1 },
          },
          "new-codes": 2,
        },
      },
    ]);
  });

  it("accepts 1,000 codes and rejects 1,001", async () => {
    const codesOf = (count: number) => Array.from({ length: count }, (_, at) => `CODE${at}`);
    expect((await upload(codesOf(1_000))).body).toMatchObject({ response: { "new-codes": 1_000 } });
    expect(await upload(codesOf(1_001))).toMatchObject(invalidParams(mentioning("codes", 1001, 1000)));
  });

  it("rejects an unknown action", async () => {
    expect(await upload(["AAAA"], "map_other")).toMatchObject(
      invalidParams(mentioning("coupon_action", "map_review, map_share, map_review_share")),
    );
  });
});

describe("GET /apps/{app_key}/coupons/unique", () => {
  it("lists the codes", async () => {
    await upload(["AAAA", "BBBB"]);
    const { status, body } = await get("");
    expect([status, body]).toEqual([200, { status: ok, response: { coupons: [{ code: "AAAA" }, { code: "BBBB" }] } }]);
  });
});

describe("GET /apps/{app_key}/coupons/unique/stats", () => {
  it("counts codes by action", async () => {
    await upload(["AAAA", "BBBB"], "map_share");
    const { status, body } = await get("/stats");
    expect([status, body]).toEqual([
      200,
      { status: ok, response: { stats: { map_review: 0, map_share: 2, map_review_share: 0 } } },
    ]);
  });
});

describe("POST /starpost/v1/apps/{app_key}/coupons/issue", () => {
  const issue = (email: string, headers = {}, coupon_action = "map_review") => {
    const { appKey, utoken, request } = wire();
    const body = { utoken, coupon_action, email };
    return request("POST", `/starpost/v1/apps/${appKey}/coupons/issue`, body, headers);
  };
  const issued = (code: string, email: string) => ({
    status: 200,
    body: { response: { coupon: { code, coupon_action: "map_review", email, issued_at: noon } } },
  });

  it("issues each code once, in the order of upload", async () => {
    await upload(["BBBB", "AAAA"]);
    await upload(["CCCC"], "map_share");
    expect(await issue("ann@mail.example")).toMatchObject(issued("BBBB", "ann@mail.example"));
    expect(await issue("ann@mail.example")).toMatchObject(issued("AAAA", "ann@mail.example"));
    const { status, body } = await issue("bo@mail.example");
    const message = "Couldn't find Coupon with coupon_action = map_review that has not been issued";
    expect([status, body]).toEqual([404, refusal(message, 404, "RecordNotFound")]);
    expect((await get("/stats?details=true")).body).toMatchObject({
      response: { stats: { map_review: 2, map_share: 1 }, left: { map_review: 0, map_share: 1, map_review_share: 0 } },
    });
  });

  it("returns the same code for a repeated idempotency key", async () => {
    await upload(["AAAA", "BBBB"]);
    const key = { "idempotency-key": "review-1" };
    expect(await issue("ann@mail.example", key)).toMatchObject(issued("AAAA", "ann@mail.example"));
    expect(await issue("ann@mail.example", key)).toMatchObject(issued("AAAA", "ann@mail.example"));
    expect(await issue("bo@mail.example")).toMatchObject(issued("BBBB", "bo@mail.example"));
  });

  it("lists with details to whom codes were issued", async () => {
    await upload(["AAAA", "BBBB"]);
    await issue("Ann@mail.example");
    const action = { coupon_action: "map_review" };
    expect((await get("?details=true")).body).toMatchObject({
      response: {
        coupons: [
          { code: "AAAA", ...action, issued_to: "Ann@mail.example", issued_at: noon },
          { code: "BBBB", ...action, issued_to: null, issued_at: null },
        ],
      },
    });
    expect((await get("")).body).toMatchObject({ response: { coupons: [{ code: "AAAA" }, { code: "BBBB" }] } });
  });

  it("rejects an invalid address and an unknown action", async () => {
    await upload(["AAAA"]);
    expect(await issue("ann")).toMatchObject(invalidParams(mentioning("email")));
    expect(await issue("ann@mail.example", {}, "map_other")).toMatchObject(
      invalidParams(mentioning("coupon_action", "map_review")),
    );
  });
});

describe("POST /apps/{app_key}/coupons/unique/delete", () => {
  it("deletes the codes of an action", async () => {
    await upload(["AAAA"]);
    await upload(["BBBB"], "map_share");
    const { status, body } = await wire().own("POST", "/apps/{app}/coupons/unique/delete", {
      coupon_action: "map_review",
    });
    expect([status, body]).toEqual([200, { status: ok }]);
    expect((await get("")).body).toEqual({ status: ok, response: { coupons: [{ code: "BBBB" }] } });
  });

  it("rejects a request without an action", async () => {
    expect(await wire().own("POST", "/apps/{app}/coupons/unique/delete")).toMatchObject(
      invalidParams("Missing coupon_action"),
    );
  });
});

it("rejects every coupon request while the feature is disabled", async () => {
  const { appKey, utoken, request, disable } = wire();
  await disable("dynamic_coupons");
  const path = `/apps/${appKey}/coupons/unique/delete`;
  const responses = [
    await upload(["AAAA"]),
    await get(""),
    await get("/stats"),
    await request("POST", path, { utoken, coupon_action: "map_review" }),
  ];
  for (const { status, body } of responses) {
    expect([status, body]).toEqual([401, refusal(expect.stringContaining("dynamic_coupons"), 401, "FeatureDisabled")]);
  }
});
