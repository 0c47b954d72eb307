import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";
import { invalidParams, notFound } from "../support/wire-steps.ts";

const wire = useWire();

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

  it("rejects another grant type", async () => {
    const { appKey, secret, request } = wire();
    const { status, body } = await request("POST", "/oauth/token", {
      client_id: appKey,
      client_secret: secret,
      grant_type: "password",
    });
    expect([status, body]).toEqual([400, { error: "unsupported_grant_type" }]);
  });

  it("rejects an invalid secret", async () => {
    const { appKey, request } = wire();
    const { status, body } = await request("POST", "/oauth/token", {
      client_id: appKey,
      client_secret: "wrong",
      grant_type: "client_credentials",
    });
    expect([status, body]).toEqual([401, { error: "invalid_client" }]);
  });

  it("returns 404 for an unknown client", async () => {
    const { secret, request } = wire();
    expect(
      await request("POST", "/oauth/token", {
        client_id: "nobody",
        client_secret: secret,
        grant_type: "client_credentials",
      }),
    ).toMatchObject(notFound("Couldn't find Account with app_key = nobody"));
  });

  it("names the missing field", async () => {
    expect(await wire().request("POST", "/oauth/token", { grant_type: "client_credentials" })).toMatchObject(
      invalidParams("Missing client_id"),
    );
  });

  it("keeps 100 tokens per account, and deletes the oldest first", async () => {
    const { appKey, secret, utoken, request } = wire();
    const path = `/apps/${appKey}/coupons/unique?utoken=${utoken}`;
    const issue = () =>
      request("POST", "/oauth/token", { client_id: appKey, client_secret: secret, grant_type: "client_credentials" });
    for (let token = 2; token <= 100; token += 1) await issue();
    expect((await request("GET", path)).status).toBe(200);
    await issue();
    expect((await request("GET", path)).status).toBe(401);
  });
});
