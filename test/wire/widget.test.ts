import { describe, expect, it } from "vitest";
import { differences } from "../support/shape.ts";
import { ok, reviewInWidget, siteReviewInWidget, widget, widgetProduct } from "../support/wire-shapes.ts";
import { addProducts, createReview, noon, refusal } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

interface Widget {
  readonly pagination: { page: number; per_page: number; total: number };
  readonly bottomline: { total_review: number; average_score: number; star_distribution: object };
  readonly products: readonly { id: number; domain_key: string }[];
  readonly reviews: readonly { id: number; score: number; product_id: number }[];
}

const pathOf = (productId = "teapot") => `/v1/widget/${wire().appKey}/products/${productId}/reviews.json`;
const request = (query = "", productId = "teapot") => wire().request("GET", pathOf(productId) + query);
const read = async (query = "", productId = "teapot"): Promise<Widget> => {
  const { status, body } = await request(query, productId);
  expect([query, status]).toEqual([query, 200]);
  return (body as { response: Widget }).response;
};
const idsOf = ({ reviews }: Widget) => reviews.map(({ id }) => id);

/** Creates reviews with these scores, one minute apart, and returns their IDs. */
async function createScores(scores: readonly number[], sku = "teapot"): Promise<number[]> {
  const ids: number[] = [];
  for (const review_score of scores) {
    wire().advance(60_000);
    ids.push(await createReview(wire(), { review_score, sku, email: `jane${ids.length}@mail.example` }));
  }
  return ids;
}

describe("GET /v1/widget/{app_key}/products/{product_id}/reviews.json", () => {
  it("returns the product's reviews and its bottom line", async () => {
    await addProducts(wire(), "teapot");
    const id = await createReview(wire());
    const { status, body } = await request();
    expect(status).toBe(200);
    const shape = { ...widget, products: [widgetProduct], reviews: [reviewInWidget] };
    expect(differences(body, { status: ok, response: shape })).toEqual([]);
    expect(body).toMatchObject({
      response: {
        pagination: { page: 1, per_page: 10, total: 1 },
        bottomline: { total_review: 1, average_score: 5, star_distribution: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 } },
        products: [{ domain_key: "teapot", name: "Product teapot" }],
        reviews: [
          {
            id,
            score: 5,
            votes_up: 0,
            votes_down: 0,
            content: "It pours well.",
            title: "Good pot",
            created_at: noon,
            verified_buyer: false,
            user: { display_name: "Jane D.", user_type: "Anonymous", is_social_connected: 0 },
          },
        ],
      },
    });
    const { products, reviews } = (body as { response: Widget }).response;
    expect(reviews[0]?.product_id).toBe(products[0]?.id);
    expect(JSON.stringify(body)).not.toContain("jane@mail.example");
  });

  it("includes the comment of a review", async () => {
    const { appKey, utoken } = wire();
    const id = await createReview(wire());
    await wire().request("POST", `/starpost/v1/apps/${appKey}/reviews/${id}/comment`, { utoken, content: "Thank you" });
    const { status, body } = await request();
    expect(status).toBe(200);
    expect(differences(body, { status: ok, response: widget })).toEqual([]);
    expect(body).toMatchObject({
      response: { reviews: [{ id, comment: { content: "Thank you", created_at: noon } }] },
    });
  });

  it("pages", async () => {
    const ids = await createScores([5, 4, 3, 5, 4]);
    const pages = await Promise.all([1, 2, 3].map((page) => read(`?per_page=2&page=${page}`)));
    expect(pages.map(({ pagination }) => pagination)).toEqual(
      [1, 2, 3].map((page) => ({ page, per_page: 2, total: 5 })),
    );
    expect(pages.flatMap(idsOf)).toEqual(ids.toReversed());
    expect((await read("?per_page=2&page=4")).reviews).toEqual([]);
    expect(idsOf(await read("?page=&per_page=&star=&sort[]=&direction="))).toEqual(ids.toReversed());
  });

  it("filters reviews by number of stars", async () => {
    const ids = await createScores([5, 4, 5, 1]);
    const five = await read("?star=5");
    expect(idsOf(five)).toEqual([ids[2], ids[0]]);
    expect(five.pagination.total).toBe(2);
    expect(idsOf(await read("?star=2"))).toEqual([]);
    expect((await read()).bottomline).toMatchObject({
      total_review: 4,
      average_score: 3.75,
      star_distribution: { 1: 1, 2: 0, 3: 0, 4: 1, 5: 2 },
    });
  });

  it.each([
    ["?sort[]=date&direction=ASC", [0, 1, 2, 3]],
    ["?sort[]=date&direction=DESC", [3, 2, 1, 0]],
    ["?sort=time&direction=ASC", [0, 1, 2, 3]],
    ["?sort[]=rating&direction=asc", [1, 0, 3, 2]],
    ["?sort[]=rating&sort[]=date&direction=ASC", [1, 0, 3, 2]],
    ["?sort%5B%5D=rating&direction=desc", [2, 3, 0, 1]],
    ["?direction=ASC", [0, 1, 2, 3]],
  ])("sorts by %s", async (query, order) => {
    const ids = await createScores([3, 1, 5, 4]);
    expect(idsOf(await read(query))).toEqual(order.map((at) => ids[at]));
  });

  it.each([
    ["star", "6"],
    ["star", "0"],
    ["star", "five"],
    ["per_page", "1.5"],
    ["page", "x"],
    ["direction", "SIDEWAYS"],
    ["sort[]", "colour"],
  ])("rejects %s=%s", async (name, value) => {
    await createReview(wire());
    const { status, body } = await request(`?${name}=${value}`);
    expect(status).toBe(500);
    const message = expect.stringContaining(name.replace("[]", "")) as string;
    expect(body).toEqual(refusal(message, 500, "InvalidParams"));
  });
});

describe("GET /v1/widget/{app_key}/products/service_site_reviews/reviews.json", () => {
  it("returns only the reviews of the site", async () => {
    await createReview(wire());
    const ids = await createScores([4, 5], "service_site_reviews");
    const { status, body } = await request("", "service_site_reviews");
    expect(status).toBe(200);
    const shape = { ...widget, reviews: [siteReviewInWidget, siteReviewInWidget] };
    expect(differences(body, { status: ok, response: shape })).toEqual([]);
    const { response } = body as { response: Widget };
    expect(idsOf(response)).toEqual(ids.toReversed());
    expect(response.bottomline).toMatchObject({ total_review: 2, average_score: 4.5 });
    expect((await read()).reviews).toHaveLength(1);
  });

  it("pages", async () => {
    const ids = await createScores([4, 5, 3], "service_site_reviews");
    const second = await read("?per_page=2&page=2", "service_site_reviews");
    expect(second.pagination).toEqual({ page: 2, per_page: 2, total: 3 });
    expect(idsOf(second)).toEqual([ids[0]]);
  });

  it("returns an empty list for a site without reviews", async () => {
    expect(await read("", "service_site_reviews")).toMatchObject({
      pagination: { total: 0 },
      bottomline: { total_review: 0, average_score: 0 },
      reviews: [],
    });
  });
});
