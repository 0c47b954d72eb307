import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";

const wire = useWire();

describe("POST /oauth/token", () => {
  const issued = { access_token: expect.stringMatching(/^[A-Za-z0-9]{40}$/), token_type: "bearer" };

  it("issues a utoken", async () => {
    const { appKey, secret, ask } = wire();
    const { status, body, headers } = await ask("POST", "/oauth/token", {
      client_id: appKey,
      client_secret: secret,
      grant_type: "client_credentials",
    });
    expect([status, body]).toEqual([200, issued]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("issues one for a form as well", async () => {
    const { appKey, secret, ask } = wire();
    const { status, body } = await ask(
      "POST",
      "/oauth/token",
      `client_id=${appKey}&client_secret=${secret}&grant_type=client_credentials`,
      { "content-type": "application/x-www-form-urlencoded" },
    );
    expect([status, body]).toEqual([200, issued]);
  });

  it("refuses another grant", async () => {
    const { appKey, secret, ask } = wire();
    const { status, body } = await ask("POST", "/oauth/token", {
      client_id: appKey,
      client_secret: secret,
      grant_type: "password",
    });
    expect([status, body]).toEqual([400, { error: "unsupported_grant_type" }]);
  });

  it("refuses a wrong secret", async () => {
    const { appKey, ask } = wire();
    const { status, body } = await ask("POST", "/oauth/token", {
      client_id: appKey,
      client_secret: "wrong",
      grant_type: "client_credentials",
    });
    expect([status, body]).toEqual([401, { error: "invalid_client" }]);
  });

  it("does not find an unknown client", async () => {
    const { secret, ask } = wire();
    const { status, body } = await ask("POST", "/oauth/token", {
      client_id: "nobody",
      client_secret: secret,
      grant_type: "client_credentials",
    });
    expect([status, body]).toEqual([
      404,
      {
        status: {
          message: "Couldn't find Account with app_key = nobody",
          code: 404,
          error_type: "Exceptions::RecordNotFound",
        },
      },
    ]);
  });

  it("names what is missing", async () => {
    const { status, body } = await wire().ask("POST", "/oauth/token", { grant_type: "client_credentials" });
    expect([status, body]).toEqual([
      500,
      { status: { message: "Missing client_id", code: 500, error_type: "Exceptions::InvalidParams" } },
    ]);
  });

  it("keeps a hundred tokens of an account, and deletes the oldest first", async () => {
    const { appKey, secret, utoken, ask } = wire();
    const path = `/apps/${appKey}/coupons/unique?utoken=${utoken}`;
    const issue = () =>
      ask("POST", "/oauth/token", {
        client_id: appKey,
        client_secret: secret,
        grant_type: "client_credentials",
      });
    for (let token = 2; token <= 100; token += 1) await issue();
    expect((await ask("GET", path)).status).toBe(200);
    await issue();
    expect((await ask("GET", path)).status).toBe(401);
  });
});
