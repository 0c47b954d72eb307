import { describe, expect, test } from "vitest";
import { asComment, asReviewerType, asState } from "../../../../src/records/reviews/layouts/values.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { type RecordedImport, recordImport } from "../../../support/recorded-import.ts";

type Sent = Readonly<Record<string, unknown>>;

/** Imports a file of reviews, and returns what was sent with the other outcomes. */
async function send(content: string, options: Partial<ImportOptions> = {}) {
  const result = await recordImport("reviews", content, options);
  if ("failed" in result) throw new Error(`${result.failed} ${result.values}`);
  return { ...result, reviews: result.sent.map(([, input]): Sent => input) };
}

const review = {
  sku: "77",
  review_title: "Great",
  review_content: "Soaks in, fast",
  review_score: 5,
  display_name: "Sarah",
  email: "sarah@mail.example",
};
const past = { created_at: "2026-08-01T10:00:00.000Z" };
const image = "https://img.example/a.jpg";
const reply = { comment: "Thanks", comment_created_at: "2026-08-02T11:00:00.000Z" };

/** A header, a row by column name, and what is sent; further rows differ in the given cells. */
interface Case {
  readonly header: string;
  readonly row: Readonly<Record<string, string>>;
  readonly sent: Sent;
  /** The state column with values that are not published, and those that are not stored. */
  readonly hidden?: readonly Readonly<Record<string, string>>[];
  readonly spam?: readonly Readonly<Record<string, string>>[];
  readonly options?: Partial<ImportOptions>;
}

const text = { title: "Great", body: "Soaks in, fast", rating: "5" };
const reviewer = { reviewer_name: "Sarah", reviewer_email: "sarah@mail.example" };
const author = { author: "Sarah", email: "sarah@mail.example" };
const byHandle = { productIdFrom: ["handle"] };

const cases: Readonly<Record<string, Case>> = {
  "Judge.me": {
    header:
      "title,body,rating,review_date,source,curated,reviewer_name,reviewer_email,product_id,product_handle,reply,reply_date,picture_urls,ip_address,location",
    row: {
      ...text,
      ...reviewer,
      review_date: "2026-08-01 10:00:00 UTC",
      curated: "ok",
      product_id: "77",
      reply: "Thanks",
      reply_date: "2026-08-02 11:00:00 UTC",
      picture_urls: `${image},https://img.example/b.jpg?w=1,2`,
    },
    sent: {
      ...review,
      past: { ...past, ...reply, published: true, images: [image, "https://img.example/b.jpg?w=1,2"] },
    },
    hidden: [{ curated: "not-yet" }],
    spam: [{ curated: "spam" }],
  },
  "Judge.me by handle": {
    header: "title,body,rating,review_date,curated,reviewer_name,reviewer_email,product_id,product_handle",
    row: { ...text, ...reviewer, review_date: "2026-08-01T10:00:00Z", product_handle: "glow" },
    sent: { ...review, sku: "glow", past },
    options: byHandle,
  },
  Loox: {
    header: "id,status,rating,email,nickname,full_name,review,date,productId,handle,img,variant,verified_purchase",
    row: {
      status: "Active",
      rating: "5",
      email: "sarah@mail.example",
      nickname: "Sarah",
      full_name: "Sarah Kim",
      review: "Soaks in, fast",
      date: "2026-08-01T10:00:00.000Z",
      productId: "77",
      img: image,
      verified_purchase: "true",
    },
    sent: {
      ...review,
      review_title: "Soaks in, fast",
      past: { ...past, published: true, reviewer_type: "verified_buyer", images: [image], untitled: true },
    },
    hidden: [{ status: "Hidden" }, { status: "Pending" }],
    spam: [{ status: "Spam" }],
  },
  Okendo: {
    header:
      "name,body,handle,productId,rating,sku,dateCreated,countryCode,email,imageUrls,isApproved,isIncentivized,isRecommended,rejectedImageUrls,reply,replyDateCreated,replyIsPublic,title,videoUrls,isVerifiedBuyer,variantId,status",
    row: {
      ...text,
      name: "Sarah",
      email: "sarah@mail.example",
      productId: "77",
      dateCreated: "2026-08-01T10:00:00Z",
      imageUrls: image,
      isApproved: "true",
      rejectedImageUrls: "https://img.example/rejected.jpg",
      reply: "Thanks",
      replyDateCreated: "2026-08-02T11:00:00Z",
      replyIsPublic: "true",
      isVerifiedBuyer: "false",
      status: "approved",
    },
    sent: { ...review, past: { ...past, ...reply, published: true, reviewer_type: "anonymous", images: [image] } },
    hidden: [
      { isApproved: "false" },
      { status: "rejected" },
      { status: "pending" },
      { isApproved: "", status: "pending" },
    ],
    spam: [{ status: "spam" }, { isApproved: "false", status: "spam" }],
  },
  "Okendo's API": {
    header: "reviewId,productId,rating,title,body,reviewer.name,reviewer.email,dateCreated",
    row: {
      ...text,
      productId: "77",
      "reviewer.name": "Sarah",
      "reviewer.email": "sarah@mail.example",
      dateCreated: "2026-08-01T10:00:00Z",
    },
    sent: { ...review, past },
  },
  Opinew: {
    header:
      "body,rating,review_date,state,reviewer_name,reviewer_email,product_id,product_handle,reply,reply_date,picture_urls,SKU,barcode,region",
    row: { ...text, ...reviewer, review_date: "2026-08-01 10:00:00 UTC", state: "published", product_id: "77" },
    sent: { ...review, review_title: "Soaks in, fast", past: { ...past, published: true, untitled: true } },
    hidden: [{ state: "unpublished" }, { state: "pending" }],
    spam: [{ state: "spam" }],
  },
  Stamped: {
    header:
      "product_id,review_id,author,email,location,state,rating,title,body,created_at,reply,replied_at,photos,published,product_handle,sku",
    row: {
      ...text,
      ...author,
      product_id: "77",
      state: "published",
      created_at: "2026-08-01 10:00:00",
      reply: "Thanks",
      replied_at: "2026-08-02 11:00:00",
      photos: image,
    },
    sent: { ...review, past: { ...past, ...reply, published: true, images: [image] } },
    hidden: [{ state: "unpublished" }, { published: "false" }, { state: "", published: "0" }],
    spam: [{ state: "spam", published: "true" }, { state: "trash" }],
  },
  "Shopify Product Reviews": {
    header: "product_handle,state,rating,title,author,email,location,body,reply,created_at,replied_at",
    row: {
      ...text,
      ...author,
      product_handle: "glow",
      state: "published",
      created_at: "2026-08-01 06:00:00 -0400",
      reply: "Thanks",
      replied_at: "2026-08-02 11:00:00 UTC",
    },
    sent: { ...review, sku: "glow", past: { ...past, ...reply, published: true } },
    hidden: [{ state: "unpublished" }],
    spam: [{ state: "spam" }],
    options: byHandle,
  },
  Ryviu: {
    header: "product_handle,rating,author,title,body_text,email,photo_urls,created_at,status,featured",
    row: {
      ...author,
      title: "Great",
      rating: "5",
      product_handle: "glow",
      body_text: "Soaks in, fast",
      photo_urls: `${image}\nhttps://img.example/b.jpg`,
      created_at: "2026-08-01 10:00",
      status: "enable",
    },
    sent: { ...review, sku: "glow", past: { ...past, published: true, images: [image, "https://img.example/b.jpg"] } },
    hidden: [{ status: "disable" }, { status: "pending" }],
    spam: [{ status: "trash" }],
    options: byHandle,
  },
  "Yotpo, short form": {
    header: "Review Title,Review Content,Review Score,Date,Product ID,Product Name,Display Name,Email",
    row: {
      "Review Title": "Great",
      "Review Content": "Soaks in, fast",
      "Review Score": "5",
      Date: "2026-08-01T10:00:00Z",
      "Product ID": "77",
      "Product Name": "Glow",
      "Display Name": "Sarah",
      Email: "sarah@mail.example",
    },
    sent: { ...review, product_title: "Glow", past },
  },
  "Yotpo, long form": {
    header:
      "Review ID,Review Published,Review Title,Review Content,Review Score,Review Creation Date,Reviewer Display Name,Reviewer Email,Product ID,Product Title,Product URL,Reviewer Type,Comment Content",
    row: {
      "Review Published": "true",
      "Review Title": "Great",
      "Review Content": "Soaks in, fast",
      "Review Score": "5",
      "Review Creation Date": "2026-08-01T10:00:00Z",
      "Reviewer Display Name": "Sarah",
      "Reviewer Email": "sarah@mail.example",
      "Product ID": "77",
      "Product Title": "Glow",
      "Product URL": "https://shop.example/glow",
      "Reviewer Type": "verified_buyer",
      "Comment Content": "Thanks",
    },
    sent: {
      ...review,
      product_title: "Glow",
      product_url: "https://shop.example/glow",
      past: { ...past, published: true, reviewer_type: "verified_buyer", comment: "Thanks" },
    },
    hidden: [{ "Review Published": "false" }],
    spam: [{ "Review Published": "deleted" }],
  },
  Trustpilot: {
    header:
      "Review ID,Review Created (UTC),Consumer Username,Consumer User ID,Review Title,Review Content,Review Stars,Source Of Review,Review Language,Domain URL,Webshop Name,Business Unit ID,Company Reply Date (UTC),Company Reply Content,Reference Id,Consumer email",
    row: {
      "Review Created (UTC)": "2026-08-01 10:00:00",
      "Consumer Username": "Sarah",
      "Review Title": "Great",
      "Review Content": "Soaks in, fast",
      "Review Stars": "5",
      "Company Reply Date (UTC)": "2026-08-02 11:00:00",
      "Company Reply Content": "Thanks",
      "Reference Id": "1001",
      "Consumer email": "sarah@mail.example",
    },
    sent: { ...review, sku: "service_site_reviews", past: { ...past, ...reply } },
  },
  WooCommerce: {
    header:
      "comment_ID,comment_post_ID,comment_author,comment_author_email,comment_author_url,comment_author_IP,comment_date,comment_date_gmt,comment_content,comment_approved,comment_parent,user_id,rating,verified,title,product_SKU,product_title",
    row: {
      comment_ID: "5",
      comment_post_ID: "77",
      comment_author: "Sarah",
      comment_author_email: "sarah@mail.example",
      comment_date: "2026-08-01 12:00:00",
      comment_date_gmt: "2026-08-01 10:00:00",
      comment_content: "Soaks in, fast",
      comment_approved: "1",
      comment_parent: "0",
      user_id: "3",
      rating: "5",
      verified: "1",
      title: "Great",
      product_title: "Glow",
    },
    sent: { ...review, product_title: "Glow", past: { ...past, published: true, reviewer_type: "verified_buyer" } },
    hidden: [{ comment_approved: "0" }, { comment_approved: "hold" }],
    spam: [{ comment_approved: "spam" }, { comment_approved: "trash" }, { comment_approved: "post-trashed" }],
  },
};

function toCsv(header: string, ...rows: readonly Readonly<Record<string, string>>[]): string {
  const cell = (value = "") => `"${value.replaceAll('"', '""')}"`;
  const lines = rows.map((row) =>
    header
      .split(",")
      .map((name) => cell(row[name]))
      .join(),
  );
  return `${[header, ...lines].join("\n")}\n`;
}

describe.each(Object.entries(cases))("%s", (_name, { header, row, sent, hidden = [], spam = [], options }) => {
  test("is recognized, and all columns are sent", async () => {
    const { reviews, rejects, rows } = await send(toCsv(header, row), options);
    expect(rejects).toEqual([]);
    expect(rows).toMatchObject({ read: 1, accepted: 1 });
    const defaults = { product_title: sent["sku"] };
    expect(reviews).toEqual([{ ...defaults, ...sent }]);
  });

  test.runIf(hidden.length > 0)("imports what is not public as unpublished", async () => {
    const id = (at: number): Readonly<Record<string, string>> =>
      "comment_ID" in row ? { comment_ID: String(at + 10) } : {};
    const rows = hidden.map((cells, at) => ({ ...row, ...id(at), ...cells }));
    const { reviews, rejects } = await send(toCsv(header, ...rows), options);
    expect(rejects).toEqual([]);
    expect(reviews.map((one) => one["past"])).toEqual(hidden.map(() => expect.objectContaining({ published: false })));
  });

  test.runIf(spam.length > 0)("stores no spam", async () => {
    const rows = spam.map((cells, at) => ({
      ...row,
      ...("comment_ID" in row && { comment_ID: String(at + 10) }),
      ...cells,
    }));
    const { reviews, rejects } = await send(toCsv(header, ...rows), options);
    expect(reviews).toEqual([]);
    expect(rejects.map(([line, , code]) => [line, code])).toEqual(spam.map((_, at) => [at + 2, "spam"]));
  });
});

describe("products that have only a handle", () => {
  const { header = "", row = {} } = cases["Ryviu"] ?? {};

  test("are refused without --product-id-from", async () => {
    const result = await recordImport("reviews", toCsv(header, row));
    expect(result).toMatchObject({ failed: "usage" });
  });

  test("a product ID takes precedence over the handle", async () => {
    const judgeme = cases["Judge.me"];
    const rows = [
      { ...judgeme?.row, product_handle: "glow" },
      { ...judgeme?.row, product_id: "", product_handle: "glow" },
    ];
    const { reviews } = await send(toCsv(judgeme?.header ?? "", ...rows), byHandle);
    expect(reviews.map(({ sku }) => sku)).toEqual(["77", "glow"]);
    const without = await send(toCsv(judgeme?.header ?? "", ...rows));
    expect(without.rejects).toEqual([[3, "product_id", "missing"]]);
  });
});

test("an unknown state is rejected, not published", async () => {
  const { header = "", row = {} } = cases["Loox"] ?? {};
  const { reviews, rejects } = await send(toCsv(header, { ...row, status: "Escalated" }));
  expect([reviews, rejects]).toEqual([[], [[2, "status", "bad_boolean"]]]);
});

describe("a file with all native columns", () => {
  const native = { review_content: "Soaks in, fast", review_score: "5", date: "2026-08-01T10:00:00Z" };
  const cells = { ...native, product_id: "77", display_name: "Sarah", email: "sarah@mail.example" };

  test("is native, even if it has those of a layout and one more", async () => {
    const row = { ...cells, review_title: "Great", product_name: "Glow", user_reference: "u1" };
    const { reviews } = await send(toCsv(Object.keys(row).join(), row));
    expect(reviews).toEqual([{ ...review, product_title: "77", user_reference: "u1", past }]);
  });

  test("is not native if it has exactly the columns of a layout, also as a reject file", async () => {
    const row = { ...cells, review_title: "Great", product_name: "Glow", _line: "2", _code: "missing", _reason: "x" };
    const { reviews } = await send(toCsv(Object.keys(row).join(), row));
    expect(reviews).toEqual([{ ...review, product_title: "Glow", past }]);
  });
});

describe("replies", () => {
  const { header = "", row = {} } = cases["WooCommerce"] ?? {};
  const shop = {
    comment_ID: "9",
    comment_post_ID: "77",
    comment_author: "Shop",
    comment_author_email: "shop@shop.example",
    comment_date: "2026-08-02 13:00:00",
    comment_date_gmt: "2026-08-02 11:00:00",
    comment_content: "Thanks",
    comment_approved: "1",
    comment_parent: "5",
    user_id: "1",
  };
  const load = (...rows: readonly Readonly<Record<string, string>>[]) => send(toCsv(header, ...rows));
  const pastOf = ({ reviews }: { readonly reviews: readonly Sent[] }) => reviews.map((sent) => sent["past"]);

  test.each([
    ["after", [row, shop]],
    ["before", [shop, row]],
    ["far from", [shop, { ...row, comment_ID: "6" }, { ...row, comment_ID: "7" }, row]],
  ])("of the shop are found %s the review", async (_where, rows) => {
    const result = await load(...rows);
    expect(result.rows).toMatchObject({ read: rows.length, accepted: rows.length });
    expect(pastOf(result)).toContainEqual(expect.objectContaining(reply));
    expect(pastOf(result).filter((one) => Object.hasOwn(one as Sent, "comment"))).toHaveLength(1);
  });

  test("a reply to a reply belongs to the same review", async () => {
    const answer = { ...shop, comment_ID: "11", comment_parent: "10" };
    const question = {
      ...shop,
      comment_ID: "10",
      comment_author_email: "sarah@mail.example",
      comment_content: "When?",
    };
    expect(pastOf(await load(row, question, answer))).toMatchObject([{ comment: "Thanks" }]);
  });

  test.each([
    ["spam", { comment_approved: "spam" }],
    ["pending", { comment_approved: "0" }],
    ["by the author", { comment_author_email: "Sarah@mail.example" }],
    ["by a guest", { user_id: "0" }],
    ["by another buyer", { verified: "1" }],
  ])("that are %s are dropped", async (_why, cells) => {
    const result = await load(row, { ...shop, ...cells });
    expect(pastOf(result)).toEqual([{ ...past, published: true, reviewer_type: "verified_buyer" }]);
    expect(result.rows).toMatchObject({ accepted: 2, rejected: 0 });
    expect(result.notices.join()).toContain("a.csv:3:comment_content");
  });

  test("give no other fields of the review", async () => {
    const { reviews, rejects } = await load({ ...row, comment_author_email: "", rating: "" }, { ...shop, rating: "4" });
    expect(reviews).toEqual([]);
    expect(rejects).toEqual([
      [2, "comment_author_email", "missing"],
      [3, "", "review_incomplete"],
    ]);
  });

  test("without their review are rejected", async () => {
    const { rejects } = await load({ ...shop, comment_parent: "4" });
    expect(rejects).toEqual([[2, "comment_parent", "no_parent"]]);
  });

  test("that are private are not sent", async () => {
    const okendo = cases["Okendo"];
    const file = toCsv(okendo?.header ?? "", { ...okendo?.row, replyIsPublic: "false" });
    const result = await send(file);
    expect(pastOf(result)[0]).not.toHaveProperty("comment");
    expect(result.notices.join()).toContain("a.csv:2:reply");
  });

  test("with an unreadable date are sent without it", async () => {
    const judgeme = cases["Judge.me"];
    const result = await send(toCsv(judgeme?.header ?? "", { ...judgeme?.row, reply_date: "soon" }));
    expect(pastOf(result)).toMatchObject([{ comment: "Thanks" }]);
    expect(pastOf(result)[0]).not.toHaveProperty("comment_created_at");
  });
});

describe("ratings", () => {
  const header = "review_content,review_score,date,product_id,display_name,email";
  const rows = (...scores: readonly string[]) =>
    `${header}\n${scores.map((score, at) => `Good ${at},"${score}",2026-01-01,p1,Ann,a@mail.example\n`).join("")}`;
  const scoresOf = ({ reviews }: { readonly reviews: readonly Sent[] }) => reviews.map((sent) => sent["review_score"]);

  test("on another scale are converted in any layout", async () => {
    expect(scoresOf(await send(rows("10", "8", "3", "9/10")))).toEqual([5, 4, 2, 5]);
    const { header: ofLoox = "", row = {} } = cases["Loox"] ?? {};
    const loox = await send(
      toCsv(
        ofLoox,
        { ...row, rating: "90" },
        { ...row, rating: "20", review: "Bad" },
        { ...row, rating: "70", review: "Fine" },
      ),
    );
    expect(scoresOf(loox)).toEqual([5, 1, 4]);
  });

  test("above 5 are rejected if they are the exception", async () => {
    const result = await send(rows("5", "4", "6", "3"));
    expect(scoresOf(result)).toEqual([5, 4, 3]);
    expect(result.rejects).toEqual([[4, "review_score", "bad_score"]]);
  });

  test("have the scale that a flag states", async () => {
    expect(scoresOf(await send(rows("2", "4"), { ratingScale: "10" }))).toEqual([1, 2]);
    const strict = await send(rows("10", "8"), { ratingScale: "5" });
    expect(strict.rejects.map(([, , code]) => code)).toEqual(["bad_score", "bad_score"]);
  });
});

describe("titles", () => {
  const send1 = async (content: string) => {
    const file = toCsv("review_content,review_score,date,product_id,display_name,email", {
      review_content: content,
      review_score: "5",
      date: "2026-01-01",
      product_id: "p1",
      display_name: "Ann",
      email: "a@mail.example",
    });
    const result: RecordedImport & { reviews: readonly Sent[] } = await send(file);
    return result.reviews[0]?.["review_title"];
  };

  test.each([
    ["Short and\n sweet", "Short and sweet"],
    ["x".repeat(60), "x".repeat(60)],
    ["x".repeat(61), `${"x".repeat(60)}…`],
    [`${"word ".repeat(11)}words and more`, `${"word ".repeat(11).trim()}…`],
    [`${"x".repeat(59)}😀😀`, `${"x".repeat(59)}…`],
  ])("default to the first words of %j", async (content, title) => {
    expect(await send1(content)).toBe(title);
  });
});

describe("images", () => {
  const { header = "", row = {} } = cases["Judge.me"] ?? {};
  const imagesOf = async (cell: string) => {
    const { reviews, notices } = await send(toCsv(header, { ...row, picture_urls: cell }));
    return {
      images: (reviews[0]?.["past"] as Sent | undefined)?.["images"],
      isReported: notices.join().includes("picture_urls"),
    };
  };

  test.each([
    ["", undefined, false],
    [`${image}; ${image}|${image}`, [image, image, image], false],
    ["//img.example/a.jpg", ["https://img.example/a.jpg"], false],
    ["photo.jpg", undefined, true],
    [`${image},https://img.example/"x`, [image], true],
    ["javascript:alert(1)", undefined, true],
    [Array<string>(21).fill(image).join(), Array<string>(20).fill(image), true],
  ])("of the cell %j", async (cell, images, isReported) => {
    expect(await imagesOf(cell)).toEqual({ images, isReported });
  });
});

describe("values", () => {
  test.each([
    ["Active", "true"],
    ["published true", "true"],
    ["published false", "false"],
    ["true spam", "spam"],
    ["spam nonsense", "spam"],
    ["published nonsense", "published nonsense"],
    ["not_yet", "false"],
    ["0", "false"],
  ])("the state %s is %s", (value, state) => {
    expect(asState(value)).toBe(state);
  });

  test.each([
    ["true", "verified_buyer"],
    ["0", "anonymous"],
    ["verified_reviewer", "verified_reviewer"],
  ])("the verification %s is %s", (value, type) => {
    expect(asReviewerType(value)).toBe(type);
  });

  test.each([
    ["a < b &amp; c\nd", "a < b & c\nd"],
    ["&#8217;&#x41;&LT;&unknown;&#0;&#1114112;", "’A<&unknown;&#0;&#1114112;"],
  ])("the comment %j is %j", (value, comment) => {
    expect(asComment(value)).toBe(comment);
  });
});
