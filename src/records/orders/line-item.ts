import type * as z from "zod";
import { isSurelyProduct, orderProduct, type OrderProduct, specNames } from "../../contract/index.ts";
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

/** Reads and checks the product of a row, and adds all its errors. */
export function readProduct(row: RowView, problems: RowError[], reportDropped: ReportDropped): WireProduct | undefined {
  const given = pick(row, productFields);
  const before = problems.length;
  settlePrice(given, "product_price", problems);
  const specs = pickSpecs(row, reportDropped);
  if (specs) given["specs"] = specs;
  if (isSurelyProduct(given)) return problems.length > before ? undefined : asBulkProduct(given);
  const parsed = orderProduct().safeParse(given);
  if (!parsed.success) {
    problems.push(...describeIssues(parsed.error.issues, productFieldOf));
  }
  return parsed.success && problems.length === before ? asBulkProduct(parsed.data) : undefined;
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
  const number = Number(price);
  const isShort = price.length <= exactDigits || price.replace(/^0+/, "").replace(".", "").length <= exactDigits;
  // A smaller number would be written with an exponent.
  return isShort && (number === 0 || number >= 1e-6) ? number : price;
}

/** The columns of a line item. */
const columns = [...Object.values(productFields), ...specNames, "quantity"] as const;

/** Maximum number of line items that are remembered; about 10 MB. */
const maxRemembered = 10_000;

interface RememberedLine {
  /** The cells of `columns`. */
  readonly cells: readonly string[];
  readonly product: WireProduct;
  readonly units: number;
  /** Whether the last row with this product ID had other cells. */
  isOutdated: boolean;
}

/**
 * The last valid line items by product ID: a product that appears in many rows is checked once. Their products are frozen,
 * and shared by all of these rows.
 */
export class LineItems {
  readonly #remembered = new Map<string, RememberedLine>();
  #count = 0;

  /** The line item of a row if the cells of an earlier row with this product ID are the same. */
  find(productId: string, row: RowView): Pick<RememberedLine, "product" | "units"> | undefined {
    const known = this.#remembered.get(productId);
    if (!known) return undefined;
    const { cells } = known;
    for (let at = 0; at < columns.length; at++) {
      if (row(columns[at] as string) !== cells[at]) return undefined;
    }
    known.isOutdated = false;
    return known;
  }

  /**
   * Remembers the line item of a row of which everything is sent, unless that would replace one that other rows have.
   * @returns the product, or an equal one that is shared
   */
  add(productId: string, row: RowView, product: WireProduct, units: number): WireProduct {
    const known = this.#remembered.get(productId);
    const isReplaced = known !== undefined && !known.isOutdated;
    if (known) known.isOutdated = true;
    if (isReplaced || this.#count >= maxRemembered) return product;
    this.#count += 1;
    // Copied, because a cell retains the entire block of the file from which it was cut.
    const copied = JSON.stringify([productId, columns.map((column) => row(column)), product]);
    const [id, cells, copy] = JSON.parse(copied) as [string, string[], WireProduct];
    this.#remembered.set(id, { cells, product: Object.freeze(copy), units, isOutdated: false });
    return copy;
  }
}
