import { describe, expect, it } from "vitest";
import { differences, listOf, someText } from "../support/shape.ts";
import { createReview, invalidParams } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const methods = [
  { method: "main_widget", params: { pid: "teapot" } },
  { method: "bottomline", params: { pid: "teapot" } },
  { method: "testimonials", params: {} },
  { method: "reviews", params: { pid: "teapot" } },
];
const request = (body: Readonly<Record<string, unknown>>) =>
  wire().request("POST", "/batch", { app_key: wire().appKey, ...body });

describe("POST /batch", () => {
  it("returns an HTML fragment for each method, in request order", async () => {
    await createReview(wire());
    const { status, body } = await request({ methods });
    expect(status).toBe(200);
    expect(differences(body, listOf({ result: someText }))).toEqual([]);
    const results = (body as { result: string }[]).map(({ result }) => result);
    expect(results).toHaveLength(methods.length);
    for (const result of results) expect(result).toMatch(/^\s*</);
    expect(results[0]).toContain("It pours well.");
    expect(results.join("")).not.toContain("jane@mail.example");
    const { body: turned } = await request({ methods: methods.toReversed() });
    expect((turned as { result: string }[]).map(({ result }) => result)).toEqual(results.toReversed());
  });

  it("returns no results for an empty list of methods", async () => {
    const { status, body } = await request({ methods: [] });
    expect([status, body]).toEqual([200, []]);
  });

  it.each(["GET", "POST"])("accepts the methods in the query of a %s request", async (method) => {
    await createReview(wire());
    const { appKey } = wire();
    const query = `app_key=${appKey}&methods=${encodeURIComponent(JSON.stringify(methods))}`;
    const { status, body } = await wire().request(method, `/batch?${query}`);
    expect([status, body]).toEqual([200, (await request({ methods })).body]);
  });

  it.each([
    ["a missing list of methods", undefined],
    ["methods that are not a list", "main_widget"],
    ["an unknown method", [{ method: "gossip", params: {} }]],
  ])("rejects %s", async (_title, invalidMethods) => {
    expect(await request({ methods: invalidMethods })).toMatchObject(invalidParams(expect.stringContaining("method")));
  });

  it("returns 404 for an unknown app key", async () => {
    expect(await request({ app_key: "nobody", methods })).toMatchObject({
      status: 404,
      body: { status: { code: 404, error_type: "Exceptions::RecordNotFound" } },
    });
  });
});
