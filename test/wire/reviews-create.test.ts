import { describe, expect, it } from "vitest";
import { differences, someText } from "../support/shape.ts";
import { ok, reviewFull } from "../support/wire-shapes.ts";
import {
  aReview,
  aSignedReview,
  createReview,
  followNewestLink,
  noon,
  setFeature,
  refused,
  invalidParams,
  notFound,
} from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();
type Fields = Readonly<Record<string, unknown>>;

const submit = (fields: Fields = {}) => wire().request("POST", "/v1/widget/reviews", aReview(wire(), fields));
const createNow = (fields: Fields = {}) => wire().request("POST", "/reviews/dynamic_create", aReview(wire(), fields));

/** Returns the reviews as the account lists them. */
const list = async () => {
  const { body } = await wire().own("GET", "/v1/apps/{app}/reviews");
  return (body as { reviews: readonly Fields[] }).reviews;
};

const readOne = async (id: number) => {
  const { body } = await wire().request("GET", `/reviews/${id}`);
  return (body as { response: { review: Fields } }).response.review;
};

const missing = [
  ["sku"],
  ["product_title"],
  ["display_name"],
  ["email"],
  ["review_content"],
  ["review_title"],
  ["review_score"],
];

const malformed: [string, unknown][] = [
  ["email", "jane"],
  ["email", "jane@"],
  ["product_url", "shop"],
  ["product_image_url", "teapot.png"],
  ["sku", "tea pot"],
  ["sku", "tea/pot"],
  ["review_score", 0],
  ["review_score", 6],
  ["review_score", "many"],
];

describe("POST /v1/widget/reviews", () => {
  it("creates an anonymous review and emails its author", async () => {
    const { status, body } = await submit();
    expect(status).toBe(200);
    expect(differences(body, { ...ok, image_upload_token: someText })).toEqual([]);
    expect(await wire().emails()).toMatchObject([
      { category: "anonymous_testimonials_request", email_type_id: 14, email: "jane@mail.example" },
    ]);
    expect(await list()).toMatchObject([
      {
        title: "Good pot",
        content: "It pours well.",
        score: 5,
        votes_up: 0,
        votes_down: 0,
        created_at: noon,
        sku: "teapot",
        name: "Jane Doe",
        email: "jane@mail.example",
        reviewer_type: "anonymous",
        deleted: false,
        user_reference: null,
      },
    ]);
  });

  it("accepts every field of the specification", async () => {
    const { status, body } = await submit({
      product_description: "Holds tea",
      product_image_url: "https://shop.example/teapot.png",
    });
    expect(status).toBe(200);
    expect(differences(body, { ...ok, image_upload_token: someText })).toEqual([]);
  });

  it("preserves the text of a review", async () => {
    const review_content = "„Groß“ — 日本語 \u{1F600} שלום <b>&amp;</b>\nnext line";
    await submit({ review_content, review_title: "Ünïcode" });
    expect(await list()).toMatchObject([{ content: review_content, title: "Ünïcode" }]);
  });

  it("makes the author a verified reviewer after the link in the email is followed", async () => {
    await submit();
    const [before] = await list();
    expect(await readOne(Number(before?.["id"]))).toMatchObject({ verified_buyer: false, user_type: "Anonymous" });
    expect((await followNewestLink(wire())).status).toBe(200);
    expect(await list()).toMatchObject([{ reviewer_type: "verified_reviewer" }]);
    expect(await readOne(Number(before?.["id"]))).toMatchObject({ verified_buyer: false, user_type: "User" });
  });

  it("creates a missing product, and leaves an existing one unchanged", async () => {
    const { appKey, utoken, request } = wire();
    await submit();
    await submit({ product_title: "Another name", email: "bo@mail.example" });
    const { body } = await request("GET", `/core/v3/stores/${appKey}/products`, undefined, {
      "X-Service-Token": utoken,
    });
    expect(body).toMatchObject({
      products: [{ external_id: "teapot", name: "Teapot", url: "https://shop.example/teapot" }],
    });
    expect((body as { products: unknown[] }).products).toHaveLength(1);
  });

  it("accepts a review of the site", async () => {
    expect((await submit({ sku: "service_site_reviews" })).status).toBe(200);
    expect(await list()).toMatchObject([{ score: 5, content: "It pours well." }]);
  });

  it.each([...missing, ["product_url"]])("rejects a review without %s", async (field) => {
    expect(await submit({ [field]: undefined })).toMatchObject(invalidParams(`Missing ${field}`));
    expect(await list()).toEqual([]);
    expect(await wire().emails()).toEqual([]);
  });

  it.each(malformed)("rejects %s %j", async (field, value) => {
    expect(await submit({ [field]: value })).toMatchObject(invalidParams(expect.stringContaining(field)));
    expect(await list()).toEqual([]);
  });

  it("returns 404 for an unknown app key", async () => {
    expect(await submit({ appkey: "nobody" })).toMatchObject(notFound("Couldn't find Account with app_key = nobody"));
  });
});

describe("trusted vendor reviews", () => {
  const send = (fields: Fields = {}) => wire().request("POST", "/v1/widget/reviews", aSignedReview(wire(), fields));

  it("use the reviewer type that the vendor states, and send no email", async () => {
    await setFeature(wire(), "trusted_vendor", true);
    expect((await send()).status).toBe(200);
    expect(await list()).toMatchObject([{ reviewer_type: "verified_buyer" }]);
    expect((await send({ reviewer_type: "verified_reviewer", email: "bo@mail.example" })).status).toBe(200);
    expect(new Set((await list()).map(({ reviewer_type }) => reviewer_type))).toEqual(
      new Set(["verified_buyer", "verified_reviewer"]),
    );
    expect(await wire().emails()).toEqual([]);
  });

  it("read signed text as it was sent, and ignore null fields", async () => {
    await setFeature(wire(), "trusted_vendor", true);
    const fields = {
      display_name: "  Jürgen 李 ",
      review_content: " a=b&c=d \n%41+ \u{1F600} ",
      email: "Jane@Mail.example",
      product_description: null,
    };
    expect((await send(fields)).status).toBe(200);
    expect(await list()).toMatchObject([{ reviewer_type: "verified_buyer" }]);
  });

  it("accept a signature in the synchronous endpoint as well", async () => {
    await setFeature(wire(), "trusted_vendor", true);
    const { status, body } = await wire().request(
      "POST",
      "/reviews/dynamic_create",
      aSignedReview(wire(), { review_score: "4" }),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ response: { reviews: [{ verified_buyer: true, user_type: "User" }] } });
  });

  it("reject a signature while the feature is disabled", async () => {
    expect(await send()).toMatchObject(refused(expect.stringContaining("trusted_vendor"), 401, "FeatureDisabled"));
    expect(await list()).toEqual([]);
  });

  it.each(["time_stamp", "reviewer_type"])("reject a signature without %s", async (field) => {
    await setFeature(wire(), "trusted_vendor", true);
    expect(await send({ [field]: undefined })).toMatchObject(invalidParams(`Missing ${field}`));
  });

  it.each([-15 * 60, 15 * 60])("accept a timestamp %i seconds from now, but none further away", async (away) => {
    await setFeature(wire(), "trusted_vendor", true);
    const stamp = (seconds: number) => `${1_773_576_000 + seconds}`;
    expect((await send({ time_stamp: stamp(away) })).status).toBe(200);
    expect((await send({ time_stamp: stamp(away + Math.sign(away)) })).status).toBe(401);
  });

  it("ignore an unsigned reviewer type", async () => {
    await submit({ reviewer_type: "verified_buyer" });
    expect(await list()).toMatchObject([{ reviewer_type: "anonymous" }]);
  });
});

describe("POST /reviews/dynamic_create", () => {
  it("returns the review", async () => {
    const account_platform = { shop_domain: "http://shop.example", platform_type_id: "2" };
    await wire().own("POST", "/apps/{app}/account_platform", { account_platform });
    const { status, body } = await createNow({ review_score: "4", user_reference: "u-77" });
    expect(status).toBe(200);
    expect(differences(body, { status: ok, response: { reviews: [reviewFull] } })).toEqual([]);
    expect(body).toMatchObject({
      response: {
        reviews: [
          {
            content: "It pours well.",
            title: "Good pot",
            score: 4,
            user: { display_name: "Jane D.", is_social_connected: false },
            user_type: "Anonymous",
            products: [{ Product: { name: "Teapot", product_url: "https://shop.example/teapot" } }],
            votes_up: 0,
            votes_down: 0,
            created_at: noon,
            deleted: false,
            verified_buyer: false,
            products_apps: [{ domain_key: "teapot", product: { name: "Teapot" } }],
          },
        ],
      },
    });
    expect(await wire().emails()).toEqual([]);
    expect(await list()).toMatchObject([{ score: 4, user_reference: "u-77" }]);
  });

  it("returns neither link nor image of a product that only visitors have named", async () => {
    const product_image_url = "https://evil.example/a.png";
    const { body } = await createNow({ product_url: "https://evil.example/", product_image_url });
    expect(differences(body, { status: ok, response: { reviews: [reviewFull] } })).toEqual([]);
    const Product = { name: "Teapot", product_url: "", shorten_url: "", images: [] };
    const products_apps = [{ product_url: "", domain_key: "teapot" }];
    expect(body).toMatchObject({ response: { reviews: [{ products: [{ Product }], products_apps }] } });
    expect(JSON.stringify(body)).not.toContain("evil");
  });

  it("does not require a product URL", async () => {
    expect((await createNow({ product_url: undefined })).status).toBe(200);
  });

  it("never shows the author's address", async () => {
    const id = await createReview(wire());
    const { text } = await wire().raw("GET", `/reviews/${id}`);
    expect(text).not.toContain("jane@mail.example");
  });

  it.each(missing)("rejects a review without %s", async (field) => {
    expect(await createNow({ [field]: undefined })).toMatchObject(invalidParams(`Missing ${field}`));
    expect(await list()).toEqual([]);
  });

  it.each(malformed)("rejects %s %j", async (field, value) => {
    expect(await createNow({ [field]: value })).toMatchObject(invalidParams(expect.stringContaining(field)));
  });

  it("returns 404 for an unknown app key", async () => {
    expect((await createNow({ appkey: "nobody" })).status).toBe(404);
  });
});

describe("a flood of reviews where public limits are off", () => {
  it("counts each review in the bottom line", async () => {
    for (let at = 0; at < 110; at++) expect((await createNow({ email: `jane${at}@mail.example` })).status).toBe(200);
    const { body } = await wire().request("GET", `/products/${wire().appKey}/teapot/bottomline`);
    expect(body).toMatchObject({ response: { bottomline: { total_reviews: 110 } } });
  });
});

describe("reviewer_type", () => {
  it.each(["friend", "anonymous"])("rejects %s, also without a signature", async (reviewer_type) => {
    for (const send of [submit, createNow]) {
      expect(await send({ reviewer_type })).toMatchObject(invalidParams(expect.stringContaining("reviewer_type")));
    }
    expect(await list()).toEqual([]);
  });

  it.each(["verified_buyer", "verified_reviewer", "", null])("accepts %j", async (reviewer_type) => {
    expect((await createNow({ reviewer_type })).status).toBe(200);
  });
});

describe("product_url", () => {
  it.each(["https://", "https://shop.example:port/", "https://sh op.example/", "http://1.2.3.999/", "https://xn--a/"])(
    "rejects %s, which no URL parser accepts",
    async (product_url) => {
      expect(await submit({ product_url })).toMatchObject(invalidParams(expect.stringContaining("product_url")));
    },
  );
});

describe("email", () => {
  it.each(["mailto:a@b.example", "a..b@c.example", "a@b.example.", ".a@b.example", "a@b..example"])(
    "rejects %s",
    async (email) => {
      expect(await submit({ email })).toMatchObject(invalidParams(expect.stringContaining("email")));
    },
  );

  it.each(["a@b", "a.b+c@d-e.example", "o'brien@x.example", "ä@ö.example"])("accepts %s", async (email) => {
    expect((await submit({ email })).status).toBe(200);
  });
});
