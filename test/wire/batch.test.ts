import { describe, expect, it } from "vitest";
import { differences, listOf, someText } from "../support/shape.ts";
import { createReview, refusal } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const methods = [
  { method: "main_widget", params: { pid: "teapot" } },
  { method: "bottomline", params: { pid: "teapot" } },
  { method: "testimonials", params: {} },
  { method: "reviews", params: { pid: "teapot" } },
];
const ask = (body: Readonly<Record<string, unknown>>) =>
  wire().ask("POST", "/batch", { app_key: wire().appKey, ...body });

describe("POST /batch", () => {
  it("answers each method with HTML, in the order of the call", async () => {
    await createReview(wire());
    const { status, body } = await ask({ methods });
    expect(status).toBe(200);
    expect(differences(body, listOf({ result: someText }))).toEqual([]);
    const results = (body as { result: string }[]).map(({ result }) => result);
    expect(results).toHaveLength(methods.length);
    for (const result of results) expect(result).toMatch(/^\s*</);
    expect(results[0]).toContain("It pours well.");
    expect(results.join("")).not.toContain("jane@mail.example");
    const { body: turned } = await ask({ methods: methods.toReversed() });
    expect((turned as { result: string }[]).map(({ result }) => result)).toEqual(results.toReversed());
  });

  it("answers GET with the methods in the query, as JSON", async () => {
    await createReview(wire());
    const { appKey, ask: send } = wire();
    const query = new URLSearchParams({ app_key: appKey, methods: JSON.stringify(methods) });
    const got = await send("GET", `/batch?${query.toString()}`);
    expect(got.status).toBe(200);
    expect(got.body).toEqual((await ask({ methods })).body);
  });

  it("escapes what people wrote", async () => {
    await createReview(wire(), {
      review_title: "<script>alert(1)</script>",
      review_content: `"><img src=x onerror=alert(2)>`,
      display_name: "<i>Jane</i>",
    });
    const { body } = await ask({ methods });
    const html = (body as { result: string }[]).map(({ result }) => result).join("");
    expect(html).toContain("&lt;script&gt;");
    for (const raw of ["<script>alert", "<img src=x", "<i>Jane"]) expect(html).not.toContain(raw);
  });

  it("answers no methods with no results", async () => {
    const { status, body } = await ask({ methods: [] });
    expect([status, body]).toEqual([200, []]);
  });

  it("takes the methods from the query, as the specification's path shows", async () => {
    await createReview(wire());
    const { appKey } = wire();
    const query = `app_key=${appKey}&methods=${encodeURIComponent(JSON.stringify(methods))}`;
    const { status, body } = await wire().ask("POST", `/batch?${query}`);
    expect([status, body]).toEqual([200, (await ask({ methods })).body]);
  });

  it.each([
    ["nothing", undefined],
    ["no list", "main_widget"],
    ["an unknown method", [{ method: "gossip", params: {} }]],
  ])("refuses %s", async (_title, asked) => {
    const { status, body } = await ask({ methods: asked });
    expect(status).toBe(500);
    expect(body).toEqual(refusal(expect.stringContaining("method") as string, 500, "InvalidParams"));
  });

  it("does not know another app key", async () => {
    expect(await ask({ app_key: "nobody", methods })).toMatchObject({
      status: 404,
      body: { status: { code: 404, error_type: "Exceptions::RecordNotFound" } },
    });
  });
});
