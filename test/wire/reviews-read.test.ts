import { describe, expect, it } from "vitest";
import { differences, int, listOf } from "../support/shape.ts";
import { ok, reviewFull, reviewListed, topReview } from "../support/wire-shapes.ts";
import { addProducts, createReview, noon, setPublished, invalidParams, notFound } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();
const dayMs = 24 * 3_600_000;

const idsOf = (reviews: readonly { id: number }[]) => reviews.map(({ id }) => id).toSorted((one, other) => one - other);

/** Creates reviews, each by another author, and returns their IDs. */
async function createMany(count: number, fields: Readonly<Record<string, unknown>> = {}): Promise<number[]> {
  const ids: number[] = [];
  for (let at = 0; at < count; at += 1) {
    ids.push(await createReview(wire(), { email: `jane${at}@mail.example`, review_title: `Title ${at}`, ...fields }));
  }
  return ids;
}

describe("GET /v1/apps/{app_key}/reviews", () => {
  const request = async (query = "", prefix = "/v1") => {
    const { appKey, utoken } = wire();
    return wire().request("GET", `${prefix}/apps/${appKey}/reviews?utoken=${utoken}${query}`);
  };
  const list = async (query = "") => {
    const { status, body } = await request(query);
    expect([query, status]).toEqual([query, 200]);
    return (body as { reviews: { id: number; deleted: boolean }[] }).reviews;
  };

  it("lists the account's reviews without an envelope", async () => {
    const id = await createReview(wire(), { user_reference: "u-77" });
    const { status, body } = await request();
    expect(status).toBe(200);
    expect(differences(body, { reviews: [reviewListed] })).toEqual([]);
    expect(body).toEqual({
      reviews: [
        {
          id,
          title: "Good pot",
          content: "It pours well.",
          score: 5,
          votes_up: 0,
          votes_down: 0,
          created_at: noon,
          updated_at: noon,
          sku: "teapot",
          name: "Jane Doe",
          email: "jane@mail.example",
          reviewer_type: "anonymous",
          deleted: false,
          user_reference: "u-77",
        },
      ],
    });
  });

  it("returns ten by default, and pages", async () => {
    const ids = await createMany(12);
    expect(await list()).toHaveLength(10);
    expect(idsOf(await list("&count=100"))).toEqual(ids);
    const first = await list("&count=5&page=1");
    const second = await list("&count=5&page=2");
    const third = await list("&count=5&page=3");
    expect([first.length, second.length, third.length]).toEqual([5, 5, 2]);
    expect(idsOf([...first, ...second, ...third])).toEqual(ids);
    expect(await list("&count=5&page=4")).toEqual([]);
  });

  it("filters by the store's user reference", async () => {
    await createMany(2);
    const mine = await createReview(wire(), { user_reference: "u 77/ä" });
    expect(idsOf(await list(`&user_reference=${encodeURIComponent("u 77/ä")}`))).toEqual([mine]);
    expect(await list("&user_reference=nobody")).toEqual([]);
  });

  it("treats empty values as absent", async () => {
    const ids = await createMany(2);
    const empty = "&since_id=&since_date=&since_updated_at=&count=&page=&deleted=&user_reference=";
    expect(idsOf(await list(empty))).toEqual(ids);
  });

  it.each([
    ["since_date", "31/02/2026"],
    ["since_updated_at", "2026-02-30"],
    ["since_id", "first"],
    ["count", "many"],
    ["page", "abc"],
    ["deleted", "perhaps"],
  ])("rejects %s=%s", async (name, value) => {
    expect(await request(`&${name}=${encodeURIComponent(value)}`)).toMatchObject(
      invalidParams(expect.stringContaining(name)),
    );
  });
});

describe("GET /products/{app_key}/service_global_reviews/reviews.json", () => {
  const path = (query = "") => `/products/${wire().appKey}/service_global_reviews/reviews.json${query}`;
  const list = async (query = "") => {
    const { status, body } = await wire().request("GET", path(query));
    expect([query, status]).toEqual([query, 200]);
    return (body as { response: { reviews: { id: number }[]; total_reviews: number } }).response;
  };

  it("lists the complete reviews of a user", async () => {
    await createMany(1);
    const mine = await createReview(wire(), { user_reference: "u-77" });
    const { status, body } = await wire().request("GET", path("?user_reference=u-77"));
    expect(status).toBe(200);
    const shape = { status: ok, response: { reviews: [reviewFull], total_reviews: 1 } };
    expect(differences(body, shape)).toEqual([]);
    expect(body).toMatchObject({ response: { reviews: [{ id: mine, title: "Good pot" }] } });
  });

  it("returns pages and the total", async () => {
    const ids = await createMany(5, { user_reference: "u-77" });
    const pages = [1, 2, 3].map((page) => list(`?user_reference=u-77&count=2&page=${page}`));
    const answered = await Promise.all(pages);
    expect(answered.map(({ reviews }) => reviews.length)).toEqual([2, 2, 1]);
    expect(answered.map(({ total_reviews }) => total_reviews)).toEqual([5, 5, 5]);
    expect(idsOf(answered.flatMap(({ reviews }) => reviews))).toEqual(ids);
  });

  it("lists from an ID, and since a day", async () => {
    const ids = await createMany(2, { user_reference: "u-77" });
    wire().advance(dayMs);
    const young = await createReview(wire(), { user_reference: "u-77" });
    const mine = "?user_reference=u-77";
    expect(idsOf((await list(`${mine}&since_id=${ids[1]}`)).reviews)).toEqual([ids[1], young]);
    expect(idsOf((await list(`${mine}&since_date=2026-03-16`)).reviews)).toEqual([young]);
    expect(idsOf((await list(`${mine}&since_updated_at=2026-03-16`)).reviews)).toEqual([young]);
  });

  it("omits unpublished reviews and email addresses", async () => {
    const id = await createReview(wire(), { user_reference: "u-77" });
    const { text } = await wire().raw("GET", path("?user_reference=u-77"));
    expect(text).not.toContain("jane@mail.example");
    await setPublished(wire(), id, false);
    expect(await list("?user_reference=u-77")).toEqual({ reviews: [], total_reviews: 0 });
  });
});

describe("GET /reviews/{review_id}", () => {
  it("returns the review", async () => {
    const id = await createReview(wire());
    const { status, body } = await wire().request("GET", `/reviews/${id}`);
    expect(status).toBe(200);
    expect(differences(body, { status: ok, response: { review: reviewFull } })).toEqual([]);
    expect(body).toMatchObject({ response: { review: { id, score: 5, created_at: noon } } });
    expect((await wire().request("GET", `/reviews/${id}.json`)).body).toEqual(body);
  });

  it("returns a review of the site, which has no product", async () => {
    const id = await createReview(wire(), { sku: "service_site_reviews" });
    const { status, body } = await wire().request("GET", `/reviews/${id}`);
    expect(status).toBe(200);
    expect(differences(body, { status: ok, response: { review: reviewFull } })).toEqual([]);
  });

  it("returns 404 for an unknown or unpublished review", async () => {
    const id = await createReview(wire());
    await setPublished(wire(), id, false);
    for (const missingId of [id, id + 1]) {
      expect(await wire().request("GET", `/reviews/${missingId}`)).toMatchObject(
        notFound(expect.stringContaining(`${missingId}`)),
      );
    }
  });

  it.each(["first", "1.5", "-1", "0x1", "99999999999999999999"])("rejects the ID %s", async (id) => {
    const { status, body } = await wire().request("GET", `/reviews/${id}`);
    expect([404, 500]).toContain(status);
    expect(["Exceptions::RecordNotFound", "Exceptions::InvalidParams"]).toContain(
      (body as { status: { error_type: string } }).status.error_type,
    );
  });
});

describe("GET /apps/{app_key}/top_reviews.json", () => {
  const request = (suffix = ".json") => wire().request("GET", `/apps/${wire().appKey}/top_reviews${suffix}`);

  it("returns the three latest five-star reviews", async () => {
    await addProducts(wire(), "teapot");
    const ids: number[] = [];
    for (const review_score of [5, 5, 4, 5, 5]) {
      wire().advance(60_000);
      ids.push(await createReview(wire(), { review_score, email: `jane${ids.length}@mail.example` }));
    }
    const { status, body } = await request();
    expect(status).toBe(200);
    expect(differences(body, { status: ok, reviews: [topReview, topReview, topReview] })).toEqual([]);
    expect((body as { reviews: { id: number }[] }).reviews.map(({ id }) => id)).toEqual([ids[4], ids[3], ids[1]]);
    expect(body).toMatchObject({
      reviews: [{ score: 5, title: "Good pot", product_url: "https://shop.example/teapot" }, {}, {}],
    });
    expect((await request("")).body).toEqual(body);
  });

  it("includes reviews of the store itself", async () => {
    const product = await createReview(wire(), { review_score: 5 });
    wire().advance(60_000);
    const site = await createReview(wire(), { review_score: 5, sku: "service_site_reviews" });
    const { body } = await request();
    expect((body as { reviews: { id: number }[] }).reviews.map(({ id }) => id)).toEqual([site, product]);
  });

  it("omits unpublished reviews", async () => {
    const id = await createReview(wire());
    await setPublished(wire(), id, false);
    expect((await request()).body).toEqual({ status: ok, reviews: [] });
  });
});

describe("GET /apps/{app_key}/top_reviews.html", () => {
  const request = () => wire().raw("GET", `/apps/${wire().appKey}/top_reviews.html`);

  it("shows the same reviews as a page", async () => {
    for (const review_title of ["First", "Second", "Third", "Fourth"]) {
      wire().advance(60_000);
      await createReview(wire(), { review_title, email: `${review_title}@mail.example` });
    }
    const { status, text, headers } = await request();
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    for (const title of ["Second", "Third", "Fourth"]) expect(text).toContain(title);
    expect(text).not.toContain("First");
    expect(text).not.toContain("@mail.example");
  });

  it("escapes user-supplied text", async () => {
    await createReview(wire(), {
      review_title: "<script>alert(1)</script>",
      review_content: `"><img src=x onerror='alert(2)'>&`,
      display_name: "<i>Jane</i>",
      product_title: "<b>Pot</b>",
    });
    const { text } = await request();
    expect(text).toContain("&lt;script&gt;");
    for (const raw of ["<script>alert", "<img src=x", "<i>Jane", "<b>Pot"]) expect(text).not.toContain(raw);
  });

  it("returns the same error as other endpoints for an unknown app key", async () => {
    const { status, text } = await wire().raw("GET", "/apps/nobody/top_reviews.html");
    expect(status).toBe(404);
    expect(text).toContain("Exceptions::RecordNotFound");
  });
});

it("returns an empty list if there are no reviews", async () => {
  const { appKey, request, own } = wire();
  const response = await request("GET", `/products/${appKey}/service_global_reviews/reviews.json`);
  expect(differences(response.body, { status: ok, response: { reviews: listOf(int), total_reviews: 0 } })).toEqual([]);
  expect((await own("GET", "/v1/apps/{app}/reviews")).body).toEqual({ reviews: [] });
});
