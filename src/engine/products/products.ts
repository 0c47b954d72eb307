import type { contract, FieldError, ProductError } from "../../contract/index.ts";
import type { HandlerContext, Handlers } from "../kernel/handler.ts";
import { listMissedProducts } from "./missed-products.ts";
import { checkProduct } from "./product-check.ts";
import { productOutcomes, readStoredProducts } from "./product-outcomes.ts";
import type { ProductRow } from "./product-row.ts";
import { dropTakenSkus, saveProducts, takenSkuText } from "./product-store.ts";

export const productHandlers: Omit<Handlers<typeof contract.products>, "promoted" | "setPromoted"> = {
  missed: listMissedProducts,

  /** Creates products. Assumed: creating a product that exists updates it with the fields that were sent. */
  massCreate: async ({ products, details }, context) => {
    const { rows, errors } = checkProducts(products, { isUpdate: false });
    const before = details === true ? await readStoredProducts(rows, context) : undefined;
    errors.push(...(await dropSkus(rows, context)));
    await saveProducts(rows, context);
    return {
      ...listErrors(errors),
      ...(before && { outcomes: productOutcomes(Object.keys(products), { before, rows, errors }) }),
    };
  },

  /** Updates products, ignoring invalid fields. Assumed: a product that does not exist is reported and not created. */
  massUpdate: async ({ products, details }, context) => {
    const { rows: checked, errors } = checkProducts(products, { isUpdate: true });
    const before = await readStoredProducts(checked, context);
    const rows = checked.filter(([productId]) => before.has(productId));
    const unknown = checked.filter(([productId]) => !before.has(productId));
    errors.push(...unknown.map(([id]) => toError(id, { field: "product_id", error: "product not found" })));
    errors.push(...(await dropSkus(rows, context)));
    await saveProducts(rows, context);
    return {
      ...listErrors(errors),
      ...(details === true && { outcomes: productOutcomes(Object.keys(products), { before, rows, errors }) }),
    };
  },
};

function checkProducts(
  products: Readonly<Record<string, unknown>>,
  options: { readonly isUpdate: boolean },
): { rows: ProductRow[]; errors: ProductError[] } {
  const rows: ProductRow[] = [];
  const errors: ProductError[] = [];
  for (const [productId, raw] of Object.entries(products)) {
    const checked = checkProduct(productId, raw, options);
    if (checked.row) rows.push(checked.row);
    errors.push(...checked.errors.map((error) => toError(productId, error)));
  }
  return { rows, errors };
}

/** Assumed: a product whose `external_sku` belongs to another product is stored without it, and this is reported. */
async function dropSkus(rows: readonly ProductRow[], context: HandlerContext): Promise<ProductError[]> {
  const dropped = await dropTakenSkus(rows, context);
  return dropped.map((id) => toError(id, { field: "specs.external_sku", error: takenSkuText }));
}

function toError(product_id: string, error: FieldError): ProductError {
  return { product_id, ...error };
}

/** Source: spec "mass_create": an `errors` object. */
function listErrors(errors: readonly ProductError[]) {
  if (errors.length === 0) return {};
  return { errors: Object.fromEntries(errors.map((error, at) => [String(at), { ...error }])) };
}
