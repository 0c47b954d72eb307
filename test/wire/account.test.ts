import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { refusal } from "../support/wire-steps.ts";

const wire = useWire();

describe("POST /apps/{app_key}/account_platform", () => {
  it("sets the platform", async () => {
    const { status, body } = await wire().own("POST", "/apps/{app}/account_platform", {
      account_platform: { shop_domain: "http://shop.example", platform_type_id: "2" },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: { code: 200, message: "OK" },
      response: {
        account_platform: {
          id: 1,
          shop_token: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
          shop_domain: "http://shop.example",
          shop_api_url: null,
          plan_name: "free",
          platform_type: { id: 2, name: "general", description: null, billable: false },
          deleted: false,
          shop_user_name: null,
        },
      },
    });
  });

  it.each([
    [
      { shop_domain: "https://shop.example", platform_type_id: "2" },
      mentioning("account_platform.shop_domain", "http://"),
    ],
    [
      { shop_domain: "http://shop.example", platform_type_id: "14" },
      mentioning("account_platform.platform_type_id", "1 to 13, 17, 19 to 23"),
    ],
    [{ platform_type_id: "2" }, "Missing account_platform.shop_domain"],
  ])("rejects %j", async (account_platform, message) => {
    const { status, body } = await wire().own("POST", "/apps/{app}/account_platform", { account_platform });
    expect(status).toBe(500);
    expect(body).toEqual({ status: { message, code: 500, error_type: "Exceptions::InvalidParams" } });
  });
});

describe("authorization", () => {
  const unauthorized = refusal("You are not authorized to access this page.", 401, "AccessDenied");

  it("rejects a missing, invalid, or expired utoken with status 401", async () => {
    const { appKey, utoken, request, advance } = wire();
    const path = `/apps/${appKey}/coupons/unique`;
    expect(await request("GET", path)).toMatchObject({ status: 401, body: unauthorized });
    expect(await request("GET", `${path}?utoken=`)).toMatchObject({ status: 401, body: unauthorized });
    expect(await request("GET", `${path}?utoken=wrong`)).toMatchObject({ status: 401, body: unauthorized });
    advance(14 * 24 * 3_600_000 - 1);
    expect((await request("GET", `${path}?utoken=${utoken}`)).status).toBe(200);
    advance(1);
    expect(await request("GET", `${path}?utoken=${utoken}`)).toMatchObject({ status: 401, body: unauthorized });
  });
});
