import { describe, expect, it } from "vitest";
import { findContractFaults, useDocumentedCalls } from "../../../support/documented-calls.ts";

const { wire, call, app, withToken } = useDocumentedCalls();

describe("error responses match the OpenAPI document", () => {
  it("for every kind of error", async () => {
    await call("users.get", ["GET", "/users/999"], { status: 404 });
    await call("coupons.list", ["GET", `${app()}/coupons/unique`], { status: 401 });
    await call("coupons.list", ["GET", "/apps/nobody/coupons/unique"], { status: 404 });
    await call("emails.stats", ["GET", withToken(`${app()}/email_stats/2026-03-01/2026-02-30`)], {
      status: 500,
    });
    await wire().disable("questions_and_answers");
    await call("questions.list", ["GET", `/products/${wire().appKey}/teapot/questions`], { status: 401 });
    const body = { client_id: wire().appKey, client_secret: "wrong", grant_type: "client_credentials" };
    await call("tokens.create", ["POST", "/oauth/token"], { body, status: 401 });
    await call("tokens.create", ["POST", "/oauth/token"], {
      body: { ...body, grant_type: "password" },
      status: 400,
    });
    await call("tokens.create", ["POST", "/oauth/token"], {
      body: { ...body, client_id: "nobody" },
      status: 404,
    });
  });
});

it("unless the document does not describe them", async () => {
  const user = {
    email: "bo@shop.example",
    display_name: "Bo",
    password: "correct horse",
    url: "https://bo.example",
  };
  const made = await call("users.create", ["POST", "/users"], { body: { user } });
  const path = `/users/${(made["response"] as { user_id: number }).user_id}`;
  const reply = await wire().raw("GET", path);
  const sent = { method: "GET", path: `${path}?since=2` };
  const changed = { ...reply, text: reply.text.replace('"id"', '"number"') };
  const problems = findContractFaults("users.get", sent, changed).join("\n");
  expect(problems).toContain("has no since in its query");
  expect(problems).toContain("must have required property 'id'");
  expect(problems).toContain("must NOT have additional properties");
  expect(findContractFaults("users.get", { method: "GET", path }, { ...reply, status: 418 })).toHaveLength(1);
});

it("which the server serves", async () => {
  const { status, headers, text } = await wire().raw("GET", "/openapi.json");
  expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  expect(JSON.parse(text)).toMatchObject({
    openapi: "3.1.0",
    info: { title: "starpost" },
    servers: [{ url: "/" }],
  });
});
