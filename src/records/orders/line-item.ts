import type * as z from "zod";
import { orderProduct, specNames, type OrderProduct } from "../../contract/index.ts";
import { describeIssues, lastOf, pick, pickSpecs, settlePrice } from "../../import/check/fields.ts";
import type { ReportDropped, RowError, RowView } from "../../import/item.ts";

/** Wire names of an order's product fields, and their columns. */
const productFields: Readonly<Record<string, string>> = {
  name: "product_name",
  url: "product_url",
  image: "product_image",
  description: "product_description",
  price: "product_price",
  product_tags: "product_tags",
};

export type WireProduct = z.input<ReturnType<typeof orderProduct>>;

/** The column for a wire path of a product. */
export function productFieldOf(path: readonly PropertyKey[]): string {
  const name = lastOf(path);
  return productFields[name] ?? name;
}

/** Number of products to remember; about 5 MB. */
const maxRemembered = 10_000;

interface Known {
  readonly product: WireProduct;
  /** As written in the file. */
  readonly price: string;
}

/**
 * Reads and checks the product of a row. Exports repeat a product in every order with it, so a product with the cells
 * of an earlier row is not checked again. Orders share the result, which must not be modified.
 */
export class ProductReader {
  readonly #known = new Map<string, Known>();

  read(row: RowView, problems: RowError[], reportDropped: ReportDropped): WireProduct | undefined {
    const hasSpecs = specNames.some((name) => row(name) !== "");
    const id = row("product_id");
    const known = hasSpecs ? undefined : this.#known.get(id);
    if (known && isSame(known, row)) return known.product;
    const given = pick(row, productFields);
    const before = problems.length;
    settlePrice(given, "product_price", problems);
    const specs = hasSpecs ? pickSpecs(row, reportDropped) : undefined;
    if (specs) given["specs"] = specs;
    const parsed = orderProduct().safeParse(given);
    if (!parsed.success) {
      problems.push(...describeIssues(parsed.error.issues, productFieldOf));
    }
    if (!parsed.success || problems.length > before) return undefined;
    const product = asBulkProduct(parsed.data);
    if (!hasSpecs) this.#remember(id, { product, price: row("product_price") });
    return product;
  }

  #remember(id: string, known: Known): void {
    if (this.#known.size >= maxRemembered) this.#known.clear();
    // Copied as JSON: a cell retains the entire block of the file from which it was cut.
    const copy = JSON.parse(JSON.stringify({ id, known })) as { id: string; known: Known };
    this.#known.set(copy.id, copy.known);
  }
}

function isSame({ product, price }: Known, row: RowView): boolean {
  return (
    row("product_name") === product.name &&
    row("product_url") === product.url &&
    row("product_image") === product.image &&
    row("product_description") === (product.description ?? "") &&
    row("product_tags") === (product.product_tags ?? "") &&
    row("product_price") === price
  );
}

/** Digits that a number always represents exactly. */
const exactDigits = 15;

/** In a bulk call, the price is a number, and `image` is present even if empty. Source: spec "Order (input)". */
function asBulkProduct(product: OrderProduct): WireProduct {
  const wire: WireProduct = product;
  wire.image ??= "";
  if (product.price) wire.price = asNumber(product.price);
  return wire;
}

/** Sends a price with more digits than a number can represent as text, so that it is not changed. */
function asNumber(price: string): number | string {
  const significant = price.replace(/^0+/, "").replace(".", "");
  const isExact = significant.length <= exactDigits;
  return isExact && !String(Number(price)).includes("e") ? Number(price) : price;
}
