import type * as z from "zod";
import {
  isSurely,
  lineFields,
  orderProduct,
  type OrderProduct,
  productFields,
  type RecordField,
} from "../../contract/index.ts";
import { describeIssues, lastOf, pickSpecs, settlePrice } from "../../import/check/fields.ts";
import type { ReportDropped, RowError, RowView } from "../../import/item.ts";

/** A product as it is sent. */
export type WireProduct = z.input<ReturnType<typeof orderProduct>>;

/** The fields of a line item, with their columns and fast checks. */
const fields = Object.values(productFields).flatMap((field) => {
  if (!("inOrder" in field)) return [];
  const { type, isRequired }: RecordField = field;
  return [{ ...field.inOrder, isRequired: isRequired === true, isPrice: type === "price", isSure: isSurely[type] }];
});

const columnOfField = new Map<string, string>(fields.map(({ name, column }) => [name, column]));

/** The column for a wire path of a product. */
export function productFieldOf(path: readonly PropertyKey[]): string {
  const name = lastOf(path);
  return columnOfField.get(name) ?? name;
}

/**
 * Reads and checks the product of a row, and adds all its errors.
 * @param storedUrl the URL of a row without one
 */
export function readProduct(
  row: RowView,
  problems: RowError[],
  reportDropped: ReportDropped,
  storedUrl: string | undefined,
): WireProduct | undefined {
  const given: Partial<Record<keyof typeof lineFields | "specs", unknown>> = {};
  const before = problems.length;
  let isSure = true;
  for (const field of fields) {
    let value = row(field.column);
    if (value === "" && storedUrl !== undefined && field.name === "url") value = storedUrl;
    if (value !== "" && field.isPrice) value = settlePrice(value, field.column, problems) ?? "";
    if (value !== "") given[field.name] = value;
    if (value === "" ? field.isRequired : !field.isSure(value)) isSure = false;
  }
  const specs = pickSpecs(row, reportDropped);
  if (specs) given.specs = specs;
  if (isSure && problems.length === before) return asBulkProduct(given as OrderProduct);
  const parsed = orderProduct().safeParse(given);
  if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, productFieldOf));
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
export function asNumber(price: string): number | string {
  const number = Number(price);
  const isShort = price.length <= exactDigits || price.replace(/^0+/, "").replace(".", "").length <= exactDigits;
  // A smaller number would be written with an exponent.
  return isShort && (number === 0 || number >= 1e-6) ? number : price;
}
