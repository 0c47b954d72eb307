import { derivedIdField } from "../../../import/check/valid-id.ts";
import type { FieldSource } from "../../../import/layouts/layout.ts";

/**
 * The product IDs of shops that identify products by SKU: where a row has none, the name is the ID, rewritten if necessary.
 * @param name the columns with the name, joined by a space
 */
export function idsBySku(sku: string, ...name: readonly string[]): Readonly<Record<string, FieldSource>> {
  return {
    line_sku: { from: [sku] },
    product_id: { from: [sku, name] },
    [derivedIdField]: { from: [name], as: (value, { field }) => (field("line_sku") === "" ? value : "") },
  };
}

// cspell:disable
const canceled =
  /cancel|annul|storn|refunded|reembolsad|devuelt|rembours|erstattet|rimborsat|void|anulad|declined|chargeback/i;
const partly = /part|parcial|teilw|parziale/i;
// cspell:enable

/** Whether a shop's status of an order or its payment means that it was canceled, refunded, or voided as a whole. */
export function isCanceledStatus(status: string): boolean {
  return canceled.test(status) && !partly.test(status);
}

/** A status from several columns of Shopify's spelling; the date of a cancellation is one. */
export function statusFrom(...columns: readonly string[]): FieldSource {
  // cspell:disable-next-line
  return { from: ["Cancelled at", ...columns], as: (value) => (/\d{4}/.test(value) ? "canceled" : value) };
}
