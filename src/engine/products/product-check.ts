import type * as z from "zod";
import {
  type FieldError,
  invalidIdText,
  isLegalId,
  maxLength,
  productChange,
  productFields,
  productInput,
  type ProductInput,
  type RecordField,
} from "../../contract/index.ts";
import { parseLeniently } from "../kernel/parse-leniently.ts";
import { type ProductRow, toProductRow } from "./product-row.ts";

const fields: Readonly<Record<PropertyKey, RecordField>> = productFields;

const isRequired = (field: PropertyKey) => fields[field]?.isRequired === true;

/** The result of checking one product of a bulk call. */
export interface CheckedProduct {
  /** Absent if the product is rejected. */
  readonly row?: ProductRow;
  readonly errors: readonly FieldError[];
}

/** Whether a product ID is valid. Assumed: an ID that is too long is treated like one with invalid characters. */
export function isValidProductId(productId: string): boolean {
  return isLegalId(productId) && productId.length <= maxLength.id;
}

/**
 * Checks one product of a bulk call.
 * Source: spec "mass_create", "mass_update". Assumed: an invalid optional field is not stored; on create, an invalid name or
 * URL rejects the product; on update, no field is required; an invalid product ID always rejects the product. All errors
 * are reported.
 */
export function checkProduct(
  productId: string,
  raw: unknown,
  { isUpdate }: { readonly isUpdate: boolean },
): CheckedProduct {
  if (!isValidProductId(productId)) {
    return { errors: [{ field: "product_id", error: invalidIdText }] };
  }
  const shape: z.ZodType<Partial<ProductInput>> = isUpdate ? productChange() : productInput();
  const { value, errors } = parseLeniently(shape, raw, (field) => isUpdate || !isRequired(field));
  const problems = errors.map(({ field, error }) => ({ field: field || "product", error }));
  if (!value) return { errors: problems };
  const row = toProductRow(productId, value, {
    isUpdate,
    onInvalidSpec: (name, error) => problems.push({ field: `specs.${name}`, error }),
  });
  return { row, errors: problems };
}

/** A line of an order that was skipped because of its product ID. */
export type MissedLine = readonly [sku: string, name: string];

/** Assumed: the other fields of a skipped line are not validated. */
export function toMissedLine(productId: string, raw: unknown): MissedLine {
  return [toStorable(productId, maxLength.id), toStorable(readName(raw), maxLength.name)];
}

/** Assumed: a missing or invalid product name is stored as an empty string. */
function readName(raw: unknown): string {
  const { name } = (raw ?? {}) as { readonly name?: unknown };
  return typeof name === "string" ? name : "";
}

/** Assumed: characters that cannot be stored are replaced by U+FFFD, and texts longer than a valid value are truncated. */
function toStorable(text: string, max: number): string {
  return text.slice(0, max).replaceAll("\0", "\uFFFD").toWellFormed();
}
