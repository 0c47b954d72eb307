import { describe, expect, it } from "vitest";
import { differences, url } from "../support/shape.ts";
import { ok } from "../support/wire-shapes.ts";
import { addProducts } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

describe("GET /apps/{app_key}/subomain_check/{subdomain}", () => {
  it("reports as text that a name is available", async () => {
    const { status, body } = await wire().own("GET", "/apps/{app}/subomain_check/teashop");
    expect([status, body]).toEqual([
      200,
      { status: ok, response: { subdomain: { available: "true", subdomain: "teashop" } } },
    ]);
  });

  it.each(["-tea", "tea_shop", "tea shop", "ä", "a".repeat(64), "a.b"])(
    "does not offer %s, which is not a valid host name",
    async (name) => {
      const { appKey, utoken, request } = wire();
      const path = `/apps/${appKey}/subomain_check/${encodeURIComponent(name)}?utoken=${utoken}`;
      const { status, body } = await request("GET", path);
      if (status === 200) {
        expect(body).not.toMatchObject({ response: { subdomain: { available: "true" } } });
      } else {
        expect(body).toMatchObject({ status: { code: 500, error_type: "Exceptions::InvalidParams" } });
      }
    },
  );
});

describe("GET /v1/seo_pages/url/{app_key}/{product_id}", () => {
  const read = async (path: string) => {
    const { status, body } = await wire().request("GET", `/v1/seo_pages/url/${wire().appKey}${path}`);
    expect([path, status]).toEqual([path, 200]);
    expect(differences(body, { ...ok, response: { seo_page_url: url } })).toEqual([]);
    return (body as { response: { seo_page_url: string } }).response.seo_page_url;
  };

  it("returns the page of a product, or of the site if the product is blank", async () => {
    await addProducts(wire(), "teapot", "cup");
    const teapot = await read("/teapot");
    expect(teapot).not.toBe(await read("/cup"));
    const site = await read("");
    expect(await read("/")).toBe(site);
    expect(site).not.toBe(teapot);
  });
});
