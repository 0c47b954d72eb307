import type { contract, FieldError, ProductError } from "../../contract/index.ts";
import type { HandlerContext, Handlers } from "../kernel/handler.ts";
import { listMissedProducts } from "./missed-products.ts";
import { checkProduct } from "./product-check.ts";
import type { ProductRow } from "./product-row.ts";
import { dropTakenSkus, findExistingProducts, saveProducts, takenSkuText } from "./product-store.ts";

export const productHandlers: Omit<Handlers<typeof contract.products>, "promoted" | "setPromoted"> = {
  missed: listMissedProducts,

  /** Creates products. Assumed: creating a product that exists updates it with the fields that were sent. */
  massCreate: async ({ products }, context) => {
    const { rows, errors } = checkProducts(products, { isUpdate: false });
    errors.push(...(await dropSkus(rows, context)));
    await saveProducts(rows, context);
    return listErrors(errors);
  },

  /** Updates products, ignoring invalid fields. Assumed: a product that does not exist is reported and not created. */
  massUpdate: async ({ products }, context) => {
    const { rows, errors } = checkProducts(products, { isUpdate: true });
    const existing = await findExistingProducts(rows, context);
    const changing = rows.filter(([productId]) => existing.has(productId));
    const unknown = rows.filter(([productId]) => !existing.has(productId));
    errors.push(...unknown.map(([id]) => toError(id, { field: "product_id", error: "product not found" })));
    errors.push(...(await dropSkus(changing, context)));
    await saveProducts(changing, context);
    return listErrors(errors);
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
