import type { ExportLayout, ExportRow, ExportValue } from "../../../export/record-exporter.ts";
import type { Layout } from "../../../import/layouts/layout.ts";
import { googleFeed } from "./google-feed.ts";
import { yotpo } from "./index.ts";
import { judgeme, loox, shopifyProductReviews, stamped } from "./shopify-apps.ts";
import { createCsvForm } from "../../../export/column-format.ts";

type Row = Readonly<Record<string, ExportValue>>;

export interface CsvLayout {
  /** The fields of a record that it writes. */
  readonly fields: readonly string[];
  readonly columns: readonly string[];
  /** The column with the date, by which rows are sorted first. */
  readonly dateColumn: string;
  /**
   * Writes a record as rows, by column; absent columns are empty.
   * @param n the position of the record in the file, from 1
   */
  readonly toRows: (record: ExportRow["record"], n: number) => readonly Row[];
}

/** A layout with a header and one or more rows for each record. */
export function createCsvLayout({ fields, columns, dateColumn, toRows }: CsvLayout): ExportLayout {
  const toCells = (row: Row) => columns.map((column) => row[column] ?? null);
  return {
    fields,
    isCsv: true,
    sortKeyOf: (record) => {
      const rows = toRows(record, 0);
      return `${String(rows[0]?.[dateColumn] ?? "")} ${JSON.stringify(rows.map(toCells))}`;
    },
    createForm: async (csv) => {
      const form = createCsvForm(columns, csv);
      let n = 0;
      return {
        ...form,
        rows: (pieces, isFirst) => {
          const records = pieces.map((values) => Object.fromEntries(fields.map((field, at) => [field, values[at]])));
          return form.rows(records.flatMap((record) => toRows(record, ++n)).map(toCells), isFirst);
        },
      };
    },
  };
}

type Review = ExportRow["record"];

const fields = (
  "published review_title review_content review_score date product_id display_name email comment_content " +
  "product_title product_url user_type comment_date image_urls"
).split(" ");

/** A text without surrounding whitespace, which the import of a layout ignores. */
function text(review: Review, field: string): string {
  return String(review[field] ?? "").trim();
}

/** `2026-01-31 10:00:00`, in UTC; empty without a date. */
function time(record: Review, field: string): string {
  return text(record, field).slice(0, 19).replace("T", " ");
}

function utc(record: Review, field: string): string {
  const written = time(record, field);
  return written === "" ? "" : `${written} UTC`;
}

function isPublished({ published }: Review): boolean {
  return published === true;
}

function isBuyer({ user_type }: Review): boolean {
  return user_type === "verified_buyer";
}

/** How a field is written, if not as text without surrounding whitespace. */
type Formats = Readonly<Record<string, (review: Review, field: string) => ExportValue>>;

const unchanged = (review: Review, field: string) => review[field];

/** Writes each field to the first of the columns from which an import of the layout reads it. */
function writeFields({ fields: sources }: Layout, review: Review, formats: Formats): Record<string, ExportValue> {
  const all: Formats = { review_score: unchanged, published: isPublished, user_type: isBuyer, ...formats };
  return Object.fromEntries(
    Object.entries(sources).map(([field, { from }]) => [from.flat()[0] ?? "", (all[field] ?? text)(review, field)]),
  );
}

function stateAs(published: string, hidden: string) {
  return (review: Review) => (isPublished(review) ? published : hidden);
}

const utcDates: Formats = { date: utc, comment_date: utc };

const judgemeExport: CsvLayout = {
  fields,
  columns: (
    "title body rating review_date source curated reviewer_name reviewer_email product_id product_handle " +
    "reply reply_date picture_urls ip_address location"
  ).split(" "),
  dateColumn: "review_date",
  toRows: (review) => [writeFields(judgeme, review, { ...utcDates, published: stateAs("ok", "not-yet") })],
};

const looxExport: CsvLayout = {
  fields,
  columns: "id status rating email nickname full_name review date productId handle img variant verified_purchase".split(
    " ",
  ),
  dateColumn: "date",
  toRows: (review, n) => [
    {
      ...writeFields(loox, review, { published: stateAs("Active", "Hidden") }),
      id: n,
      full_name: text(review, "display_name"),
    },
  ],
};

const yotpoExport: CsvLayout = {
  fields,
  columns: (
    "Review ID,Review Published,Review Title,Review Content,Review Score,Review Creation Date,Reviewer Display Name," +
    "Reviewer Email,Product ID,Product Title,Product URL,Reviewer Type,Comment Content"
  ).split(","),
  dateColumn: "Review Creation Date",
  toRows: (review, n) => [{ ...writeFields(yotpo, review, { user_type: text }), "Review ID": n }],
};

/** What Stamped and Shopify Product Reviews have in common. */
const shopifyFormats: Formats = { ...utcDates, published: stateAs("published", "unpublished") };

const stampedExport: CsvLayout = {
  fields,
  columns: (
    "product_id review_id author email location state rating title body created_at reply replied_at photos " +
    "published product_handle sku"
  ).split(" "),
  dateColumn: "created_at",
  toRows: (review, n) => [
    { ...writeFields(stamped, review, shopifyFormats), review_id: n, published: isPublished(review) },
  ],
};

/** Assumed: the product ID is written as the handle, because the layout has no other column for it. */
const shopifyProductReviewsExport: CsvLayout = {
  fields,
  columns: "product_handle state rating title author email location body reply created_at replied_at".split(" "),
  dateColumn: "created_at",
  toRows: (review) => [
    { ...writeFields(shopifyProductReviews, review, shopifyFormats), product_handle: text(review, "product_id") },
  ],
};

/** WordPress stores comments as HTML, in which line breaks are line breaks. */
function html(written: string): string {
  return written.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function toDates(written: string) {
  return { comment_date: written, comment_date_gmt: written };
}

/** A reply is a comment of its own, by a registered user. IDs are positions in the file. */
const woocommerce: CsvLayout = {
  fields,
  columns: (
    "comment_ID comment_post_ID comment_author comment_author_email comment_author_url comment_author_IP " +
    "comment_date comment_date_gmt comment_content comment_approved comment_parent user_id rating verified title " +
    "product_SKU product_title"
  ).split(" "),
  dateColumn: "comment_date_gmt",
  toRows: (review, n) => {
    const id = n * 2 - 1;
    const product = { comment_post_ID: text(review, "product_id"), product_title: text(review, "product_title") };
    const comment = {
      ...product,
      ...toDates(time(review, "date")),
      comment_ID: id,
      comment_author: text(review, "display_name"),
      comment_author_email: text(review, "email"),
      comment_content: html(text(review, "review_content")),
      comment_approved: isPublished(review) ? 1 : 0,
      comment_parent: 0,
      user_id: 0,
      rating: review["review_score"],
      verified: isBuyer(review) ? 1 : 0,
      title: html(text(review, "review_title")),
    };
    const reply = html(text(review, "comment_content"));
    if (reply === "") return [comment];
    const answer = {
      ...product,
      ...toDates(time(review, "comment_date")),
      comment_ID: id + 1,
      comment_author: "Shop",
      comment_content: reply,
      comment_approved: 1,
      comment_parent: id,
      user_id: 1,
    };
    return [comment, answer];
  },
};

export const exportLayouts: Readonly<Record<string, ExportLayout>> = {
  judgeme: createCsvLayout(judgemeExport),
  loox: createCsvLayout(looxExport),
  yotpo: createCsvLayout(yotpoExport),
  stamped: createCsvLayout(stampedExport),
  "shopify-product-reviews": createCsvLayout(shopifyProductReviewsExport),
  woocommerce: createCsvLayout(woocommerce),
  google: googleFeed,
};
