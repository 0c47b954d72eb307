import { describe, expect, it } from "vitest";
import { differences, someText, url } from "../support/shape.ts";
import { useWire } from "../support/wire.ts";
import { mentioning } from "../support/service-errors.ts";
import { refusal, notFound } from "../support/wire-steps.ts";

const wire = useWire();

const user = {
  email: "jo@shop.example",
  display_name: "Jo Doe",
  password: "correct horse",
  url: "https://shop.example",
};
const key = expect.stringMatching(/^[A-Za-z0-9]{40}$/) as string;

describe("POST /users", () => {
  it("creates a user with working keys", async () => {
    const { request } = wire();
    const { status, body } = await request("POST", "/users", { user });
    expect([status, body]).toEqual([
      200,
      { status: { code: 200, message: "OK" }, response: { user_id: 1, token: key, app_key: key, secret: key } },
    ]);
    const made = (body as { response: { app_key: string; secret: string; token: string } }).response;
    expect((await request("GET", `/apps/${made.app_key}/coupons/unique?utoken=${made.token}`)).status).toBe(200);
    const issued = await request("POST", "/oauth/token", {
      client_id: made.app_key,
      client_secret: made.secret,
      grant_type: "client_credentials",
    });
    expect(issued.status).toBe(200);
  });

  it.each([
    [{}, "Missing user"],
    [{ user: { ...user, email: undefined } }, "Missing user.email"],
    [{ user: { ...user, email: "jo" } }, mentioning("user.email")],
    [{ user: { ...user, url: "shop" } }, mentioning("user.url", "https://")],
  ])("rejects %j", async (sent, message) => {
    const { status, body } = await wire().request("POST", "/users", sent);
    expect([status, body]).toEqual([500, { status: { message, code: 500, error_type: "Exceptions::InvalidParams" } }]);
  });
});

describe("GET /users/{user_id}", () => {
  it("returns the profile", async () => {
    const { request } = wire();
    await request("POST", "/users", { user });
    const { status, body } = await request("GET", "/users/1");
    expect([status, body]).toEqual([
      200,
      {
        status: { code: 200, message: "OK" },
        response: { user: { id: 1, slug: "jo-doe", score: 0, display_name: "Jo Doe", bio: null, social_image: null } },
      },
    ]);
  });

  it.each(["Tea & Cups", "Zoë Ünïcødé 店 🎉"])("returns the name of an owner as given: %s", async (display_name) => {
    const { request } = wire();
    await request("POST", "/users", { user: { ...user, display_name } });
    const { body } = await request("GET", "/users/1");
    expect(body).toMatchObject({ response: { user: { display_name } } });
  });

  it("returns 404 for an unknown user", async () => {
    expect(await wire().request("GET", "/users/77")).toMatchObject(notFound("Couldn't find User with id = 77"));
  });
});

describe("GET /users/b2blogin.json", () => {
  const made = async () => {
    const { body } = await wire().request("POST", "/users", { user });
    return (body as { response: { app_key: string; secret: string } }).response;
  };

  it("returns a code and a URL at which the owner is signed in", async () => {
    const { app_key, secret } = await made();
    const { status, body } = await wire().request("GET", `/users/b2blogin.json?app_key=${app_key}&secret=${secret}`);
    expect(status).toBe(200);
    const shape = { status: { code: 200, message: "OK" }, response: { code: someText, signin_url: url } };
    expect(differences(body, shape)).toEqual([]);
    expect((await wire().request("GET", `/users/b2blogin?app_key=${app_key}&secret=${secret}`)).status).toBe(200);
  });

  it("rejects an invalid secret", async () => {
    const { app_key } = await made();
    expect(await wire().request("GET", `/users/b2blogin.json?app_key=${app_key}&secret=wrong`)).toMatchObject({
      status: 401,
      body: { status: { code: 401 } },
    });
  });

  it("returns 404 for an unknown app key", async () => {
    const { secret } = await made();
    expect(await wire().request("GET", `/users/b2blogin.json?app_key=nobody&secret=${secret}`)).toMatchObject(
      notFound("Couldn't find Account with app_key = nobody"),
    );
  });

  it.each(["app_key", "secret"])("rejects a request without %s", async (name) => {
    const { app_key, secret } = await made();
    const fields = new URLSearchParams({ app_key, secret });
    fields.delete(name);
    const { status, body } = await wire().request("GET", `/users/b2blogin.json?${fields.toString()}`);
    // The specification does not state whether a request without an account is invalid or not found.
    expect([status, body]).toEqual(
      name === "secret"
        ? [500, refusal("Missing secret", 500, "InvalidParams")]
        : [expect.toSatisfy((code) => code === 404 || code === 500), { status: expect.any(Object) as object }],
    );
  });
});
