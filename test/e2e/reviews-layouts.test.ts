import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, Homes, writeInto } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

type Row = Readonly<Record<string, string>>;

const header =
  "published,review_title,review_content,review_score,date,product_id,display_name,email,comment_content,product_title,product_url,user_type,user_reference,comment_date,image_urls";

/** Reviews with everything that layouts can hold, some of it hostile to CSV, HTML, and XML. */
const reviews = `${header}
true,Great & good,"Soaks in <fast>, ""no"" stickiness
second line; 😀 a  b &amp;",5,2025-03-02T10:12:00Z,7012,Camille Rousseau,c@shop.example,"Merci & à <bientôt>
!",Cream,https://shop.example/cream?a=1&b=2,verified_buyer,u1,2025-03-03T11:00:00Z,"https://img.example/a.jpg?x=1,2,https://img.example/b.jpg"
false,Rude,Bad words,1,2025-03-02T10:12:00Z,7012,Bob,c@shop.example,,Cream,,anonymous,,,
true,=1+1,-3 stars?,2,2025-04-01T00:00:00Z,cup_1,Cai,cai@mail.example,Sorry,Cup,https://shop.example/cup,verified_reviewer,,,
true,The shop,Fast delivery,4,2025-05-01T08:00:00Z,service_site_reviews,Dee,dee@mail.example,,,,anonymous,,,
`;

async function exportAs(home: Home, layout: string): Promise<string> {
  const path = join(home.folder, `${layout}.csv`);
  const { exitCode, stderr } = await home.run(["reviews", "export", "--layout", layout, "--out", path, "--yes"]);
  expect(exitCode, stderr).toBe(0);
  return path;
}

const home = homes.open();
beforeAll(async () => {
  await home.init();
  await home.run(["account", "set", "--name", "Tea & more"]);
  const { exitCode, stderr } = await home.run(["reviews", "import", writeInto(home, "reviews.csv", reviews)]);
  expect(exitCode, stderr).toBe(0);
});

test("the native export has images and dates of replies, and is restored", async () => {
  const exported = await home.run(["reviews", "export"], { stripFinalNewline: false });
  const rows: Row[] = parse(exported.stdout, { columns: true });
  expect(rows.find(({ comment_date }) => comment_date !== "")).toMatchObject({
    comment_date: "2025-03-03T11:00:00.000Z",
    image_urls: "https://img.example/a.jpg?x=1,2,https://img.example/b.jpg",
  });
  const empty = homes.open();
  await empty.run(["reviews", "import", writeInto(empty, "reviews.csv", exported.stdout), "--verify"]);
  expect((await empty.run(["reviews", "export"], { stripFinalNewline: false })).stdout).toBe(exported.stdout);
});

describe.each(["judgeme", "loox", "yotpo", "stamped", "shopify-product-reviews", "woocommerce"])("%s", (layout) => {
  test("gives the same bytes after export, import, and export", async () => {
    const first = await exportAs(home, layout);
    const empty = homes.open();
    const flags = layout === "shopify-product-reviews" ? ["--product-id-from", "handle"] : [];
    const { exitCode, data, stderr } = await empty.json(["reviews", "import", first, ...flags]);
    expect(exitCode, stderr).toBe(0);
    expect(data.items).toMatchObject({ accepted: 4, rejected: 0 });
    expect(readFileSync(await exportAs(empty, layout), "utf8")).toBe(readFileSync(first, "utf8"));
    const listed = await empty.json<{ reviews: Row[] }>(["reviews", "list", "--deleted", "--details"]);
    expect(JSON.stringify(listed.data)).toContain("second line; 😀 a  b &amp;");
  });
});

describe("what a layout holds", () => {
  test.each([
    ["judgeme", { curated: "ok", reply: "Merci & à <bientôt>\n!", reply_date: "2025-03-03 11:00:00 UTC" }],
    [
      "loox",
      { status: "Active", verified_purchase: "true", img: "https://img.example/a.jpg?x=1,2,https://img.example/b.jpg" },
    ],
    ["stamped", { state: "published", published: "true", created_at: "2025-03-02 10:12:00 UTC" }],
    ["shopify-product-reviews", { state: "published", product_handle: "7012", replied_at: "2025-03-03 11:00:00 UTC" }],
    ["yotpo", { "Review Published": "true", "Reviewer Type": "verified_buyer", "Product Title": "Cream" }],
    ["woocommerce", { comment_approved: "1", verified: "1", comment_parent: "0", title: "Great &amp; good" }],
  ])("%s", async (layout, cells) => {
    const rows: Row[] = parse(readFileSync(await exportAs(home, layout)), { columns: true });
    expect(rows.find((row) => Object.values(row).some((cell) => cell.includes("second line")))).toMatchObject(cells);
    const hidden = rows.find((row) => Object.values(row).includes("Bad words"));
    expect(["not-yet", "Hidden", "unpublished", "false", "0"]).toContain(
      hidden?.["curated"] ??
        hidden?.["status"] ??
        hidden?.["state"] ??
        hidden?.["Review Published"] ??
        hidden?.["comment_approved"],
    );
  });

  test("replies of WooCommerce are comments that name their review", async () => {
    const rows: Row[] = parse(readFileSync(await exportAs(home, "woocommerce")), { columns: true });
    const replies = rows.filter(({ comment_parent }) => comment_parent !== "0");
    expect(replies).toHaveLength(2);
    for (const { comment_parent } of replies) {
      expect(rows.find(({ comment_ID }) => comment_ID === comment_parent)).toMatchObject({ comment_parent: "0" });
    }
    expect(new Set(rows.map(({ comment_ID }) => comment_ID)).size).toBe(rows.length);
  });
});

/** The elements of an XML document as paths with their text, in order; fails if it is not well-formed. */
function readXml(xml: string): (readonly [path: string, text: string])[] {
  const found: [string, string][] = [];
  const open: string[] = [];
  let rest = xml.replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/, "");
  let text = "";
  while (rest !== "") {
    const [token = ""] = /^(?:<\/?[a-z_]+(?: [\w:]+="[^"<]*")*>|[^<]+)/.exec(rest) ?? [];
    expect(token, rest.slice(0, 80)).not.toBe("");
    if (token.startsWith("</")) {
      const path = open.join("/");
      expect(token).toBe(`</${open.pop()}>`);
      found.push([path, text]);
      text = "";
    } else if (token.startsWith("<")) {
      open.push(/[a-z_]+/.exec(token)?.[0] ?? "");
      text = "";
    } else {
      expect(token.replaceAll(/&(?:amp|lt|gt|quot);/g, "")).not.toContain("&");
      text = token;
    }
    rest = rest.slice(token.length);
  }
  expect(open).toEqual([]);
  return found;
}

describe("google", () => {
  test("has the elements of the schema in its order, for published reviews of products with a URL", async () => {
    const products =
      "product_id,name,url,sku,mpn,brand,upc\n7012,Cream,https://shop.example/cream?a=1&b=2,CR-1,M1,Acme,4006381333931\n";
    await home.run(["products", "import", writeInto(home, "products.csv", products)]);
    const { exitCode, stdout, stderr } = await home.run(["reviews", "export", "--layout", "google"], {
      stripFinalNewline: false,
    });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/omitted 1 review:.*not published/);
    expect(stderr).toMatch(/omitted 1 review:.*of the store/);
    const elements = readXml(stdout).filter(([, text]) => text.trim() !== "");
    expect(elements.slice(0, 2)).toEqual([
      ["feed/version", "2.4"],
      ["feed/publisher/name", "Tea &amp; more"],
    ]);
    const review = elements.filter(([path]) => path.startsWith("feed/reviews/review/"));
    const ofFirst = review.slice(
      0,
      review.findIndex(([path], at) => at > 0 && path.endsWith("/review_id")),
    );
    expect(ofFirst.slice(1).map(([path, text]) => [path.slice("feed/reviews/review/".length), text])).toEqual([
      ["reviewer/name", "Camille R."],
      ["is_verified_purchase", "true"],
      ["review_timestamp", "2025-03-02T10:12:00Z"],
      ["title", "Great &amp; good"],
      ["content", "Soaks in &lt;fast&gt;, &quot;no&quot; stickiness\nsecond line; 😀 a  b &amp;amp;"],
      ["review_url", "https://shop.example/cream?a=1&amp;b=2"],
      ["reviewer_images/reviewer_image/url", "https://img.example/a.jpg?x=1,2"],
      ["reviewer_images/reviewer_image/url", "https://img.example/b.jpg"],
      ["ratings/overall", "5"],
      ["products/product/product_ids/gtins/gtin", "4006381333931"],
      ["products/product/product_ids/mpns/mpn", "M1"],
      ["products/product/product_ids/skus/sku", "CR-1"],
      ["products/product/product_ids/brands/brand", "Acme"],
      ["products/product/product_name", "Cream"],
      ["products/product/product_url", "https://shop.example/cream?a=1&amp;b=2"],
      ["is_spam", "false"],
    ]);
    expect(review.filter(([path]) => path.endsWith("/review_id"))).toHaveLength(2);
  });

  test.each([["--format", "ndjson"], ["--json"], ["--safe-for-excel"]])("is refused with %s", async (...flags) => {
    const { exitCode } = await home.run(["reviews", "export", "--layout", "google", ...flags]);
    expect(exitCode).toBe(2);
  });
});
