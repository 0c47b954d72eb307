import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { invalidParams, notFound } from "../support/wire-steps.ts";

const wire = useWire();
const unknownAccount = notFound("Couldn't find Account with app_key = nobody");

describe("POST /oauth/token", () => {
  const issued = { access_token: expect.stringMatching(/^[A-Za-z0-9]{40}$/), token_type: "bearer" };

  it("issues a utoken", async () => {
    const { appKey, secret, request } = wire();
    const { status, body, headers } = await request("POST", "/oauth/token", {
      client_id: appKey,
      client_secret: secret,
      grant_type: "client_credentials",
    });
    expect([status, body]).toEqual([200, issued]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("accepts a form-encoded body", async () => {
    const { appKey, secret, request } = wire();
    const { status, body } = await request(
      "POST",
      "/oauth/token",
      `client_id=${appKey}&client_secret=${secret}&grant_type=client_credentials`,
      { "content-type": "application/x-www-form-urlencoded" },
    );
    expect([status, body]).toEqual([200, issued]);
  });

  it.each([
    ["another grant type", { grant_type: "password" }, 400, { error: "unsupported_grant_type" }],
    ["an invalid secret", { client_secret: "wrong" }, 401, { error: "invalid_client" }],
    ["an unknown client", { client_id: "nobody" }, 404, unknownAccount.body],
    ["a request without a client", { client_id: undefined }, 500, invalidParams("Missing client_id").body],
  ])("rejects %s", async (_what, fields, status, body) => {
    const { appKey, secret, request } = wire();
    const grant = { client_id: appKey, client_secret: secret, grant_type: "client_credentials" };
    expect(await request("POST", "/oauth/token", { ...grant, ...fields })).toMatchObject({ status, body });
  });
});
