import type { FieldSource } from "../../../import/layouts/layout.ts";
import { isLegalId, maxLength } from "../../../contract/index.ts";
import { proposeLegalId } from "../../../import/check/valid-id.ts";

/** The field that has a value in rows whose product ID is made from the name. */
export const madeIdField = "made_id";

/**
 * The product IDs of shops that identify products by SKU: where a row has none, the ID is made from the name.
 * @param name the columns with the name, joined by a space
 */
export function idsBySku(sku: string, ...name: readonly string[]): Readonly<Record<string, FieldSource>> {
  return {
    line_sku: { from: [sku] },
    product_id: {
      from: [sku, name],
      as: (value, { field }) => (field("line_sku") === "" ? makeId(value) : value),
    },
    [madeIdField]: { from: [name], as: (value, { field }) => (field("line_sku") === "" ? value : "") },
  };
}

let last = { name: "", id: "" };

/** Several fields of a row ask for the same ID, which takes a hash. */
function makeId(name: string): string {
  if (last.name !== name) {
    last = { name, id: isLegalId(name) && name.length <= maxLength.id ? name : proposeLegalId(name) };
  }
  return last.id;
}

const canceled =
  /cancel|annul|storn|refunded|reembolsad|devuelt|rembours|erstattet|rimborsat|void|anulad|declined|chargeback/i;
const partly = /part|parcial|teilw|parziale/i;

/** Whether a shop's status of an order or its payment means that it was canceled, refunded, or voided as a whole. */
export function isCanceledStatus(status: string): boolean {
  return canceled.test(status) && !partly.test(status);
}

/** A status from several columns; the date of a cancellation is one. */
export function statusFrom(canceledAt: string, ...columns: readonly string[]): FieldSource {
  return { from: [canceledAt, ...columns], as: (value) => (/\d{4}/.test(value) ? "canceled" : value) };
}
