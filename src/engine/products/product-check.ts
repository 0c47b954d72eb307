import {
  type FieldError,
  isLegalId,
  maxLength,
  productChange,
  productInput,
  type ProductInput,
} from "../../contract/index.ts";
import { type ProductRow, toProductRow } from "./product-row.ts";

/** What a product call makes of one product. */
export interface CheckedProduct {
  /** Absent where nothing of it can be stored. */
  readonly row?: ProductRow;
  readonly errors: readonly FieldError[];
}

/** A product id that the service takes. Assumed: one longer than the contract's ids counts as one with other characters. */
export function isValidProductId(productId: string): boolean {
  return isLegalId(productId) && productId.length <= maxLength.id;
}

/**
 * Checks one product of a bulk call.
 * Source: spec "mass_create", "mass_update". Assumed: a bad field refuses a product on create, bad specs aside;
 * on update none is needed, and what is bad is passed over and the rest applied; a product id with other characters
 * refuses the product; either way each is reported.
 */
export function checkProduct(
  productId: string,
  raw: unknown,
  { isUpdate }: { readonly isUpdate: boolean },
): CheckedProduct {
  if (!isValidProductId(productId)) {
    return { errors: [{ field: "product_id", error: "allows only letters, digits, _ and -" }] };
  }
  const { value, errors, isRefused } = readProduct(raw, isUpdate);
  if (isRefused) return { errors };
  const row = toProductRow(productId, value, {
    erases: isUpdate,
    onBadSpec: (name, error) => errors.push({ field: `specs.${name}`, error }),
  });
  return { row, errors };
}

interface ReadProduct {
  readonly value: Partial<ProductInput>;
  readonly errors: FieldError[];
  readonly isRefused: boolean;
}

function readProduct(raw: unknown, isUpdate: boolean): ReadProduct {
  const shape = (isUpdate ? productChange : productInput)();
  const parsed = shape.safeParse(raw);
  if (parsed.success) return { value: parsed.data, errors: [], isRefused: false };
  const { issues } = parsed.error;
  const errors = issues.map(({ path, message }) => ({
    field: path.length === 0 ? "product" : path.join("."),
    error: path.length === 0 ? "must be an object" : message,
  }));
  const isRefused = issues.some(({ path }) => path.length === 0 || (!isUpdate && path[0] !== "specs"));
  if (isRefused) return { value: {}, errors, isRefused };
  const paths = issues.map(({ path }) => path);
  return { value: shape.parse(without(raw as object, paths)), errors, isRefused };
}

/** A copy of a product without the fields, or specs, at `paths`. */
function without(product: object, paths: readonly (readonly PropertyKey[])[]): object {
  const copy: Record<PropertyKey, unknown> = { ...product };
  for (const [field = "", inner] of paths) {
    if (inner === undefined) {
      delete copy[field];
    } else {
      const held = { ...(copy[field] as Record<PropertyKey, unknown>) };
      delete held[inner];
      copy[field] = held;
    }
  }
  return copy;
}
