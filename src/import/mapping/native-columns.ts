/**
 * The columns of this program's own files by what they hold, in the order of its exports.
 * Source: INTERFACE "Native columns". Assumed: those of reviews are the layout with `published` first that others
 * export, with what it lacks after it.
 */
export const nativeColumns = {
  products: [
    "product_id",
    "name",
    "url",
    "image_url",
    "description",
    "currency_iso",
    "price",
    "product_tags",
    "blacklisted",
    "upc",
    "mpn",
    "brand",
    "isbn",
    "sku",
    "external_sku",
  ],
  orders: [
    "order_id",
    "email",
    "customer_name",
    "order_date",
    "currency_iso",
    "user_reference",
    "platform",
    "product_id",
    "product_name",
    "product_url",
    "product_image",
    "product_description",
    "product_price",
    "product_tags",
    "upc",
    "mpn",
    "brand",
    "isbn",
    "sku",
    "external_sku",
  ],
  coupons: ["code"],
  unsubscribers: ["email", "email_type_id"],
  reviews: [
    "published",
    "review_title",
    "review_content",
    "review_score",
    "date",
    "product_id",
    "display_name",
    "email",
    "comment_content",
    "product_title",
    "product_url",
    "user_type",
    "user_reference",
  ],
} as const;

/** Those of them in which the service keeps any text, with the blanks at its ends. */
const textColumns: Readonly<Partial<Record<keyof typeof nativeColumns, readonly string[]>>> = {
  products: ["name", "description", "product_tags"],
  orders: [
    "order_id",
    "customer_name",
    "user_reference",
    "product_name",
    "product_description",
    "product_tags",
  ],
  reviews: [
    "review_title",
    "review_content",
    "display_name",
    "comment_content",
    "product_title",
    "user_reference",
  ],
};

const noColumns: ReadonlySet<string> = new Set();

/**
 * The columns of a file whose blanks at both ends are part of the text: those of an export, which wrote them.
 * Assumed: a file with all columns of an export, named and ordered as there, is one.
 */
export function findExactColumns(
  kind: keyof typeof nativeColumns,
  header: readonly string[],
): ReadonlySet<string> {
  const columns: readonly string[] = nativeColumns[kind];
  const isExport = columns.length === header.length && columns.every((name, at) => name === header[at]);
  return isExport ? new Set(textColumns[kind]) : noColumns;
}
