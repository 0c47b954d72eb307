import {
  type FieldError,
  isLegalId,
  maxLength,
  productChange,
  productInput,
  type ProductInput,
} from "../../contract/index.ts";
import { type ProductRow, toProductRow } from "./product-row.ts";

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
 * Source: spec "mass_create", "mass_update". Assumed: on create, an invalid field other than a spec rejects the product;
 * on update, no field is required, and invalid fields are ignored; an invalid product ID always rejects the product.
 * All errors are reported.
 */
export function checkProduct(
  productId: string,
  raw: unknown,
  { isUpdate }: { readonly isUpdate: boolean },
): CheckedProduct {
  if (!isValidProductId(productId)) {
    return { errors: [{ field: "product_id", error: "allows only letters, digits, _ and -" }] };
  }
  const { value, errors, isRejected } = parseProduct(raw, isUpdate);
  if (isRejected) return { errors };
  const row = toProductRow(productId, value, {
    keepsEmptyDescription: isUpdate,
    onInvalidSpec: (name, error) => errors.push({ field: `specs.${name}`, error }),
  });
  return { row, errors };
}

interface ParsedProduct {
  readonly value: Partial<ProductInput>;
  readonly errors: FieldError[];
  readonly isRejected: boolean;
}

function parseProduct(raw: unknown, isUpdate: boolean): ParsedProduct {
  const shape = (isUpdate ? productChange : productInput)();
  const parsed = shape.safeParse(raw);
  if (parsed.success) return { value: parsed.data, errors: [], isRejected: false };
  const { issues } = parsed.error;
  const errors = issues.map(({ path, message }) => ({
    field: path.length === 0 ? "product" : path.join("."),
    error: path.length === 0 ? "must be an object" : message,
  }));
  const isRejected = issues.some(({ path }) => path.length === 0 || (!isUpdate && path[0] !== "specs"));
  if (isRejected) return { value: {}, errors, isRejected };
  const paths = issues.map(({ path }) => path);
  return { value: shape.parse(without(raw as object, paths)), errors, isRejected };
}

/** Copies a product without the fields or specs at `paths`. */
function without(product: object, paths: readonly (readonly PropertyKey[])[]): object {
  const copy: Record<PropertyKey, unknown> = { ...product };
  for (const [field = "", inner] of paths) {
    if (inner === undefined) {
      delete copy[field];
    } else {
      const specs = { ...(copy[field] as Record<PropertyKey, unknown>) };
      delete specs[inner];
      copy[field] = specs;
    }
  }
  return copy;
}
