import { describe, expect, it } from "vitest";
import { addProducts, createReview, setPublished } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const paths = (app: string) => ({
  widget: `/v1/widget/${app}/products/teapot/reviews.json`,
  rating: `/products/${app}/teapot/bottomline`,
  page: `/starpost/v1/pages/${app}/products/teapot`,
});

const get = (path: string, etag?: string) =>
  wire().raw("GET", path, undefined, etag === undefined ? {} : { "if-none-match": etag });
const etagOf = async (path: string) => (await get(path)).headers.get("etag") ?? "";

describe("the ETag of a storefront read", () => {
  it("is valid until a write to the store changes the response", async () => {
    await addProducts(wire(), "teapot");
    for (const path of Object.values(paths(wire().appKey))) {
      const id = await createReview(wire(), { email: "jane@mail.example" });
      const etag = await etagOf(path);
      expect([path, (await get(path, etag)).status]).toEqual([path, 304]);
      wire().advance(3_600_000);
      expect([path, (await get(path, etag)).status]).toEqual([path, 304]);
      await setPublished(wire(), id, false);
      const changed = await get(path, etag);
      expect([path, changed.status, changed.headers.get("etag") === etag]).toEqual([path, 200, false]);
      await setPublished(wire(), id, true);
    }
  });

  it("changes with every write to the store, in every response that depends on nothing else", async () => {
    const { appKey } = wire();
    const targets = [paths(appKey).widget, paths(appKey).rating, `/apps/${appKey}/top_reviews.json`];
    for (const target of targets) {
      const etag = await etagOf(target);
      expect([target, (await get(target, etag)).status]).toEqual([target, 304]);
      await addProducts(wire(), `pot-${targets.indexOf(target)}`);
      const changed = await get(target, etag);
      expect([target, changed.status, changed.headers.get("etag") === etag]).toEqual([target, 200, false]);
    }
  });

  it("is that of the account in the path", async () => {
    const { widget } = paths(wire().appKey);
    const etag = await etagOf(widget);
    expect((await get(paths("other").widget, etag)).status).toBe(404);
  });
});
