import { describe, expect, it } from "vitest";
import { sentEmailCategories } from "../../src/contract/index.ts";
import { ok } from "../support/wire-shapes.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const call = (method: string, path = "", body: object = {}) => {
  const { appKey, utoken } = wire();
  const url = `/starpost/v1/apps/${appKey}/mail_templates${path}`;
  return method === "GET"
    ? wire().request(method, `${url}${path.includes("?") ? "&" : "?"}utoken=${utoken}`)
    : wire().request(method, url, { utoken, ...body });
};

const custom = {
  subject: "Hello {{ customer.name }}",
  text: "{{ unsubscribe_url }}",
  html: "<p>{{ unsubscribe_url }}</p>",
};
const stored = {
  status: ok,
  response: { template: { category: "map", is_own: true, updated_at: "2026-03-15T12:00:00.000Z", ...custom } },
};

describe("/starpost/v1/apps/{app_key}/mail_templates", () => {
  it("lists the categories of emails that are sent", async () => {
    const { status, body } = await call("GET");
    expect(status).toBe(200);
    const { templates } = (body as { response: { templates: object[] } }).response;
    expect(templates).toHaveLength(sentEmailCategories.length);
    expect(templates[0]).toEqual({
      category: "map",
      is_own: false,
      subject: expect.any(String) as string,
      updated_at: null,
    });
  });

  it("stores, returns, and deletes a template", async () => {
    expect(await call("PUT", "/map", custom)).toMatchObject({ status: 200, body: stored });
    expect((await call("GET", "/map")).body).toEqual(stored);
    expect((await call("GET", "/map?built_in=true")).body).toMatchObject({ response: { template: { is_own: false } } });
    expect((await call("DELETE", "/map")).body).toMatchObject({
      status: ok,
      response: { template: { category: "map", is_own: false, updated_at: null } },
    });
  });

  it("previews a template that is not stored", async () => {
    expect((await call("POST", "/map/preview", custom)).body).toEqual({
      status: ok,
      response: {
        mail: {
          subject: "Hello Ana Müller",
          text: "https://reviews.example/starpost/v1/l/sample-unsubscribe\n",
          html: "<p>https://reviews.example/starpost/v1/l/sample-unsubscribe</p>",
        },
      },
    });
    expect((await call("GET", "/map")).body).toMatchObject({ response: { template: { is_own: false } } });
  });

  it("reports the error and its position", async () => {
    const text = "{{ unsubscribe_url }}\n {{ nope }}";
    expect((await call("PUT", "/map", { ...custom, text })).body).toMatchObject({
      status: {
        message: expect.stringMatching(/^text, line 2, column 5: /) as string,
        error_type: "Exceptions::InvalidParams",
      },
    });
    expect((await call("GET", "/mapp")).body).toMatchObject({
      status: { message: expect.stringContaining("reminder,") as string },
    });
    const path = `/starpost/v1/apps/${wire().appKey}/mail_templates`;
    expect((await wire().request("GET", path)).status).toBe(401);
    expect((await wire().request("PUT", `${path}/map`, custom)).status).toBe(401);
  });
});
