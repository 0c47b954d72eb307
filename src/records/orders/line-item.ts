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

/** The fields of a line item. */
const lineFields = [...Object.values(productFields), ...specNames, "quantity"] as const;

/** Maximum number of line items that are remembered, and of their characters. */
const maxRemembered = { lines: 10_000, characters: 4_000_000 } as const;

interface RememberedLine {
  /** The cells of `lineFields`. */
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
  #lines = 0;
  #characters = 0;
  #columnOf: RowView["columnOf"];
  #columns: readonly number[] = [];

  /** The line item of a row if an earlier row with this product ID had the same cells. */
  find(row: RowView, cells: readonly string[]): RememberedLine | undefined {
    if (row.columnOf !== this.#columnOf) this.#readColumns(row);
    const known = this.#remembered.get(this.#columnOf ? (cells[this.#idColumn] ?? "") : row("product_id"));
    if (!known) return undefined;
    if (this.#columnOf) {
      for (let at = 0; at < this.#columns.length; at++) {
        if (cells[this.#columns[at] as number] !== known.cells[at]) return undefined;
      }
    } else if (!lineFields.every((field, at) => row(field) === known.cells[at])) return undefined;
    known.isOutdated = false;
    return known;
  }

  /**
   * Remembers the line item of a row of which everything is sent, unless that would replace one that other rows have.
   * @returns the product, or an equal one that is shared
   */
  add(
    row: RowView,
    cells: readonly string[],
    { product, units }: Pick<RememberedLine, "product" | "units">,
  ): WireProduct {
    const productId = row("product_id");
    const known = this.#remembered.get(productId);
    const isReplaced = known !== undefined && !known.isOutdated;
    if (known) known.isOutdated = true;
    const isFull = this.#lines >= maxRemembered.lines || this.#characters >= maxRemembered.characters;
    if (isReplaced || isFull) return product;
    // A cell that is not used as it is may have to be reported in each row.
    const isUsed = (field: string) => row(field) === (cells[this.#columnOf?.get(field) ?? -1] ?? "");
    if (this.#columnOf && !["product_id", ...lineFields].every(isUsed)) return product;
    this.#lines += 1;
    // Copied, because a cell retains the entire block of the file from which it was cut.
    const own = this.#columnOf ? this.#columns.map((column) => cells[column]) : lineFields.map((field) => row(field));
    const text = JSON.stringify([productId, own, product]);
    this.#characters += text.length;
    const [id, copies, copy] = JSON.parse(text) as [string, string[], WireProduct];
    const values = Object.entries(copy).map(([name, value]) => [name, copies.find((cell) => cell === value) ?? value]);
    const shared = Object.freeze(Object.fromEntries(values) as WireProduct);
    this.#remembered.set(id, { cells: copies, product: shared, units, isOutdated: false });
    return shared;
  }

  /** Each file has its own columns. */
  #readColumns({ columnOf }: RowView): void {
    this.#columnOf = columnOf;
    this.#columns = lineFields.flatMap((field) => columnOf?.get(field) ?? []);
    this.#remembered.clear();
  }

  get #idColumn(): number {
    return this.#columnOf?.get("product_id") ?? -1;
  }
}
