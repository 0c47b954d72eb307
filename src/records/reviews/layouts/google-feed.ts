import { extensionPrefix, shortenName, siteReviewsId } from "../../../contract/index.ts";
import type { ExportLayout, ExportRow } from "../../../export/record-exporter.ts";
import { listProducts, type ListedProduct } from "../../../service/listings.ts";
import type { Service } from "../../../service/service.ts";
import type { CallOptions } from "../../../service/transport.ts";

type Review = ExportRow["record"];
type Product = Pick<ListedProduct, "brand" | "mpn" | "sku" | "gtins">;

const fields = (
  "id published review_title review_content review_score date product_id display_name user_type " +
  "product_title product_url image_urls"
).split(" ");

const schema = "http://www.google.com/shopping/reviews/schema/product/2.4/product_reviews.xsd";

/** In the URLs of photos that reviewers have uploaded. */
const uploadPath = `${extensionPrefix}/images/`;

/** The name of a store that has none, since the feed requires one. */
const unnamedStore = "Store";

/**
 * Google's product-review feed, version 2.4. Source: Google, "Product review feeds: XML schema", whose order of elements
 * it follows.
 * Assumed: it has all published reviews of products with a URL, which is also where their reviews are shown; names of
 * reviewers are shortened as in widgets. Photos that unconfirmed reviewers have uploaded are omitted, because they may not
 * be public.
 */
export const googleFeed: ExportLayout = {
  fields,
  isCsv: false,
  sortKeyOf: ({ date, id }) => `${String(date)} ${String(id).padStart(16, "0")}`,
  omits: ({ published, product_id, product_url }) => {
    if (published !== true) return "they are not published";
    if (product_id === siteReviewsId) return "they are reviews of the store, not of a product";
    return product_url === null || product_url === "" || product_url === undefined
      ? "their products have no URL"
      : undefined;
  },
  createForm: async (_csv, service, options) => {
    const { settings } = await service.account.settings({}, options);
    const products = await readProducts(service, options);
    return {
      start: formatStart(settings.name ?? unnamedStore),
      rows: (rows) =>
        rows
          .map((values) => Object.fromEntries(fields.map((field, at) => [field, values[at]])))
          .map((review) => formatReview(review, products.get(text(review, "product_id"))))
          .join(""),
      end: "  </reviews>\n</feed>\n",
    };
  },
};

async function readProducts(service: Service, options: CallOptions): Promise<ReadonlyMap<string, Product>> {
  const products = new Map<string, Product>();
  for await (const page of listProducts(service, {}, options)) {
    for (const { external_id, brand, mpn, sku, gtins } of page) products.set(external_id, { brand, mpn, sku, gtins });
  }
  return products;
}

function formatStart(store: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns:vc="http://www.w3.org/2007/XMLSchema-versioning" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="${schema}">
  <version>2.4</version>
  <publisher>
    <name>${escape(store)}</name>
  </publisher>
  <reviews>
`;
}

function formatReview(review: Review, product: Product | undefined): string {
  const url = escape(text(review, "product_url"));
  const reviewer = shortenName(text(review, "display_name"));
  const named = reviewer === "" ? '<name is_anonymous="true">Anonymous</name>' : `<name>${escape(reviewer)}</name>`;
  const images = text(review, "image_urls")
    .split(/,(?=https?:\/\/)/i)
    .filter((image) => image !== "" && !(review["user_type"] === "anonymous" && image.includes(uploadPath)))
    .map((image) => `<reviewer_image><url>${escape(image)}</url></reviewer_image>`);
  const lines = [
    `<review_id>${escape(text(review, "id"))}</review_id>`,
    `<reviewer>${named}</reviewer>`,
    `<is_verified_purchase>${review["user_type"] === "verified_buyer"}</is_verified_purchase>`,
    `<review_timestamp>${escape(text(review, "date").replace(/\.\d+Z$/, "Z"))}</review_timestamp>`,
    ...element("title", text(review, "review_title")),
    `<content>${escape(text(review, "review_content"))}</content>`,
    `<review_url type="group">${url}</review_url>`,
    ...(images.length === 0 ? [] : [`<reviewer_images>${images.join("")}</reviewer_images>`]),
    `<ratings><overall min="1" max="5">${escape(text(review, "review_score"))}</overall></ratings>`,
    "<products>",
    "  <product>",
    `    <product_ids>${formatIds(text(review, "product_id"), product)}</product_ids>`,
    ...element("product_name", text(review, "product_title")).map((line) => `    ${line}`),
    `    <product_url>${url}</product_url>`,
    "  </product>",
    "</products>",
    "<is_spam>false</is_spam>",
  ];
  return `    <review>\n${lines.map((line) => `      ${line}\n`).join("")}    </review>\n`;
}

/** Assumed: without an SKU, the product ID is what identifies the product in the shop. */
function formatIds(productId: string, product: Product | undefined): string {
  const gtins = (product?.gtins ?? []).map(({ value }) => value);
  const parts = [formatList("gtin", gtins), formatList("mpn", [product?.mpn ?? ""])];
  parts.push(formatList("sku", [product?.sku || productId]), formatList("brand", [product?.brand ?? ""]));
  return parts.join("");
}

/** `<skus><sku>…</sku></skus>`, or nothing. */
function formatList(name: string, values: readonly string[]): string {
  const items = values.flatMap((value) => element(name, value));
  return items.length === 0 ? "" : `<${name}s>${items.join("")}</${name}s>`;
}

/** An element, unless its text is empty. */
function element(name: string, content: string): string[] {
  return content === "" ? [] : [`<${name}>${escape(content)}</${name}>`];
}

function text(review: Review, field: string): string {
  return String(review[field] ?? "").trim();
}

/** Characters that XML 1.0 does not allow, not even escaped. */
// oxlint-disable-next-line no-control-regex -- These are the characters to remove.
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escape(value: string): string {
  return value
    .toWellFormed()
    .replaceAll(forbidden, "")
    .replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character);
}
