import { describe, expect, it } from "vitest";
import { differences, int, listOf, number, someText } from "../support/shape.ts";
import { ok } from "../support/wire-shapes.ts";
import {
  addProducts,
  createReview,
  groupProducts,
  hourMs,
  refusal,
  invalidParams,
  notFound,
} from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const item = { domain_key: someText, product_score: number, total_reviews: int };
const lineOf = (domain_key: string, product_score: number, total_reviews: number) => ({
  domain_key,
  product_score,
  total_reviews,
});

const pathOf = (query = "?count=100&page=1") => `/v1/apps/${wire().appKey}/bottom_lines${query}`;
const list = async (query?: string) => {
  const { status, body } = await wire().request("GET", pathOf(query));
  expect([query, status]).toEqual([query, 200]);
  return (body as { response: { bottomlines?: readonly ReturnType<typeof lineOf>[] } }).response.bottomlines;
};
const review = (sku: string, review_score: number) =>
  createReview(wire(), { sku, review_score, email: `${sku}${review_score}@mail.example` });

describe("GET /v1/apps/{app_key}/bottom_lines", () => {
  it("lists products with reviews after a delay of one hour", async () => {
    await review("teapot", 5);
    await review("teapot", 4);
    await review("cup", 3);
    const empty = { bottomlines: [], page: "1", per_page: "100" };
    expect((await wire().request("GET", pathOf())).body).toEqual({ status: ok, response: empty });
    wire().advance(hourMs - 1);
    expect((await wire().request("GET", pathOf())).body).toEqual({ status: ok, response: empty });
    wire().advance(1);
    const { status, body } = await wire().request("GET", pathOf());
    expect(status).toBe(200);
    const shape = { bottomlines: listOf(item), page: "1", per_page: "100" };
    expect(differences(body, { status: ok, response: shape })).toEqual([]);
    expect((await list())?.toSorted((one, other) => (one.domain_key < other.domain_key ? -1 : 1))).toEqual([
      lineOf("cup", 3, 1),
      lineOf("teapot", 4.5, 2),
    ]);
  });

  it("also responds without the version prefix, with a .json suffix, and with a trailing slash", async () => {
    const { appKey, request } = wire();
    await review("teapot", 5);
    wire().advance(hourMs);
    const { body } = await request("GET", pathOf("?count=10&page=1"));
    for (const path of ["/v1", ""].flatMap((version) =>
      ["", ".json", "/"].map((end) => `${version}/apps/${appKey}/bottom_lines${end}`),
    )) {
      expect([path, (await request("GET", `${path}?count=10&page=1`)).body]).toEqual([path, body]);
    }
    const unpaged = await request("GET", pathOf(""));
    expect(unpaged.body).toEqual(body);
  });

  it("returns at most 100 entries per page", async () => {
    for (let at = 0; at < 103; at += 1) await review(`p${at}`, 5);
    wire().advance(hourMs);
    const first = (await list("?count=100&page=1")) ?? [];
    const second = (await list("?count=100&page=2")) ?? [];
    expect([first.length, second.length]).toEqual([100, 3]);
    expect(new Set([...first, ...second].map(({ domain_key }) => domain_key)).size).toBe(103);
    expect(await list("?count=10")).toHaveLength(10);
    const { status, body } = await wire().request("GET", pathOf("?count=101&page=1"));
    if (status === 200) {
      const { bottomlines } = (body as { response: { bottomlines: unknown[] } }).response;
      expect(bottomlines.length).toBeLessThanOrEqual(100);
    } else {
      expect(body).toMatchObject({ status: { code: 500, error_type: "Exceptions::InvalidParams" } });
    }
  });

  it("returns each entry once, at most 100 per page, including grouped products", async () => {
    const ids = Array.from({ length: 51 }, (_, at) => `p${at}`);
    await addProducts(wire(), ...ids);
    for (const id of ids) await review(id, 5);
    await groupProducts(wire(), "pots", ...ids);
    wire().advance(hourMs);
    const pages = await Promise.all([1, 2, 3].map((page) => list(`?count=100&page=${page}`)));
    for (const lines of pages) expect(lines?.length ?? 0).toBeLessThanOrEqual(100);
    const lines = pages.flatMap((page) => page ?? []);
    for (const id of ids) {
      const found = lines.filter(({ domain_key }) => domain_key === id);
      expect(found).toEqual([lineOf(id, 5, 51), lineOf(id, 5, 1)]);
    }
  });

  it("does not list the site", async () => {
    await review("service_site_reviews", 5);
    await review("teapot", 4);
    wire().advance(hourMs);
    expect(await list()).toEqual([lineOf("teapot", 4, 1)]);
  });

  it("filters by day", async () => {
    await review("teapot", 5);
    wire().advance(hourMs);
    expect(await list("?count=10&page=1&since_date=2026-03-15")).toEqual([lineOf("teapot", 5, 1)]);
    expect((await list("?count=10&page=1&since_date=2026-03-16")) ?? []).toEqual([]);
  });

  it("returns JSONP if a callback is given", async () => {
    await review("teapot", 5);
    wire().advance(hourMs);
    const { body } = await wire().request("GET", pathOf("?count=10&page=1"));
    const legacy = `&utoken=${wire().utoken}`;
    const { status, text, headers } = await wire().raw(
      "GET",
      pathOf(`?count=10&page=1&callback=show.lines_1${legacy}`),
    );
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/javascript; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const called = /^show\.lines_1\((.*)\);$/s.exec(text);
    expect(JSON.parse(called?.[1] ?? "null")).toEqual(body);
  });

  it.each(["1+1", "alert(1)", "a..b", "<script>", "a".repeat(129), "ä"])(
    "rejects the callback %s",
    async (callback) => {
      const query = `?count=10&page=1&callback=${encodeURIComponent(callback)}`;
      const { status, body, headers } = await wire().request("GET", pathOf(query));
      expect(status).toBe(500);
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(body).toEqual(refusal(expect.stringContaining("callback"), 500, "InvalidParams"));
    },
  );

  it.each([
    ["count", "many"],
    ["page", "abc"],
    ["since_date", "yesterday"],
  ])("rejects %s=%s", async (name, value) => {
    expect(await wire().request("GET", pathOf(`?${name}=${value}`))).toMatchObject(
      invalidParams(expect.stringContaining(name)),
    );
  });

  it("returns 404 as plain JSON for an unknown app key, even if a callback is given", async () => {
    for (const query of ["", "?callback=show"]) {
      expect(await wire().request("GET", `/v1/apps/nobody/bottom_lines${query}`)).toMatchObject(
        notFound("Couldn't find Account with app_key = nobody"),
      );
    }
  });

  it("allows 5,000 requests a minute per app key", async () => {
    for (let made = 0; made < 4_999; made++) await wire().service.reviews.bottomLines({ count: 100, page: 1 });
    expect((await wire().request("GET", pathOf())).status).toBe(200);
    expect((await wire().request("GET", pathOf())).status).toBe(429);
    wire().advance(60_000);
    expect((await wire().request("GET", pathOf())).status).toBe(200);
  });
});

describe("GET /products/{app_key}/{product_id}/bottomline", () => {
  const path = (query = "", productId = "teapot") => `/products/${wire().appKey}/${productId}/bottomline${query}`;

  it("returns the average and the count without delay", async () => {
    await review("teapot", 5);
    await review("teapot", 4);
    await review("cup", 1);
    const { status, body } = await wire().request("GET", path());
    expect([status, body]).toEqual([
      200,
      { status: ok, response: { bottomline: { average_score: 4.5, total_reviews: 2 } } },
    ]);
    expect((await wire().request("GET", `/products/${wire().appKey}/teapot/bottomline.json`)).body).toEqual(body);
  });

  it("returns JSONP", async () => {
    await review("teapot", 5);
    const { status, text, headers } = await wire().raw("GET", path("?callback=$show"));
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/javascript; charset=utf-8");
    const called = /^\$show\((.*)\);$/s.exec(text);
    expect(JSON.parse(called?.[1] ?? "null")).toEqual({
      status: ok,
      response: { bottomline: { average_score: 5, total_reviews: 1 } },
    });
  });

  it("returns zero for a product without reviews", async () => {
    await addProducts(wire(), "teapot");
    expect((await wire().request("GET", path())).body).toEqual({
      status: ok,
      response: { bottomline: { average_score: 0, total_reviews: 0 } },
    });
  });

  it("rejects an invalid callback and an unknown app key", async () => {
    expect(await wire().request("GET", path("?callback=a%20b"))).toMatchObject({
      status: 500,
      body: { status: { error_type: "Exceptions::InvalidParams" } },
    });
    expect((await wire().request("GET", "/products/nobody/teapot/bottomline?callback=show")).status).toBe(404);
  });
});
