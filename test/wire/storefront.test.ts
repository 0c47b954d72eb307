import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { takePhoto } from "../support/photos.ts";
import { readResponse } from "../support/raw-response.ts";
import { addProducts, createReview, setPublished } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const pathOf = (end: string) => `/starpost/v1/shop/${wire().appKey}/${end}`;
const get = (end: string, headers?: Readonly<Record<string, string>>) =>
  wire().raw("GET", pathOf(end), undefined, headers);
const read = async (end: string) => {
  const { status, text } = await get(end);
  return { status, body: JSON.parse(text) as { response: Record<string, unknown> } };
};

const ends = ["settings", "ratings?product_ids[]=teapot", "reviews", "products/teapot/reviews"].concat(
  ["photos", "questions"].map((list) => `products/teapot/${list}`),
);

describe("GET /starpost/v1/shop/{app_key}/…", () => {
  it("is readable from any site, and valid until the account changes", async () => {
    await addProducts(wire(), "teapot");
    const id = await createReview(wire());
    for (const [at, end] of ends.entries()) {
      const { status, headers } = await get(end, { origin: "https://shop.example" });
      expect([end, status, headers.get("access-control-allow-origin")]).toEqual([end, 200, "*"]);
      expect(headers.get("cache-control")).toBe("public, max-age=60, stale-while-revalidate=600");
      const etag = headers.get("etag") ?? "";
      const known = await get(end, { "if-none-match": etag });
      expect([end, known.status, known.text, known.headers.get("etag")]).toEqual([end, 304, "", etag]);
      await setPublished(wire(), id, at % 2 === 1);
      const changed = await get(end, { "if-none-match": etag });
      expect([end, changed.status, changed.headers.get("etag") === etag]).toEqual([end, 200, false]);
      const head = await wire().raw("HEAD", pathOf(end));
      expect([end, head.status, head.text]).toEqual([end, 200, ""]);
    }
  });

  it("accepts lists as one value, repeated, and with brackets", async () => {
    await addProducts(wire(), "teapot", "cup");
    const ids: number[] = [];
    for (const review_score of [1, 5, 3]) {
      wire().advance(60_000);
      ids.push(await createReview(wire(), { review_score, email: `jane${review_score}@mail.example` }));
    }
    const scoresOf = async (query: string) => {
      const { body } = await read(`products/teapot/reviews?${query}`);
      return (body.response["reviews"] as { score: number }[]).map(({ score }) => score);
    };
    expect(await scoresOf("")).toEqual([3, 5, 1]);
    expect(await scoresOf("stars=5")).toEqual([5]);
    expect(await scoresOf("stars=5&stars=1")).toEqual([5, 1]);
    expect(await scoresOf("stars[]=5")).toEqual([5]);
    expect(await scoresOf("stars%5B%5D=3&stars%5B%5D=1&sort=lowest")).toEqual([1, 3]);
    expect(await scoresOf(`review_ids[]=${ids[0]}&review_ids[]=${ids[1]}`)).toEqual([1, 5]);
    const { body } = await read("ratings?product_ids[]=cup&product_ids[]=pan&product_ids[]=teapot");
    expect(body).toEqual({
      status: { code: 200, message: "OK" },
      response: {
        ratings: [
          { product_id: "cup", average_score: 0, total_reviews: 0 },
          { product_id: "teapot", average_score: 3, total_reviews: 3 },
        ],
      },
    });
  });

  it.each([
    `ratings?${"product_ids[]=p&".repeat(101)}`,
    "ratings",
    "products/teapot/reviews?stars=6",
    "products/teapot/reviews?sort=random",
    "products/teapot/reviews?search=%00",
    "reviews?sort=most_helpful",
    "products/teapot/photos?page=first",
  ])("rejects %s", async (end) => {
    const { status, body } = await read(end);
    expect([status, body]).toMatchObject([500, { status: { error_type: "Exceptions::InvalidParams" } }]);
  });
});

const sampleFolder = join(import.meta.dirname, "../../src/demo/assets/reviews");

interface Samples {
  readonly names: readonly string[];
  readonly titles: { readonly good: readonly string[] };
  readonly openings: { readonly good: readonly string[] };
  readonly products: Readonly<Record<string, { readonly good: readonly string[] }>>;
  readonly replies: { readonly good: readonly string[] };
}

describe("the first page of reviews", () => {
  it.each(["de", "en"])("takes at most 6 kB, compressed, in the language %s", async (language) => {
    const samples = JSON.parse(readFileSync(join(sampleFolder, `${language}.json`), "utf8")) as Samples;
    const sentences = Object.values(samples.products).flatMap(({ good }) => good);
    for (let at = 0; at < 10; at += 1) {
      const own = sentences.filter((_, nth) => nth % 10 === at);
      const id = await createReview(wire(), {
        display_name: samples.names[at],
        email: `jane${at}@mail.example`,
        review_title: samples.titles.good[at % samples.titles.good.length],
        review_content: [samples.openings.good[at % samples.openings.good.length], ...own].join(" "),
      });
      if (at % 3 > 0) continue;
      const content = samples.replies.good[0];
      await wire().own("POST", `/apps/{app}/reviews/${id}/comments`, { content, public: true });
    }
    const { bytes, headers } = await readResponse(`${wire().url}${pathOf("products/teapot/reviews")}`, {
      "accept-encoding": "gzip",
    });
    const { response } = JSON.parse(gunzipSync(bytes).toString()) as { response: { reviews: { content: string }[] } };
    const lengths = response.reviews.map(({ content }) => content.length);
    expect([lengths.length, Math.min(...lengths) > 150]).toEqual([10, true]);
    expect(headers["content-encoding"]).toBe("gzip");
    expect(bytes.length).toBeLessThanOrEqual(6_000);
  });
});

describe("compression", () => {
  const long = { review_content: "It pours very well. ".repeat(80) };

  it("reduces what everybody may read, if the client accepts it", async () => {
    await addProducts(wire(), "teapot");
    await createReview(wire(), long);
    const { appKey, url } = wire();
    const paths = [
      pathOf("products/teapot/reviews"),
      `/v1/widget/${appKey}/products/teapot/reviews.json?per_page=150`,
      `/starpost/v1/pages/${appKey}/products/teapot`,
      "/openapi.json",
    ];
    for (const path of paths) {
      const plain = await readResponse(url + path);
      expect([path, plain.headers["content-encoding"]]).toEqual([path, undefined]);
      expect(plain.headers.vary).toMatch(/\baccept-encoding$/);
      for (const [accepted, encoding, decode] of [
        ["gzip", "gzip", gunzipSync],
        ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
        ["br;q=0, GZIP;q=0.2", "gzip", gunzipSync],
      ] as const) {
        const { status, headers, bytes } = await readResponse(url + path, { "accept-encoding": accepted });
        expect([path, status, headers["content-encoding"]]).toEqual([path, 200, encoding]);
        expect(bytes.length).toBeLessThan(plain.bytes.length);
        expect([headers["content-length"], headers.vary]).toEqual([String(bytes.length), plain.headers.vary]);
        expect(decode(bytes).equals(plain.bytes)).toBe(true);
        expect(headers.etag).toBe(plain.headers.etag);
        if (headers.etag === undefined) continue;
        const again = { "accept-encoding": accepted, "if-none-match": headers.etag };
        const known = await readResponse(url + path, again);
        expect([path, known.status, known.bytes.length]).toEqual([path, 304, 0]);
        expect([known.headers["content-encoding"], known.headers.vary]).toEqual([undefined, plain.headers.vary]);
      }
      for (const accepted of ["identity", "gzip;q=0", "*;q=0", "deflate"]) {
        const { headers, bytes } = await readResponse(url + path, { "accept-encoding": accepted });
        expect([headers["content-encoding"], bytes.equals(plain.bytes)]).toEqual([undefined, true]);
      }
      const head = await readResponse(url + path, { "accept-encoding": "gzip" }, "HEAD");
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
    }
  });

  it("does not apply to short responses, photos, or anything for the holder of a token or a personal link", async () => {
    await addProducts(wire(), "teapot");
    const short = await readResponse(`${wire().url}${pathOf("ratings?product_ids=teapot")}`, {
      "accept-encoding": "gzip",
    });
    expect([short.headers["content-encoding"], short.headers.vary]).toEqual([undefined, undefined]);
    const id = await createReview(wire(), long);
    const { body } = await wire().request("POST", "/v1/widget/reviews", {
      app_key: wire().appKey,
      sku: "teapot",
      product_title: "Teapot",
      product_url: "https://shop.example/t",
      display_name: "Ann",
      email: "ann@mail.example",
      review_title: "Good",
      review_score: 5,
      ...long,
    });
    const { image_upload_token } = body as { image_upload_token: string };
    const image = (await takePhoto()).toString("base64");
    const sent = await wire().request("POST", "/starpost/v1/images", { image_upload_token, image });
    const added = (sent.body as { response: { image: { id: number } } }).response.image;
    const verify = (await wire().emails()).findLast(({ linkToken }) => linkToken)?.linkToken ?? "";
    // The review with the photo.
    await setPublished(wire(), id + 1, true);
    const targets = [
      `/starpost/v1/images/${added.id}`,
      `/v1/apps/${wire().appKey}/reviews?utoken=${wire().utoken}`,
      `/v1/widget/${wire().appKey}/products/teapot/reviews.json?utoken=${wire().utoken}`,
      `/starpost/v1/l/${verify}`,
    ];
    for (const target of targets) {
      const { status, headers, bytes } = await readResponse(wire().url + target, { "accept-encoding": "gzip, br" });
      expect([target, status, headers["content-encoding"]]).toEqual([target, 200, undefined]);
      expect(bytes.length).toBeGreaterThan(1_024);
      expect(headers.vary ?? "").not.toContain("accept-encoding");
    }
  });
});
