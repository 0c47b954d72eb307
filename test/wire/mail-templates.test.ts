import { describe, expect, it } from "vitest";
import { ok } from "../support/wire-shapes.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const call = (method: string, path = "", body: object = {}) => {
  const { appKey, utoken } = wire();
  const url = `/starpost/v1/apps/${appKey}/mail_templates${path}`;
  return method === "GET"
    ? wire().ask(method, `${url}${path.includes("?") ? "&" : "?"}utoken=${utoken}`)
    : wire().ask(method, url, { utoken, ...body });
};

const own = {
  subject: "Hello {{ customer.name }}",
  text: "{{ unsubscribe_url }}",
  html: "<p>{{ unsubscribe_url }}</p>",
};
const kept = {
  status: ok,
  response: { template: { category: "map", is_own: true, updated_at: "2026-03-15T12:00:00.000Z", ...own } },
};

describe("/starpost/v1/apps/{app_key}/mail_templates", () => {
  it("lists eighteen categories", async () => {
    const { status, body } = await call("GET");
    expect(status).toBe(200);
    const { templates } = (body as { response: { templates: object[] } }).response;
    expect(templates).toHaveLength(18);
    expect(templates.at(-1)).toEqual({
      category: "map",
      is_own: false,
      subject: expect.any(String) as string,
      updated_at: null,
    });
  });

  it("keeps a template, tells it and takes it away", async () => {
    expect(await call("PUT", "/map", own)).toMatchObject({ status: 200, body: kept });
    expect((await call("GET", "/map")).body).toEqual(kept);
    expect((await call("GET", "/map?built_in=true")).body).toMatchObject({
      response: { template: { is_own: false } },
    });
    expect((await call("DELETE", "/map")).body).toMatchObject({
      status: ok,
      response: { template: { category: "map", is_own: false, updated_at: null } },
    });
  });

  it("previews one that is not kept", async () => {
    expect((await call("POST", "/map/preview", own)).body).toEqual({
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

  it("says what is wrong, and where", async () => {
    const text = "{{ unsubscribe_url }}\n {{ nope }}";
    expect((await call("PUT", "/map", { ...own, text })).body).toMatchObject({
      status: {
        message: expect.stringMatching(/^text, line 2, column 5: /) as string,
        error_type: "Exceptions::InvalidParams",
      },
    });
    expect((await call("GET", "/mapp")).body).toMatchObject({
      status: { message: expect.stringContaining("must be one of reminder,") as string },
    });
    const path = `/starpost/v1/apps/${wire().appKey}/mail_templates`;
    expect((await wire().ask("GET", path)).status).toBe(401);
    expect((await wire().ask("PUT", `${path}/map`, own)).status).toBe(401);
  });
});
