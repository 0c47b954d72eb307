import type * as z from "zod";
import type { contract, FieldError, ProductError } from "../../contract/index.ts";
import { runInSlices } from "../../storage/loop-turn.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { partIndex } from "../kernel/lists/part-index.ts";
import { findPageByPart } from "../kernel/lists/part-search.ts";
import { toCoreProduct } from "./core.ts";
import { listMissedProducts } from "./missed-products.ts";
import { checkProduct } from "./product-check.ts";
import { productOutcomes, readStoredProducts, type StoredProducts } from "./product-outcomes.ts";
import { mergeProducts, type ProductRow } from "./product-row.ts";
import { dropTakenSkus, findTakenSkus, requireFreeSkus, saveProducts, takenSkuText } from "./product-store.ts";

export const productHandlers: Omit<Handlers<typeof contract.products>, "promoted" | "setPromoted"> = {
  missed: listMissedProducts,

  search: operation("products.search", {
    before: () => partIndex(["products"]),
    run: async (query, context) => {
      const { rows, pagination } = await findPageByPart("products", query, context, (ids) =>
        selectAccountRows("products", accountOf(context).id, context.transaction)
          .selectAll()
          .where("id", "in", ids)
          .execute(),
      );
      return { products: rows.map(toCoreProduct), pagination };
    },
  }),

  /** Creates products. Assumed: creating a product that exists updates it with the fields that were sent. */
  massCreate: operation("products.massCreate", {
    prepare: (input) => runInSlices(checkCall(input, { isUpdate: false })),
    combines: canCombine,
    runMany: (calls, context) => saveAll(calls, { isUpdate: false }, context),
  }),

  /** Updates products, ignoring invalid fields. Assumed: a product that does not exist is reported and not created. */
  massUpdate: operation("products.massUpdate", {
    prepare: (input) => runInSlices(checkCall(input, { isUpdate: true })),
    combines: canCombine,
    runMany: (calls, context) => saveAll(calls, { isUpdate: true }, context),
  }),
};

type BulkInput = z.output<typeof contract.products.massCreate.input>;
type BulkOutput = z.output<typeof contract.products.massCreate.output>;

/** The most products of a call that is handled together with others. */
const maxCombined = 10;

/** Assumed: the outcomes of a call depend on the products before it, so calls that ask for them are handled alone. */
function canCombine({ input }: CheckedCall): boolean {
  return input.details !== true && Object.keys(input.products).length <= maxCombined;
}

interface CheckedCall {
  readonly input: BulkInput;
  readonly rows: ProductRow[];
  readonly errors: ProductError[];
}

/** Saves the products of several calls with a constant number of statements, as if the calls were made one by one. */
async function saveAll(
  checked: readonly CheckedCall[],
  { isUpdate }: { readonly isUpdate: boolean },
  context: HandlerContext,
): Promise<readonly BulkOutput[]> {
  const sent = checked.flatMap(({ rows }) => rows);
  const needsStored = isUpdate || checked.some(({ input }) => input.details === true);
  const [before, taken] = await context.dialect.runAll([
    async (): Promise<StoredProducts> => (needsStored ? readStoredProducts(sent, context) : new Map()),
    () => findTakenSkus(sent, context),
  ]);
  const calls = isUpdate ? checked.map((call) => rejectUnknown(call, before)) : checked;
  const { rows, dropped } = dropTakenSkus(mergeProducts(calls.flatMap((call) => call.rows)), taken);
  requireFreeSkus(dropped, { calls: calls.length });
  await saveProducts(rows, context);
  return calls.map((call) => toOutput(call, { before, dropped }));
}

/** Assumed: a product whose `external_sku` belongs to another product is stored without it, and this is reported. */
function toOutput(
  { input, rows, errors }: CheckedCall,
  { before, dropped }: { readonly before: StoredProducts; readonly dropped: readonly string[] },
): BulkOutput {
  const all = [...errors, ...dropped.map((id) => toError(id, { field: "specs.external_sku", error: takenSkuText }))];
  if (input.details !== true) return listErrors(all);
  const outcomes = productOutcomes(Object.keys(input.products), { before, rows, errors: all });
  return { ...listErrors(all), outcomes };
}

function rejectUnknown({ rows, errors, ...call }: CheckedCall, stored: StoredProducts): CheckedCall {
  const unknown = rows.filter(([productId]) => !stored.has(productId));
  const rejected = unknown.map(([id]) => toError(id, { field: "product_id", error: "product not found" }));
  return { ...call, rows: rows.filter(([productId]) => stored.has(productId)), errors: [...errors, ...rejected] };
}

function* checkCall(input: BulkInput, options: { readonly isUpdate: boolean }): Generator<undefined, CheckedCall> {
  const call: CheckedCall = { input, rows: [], errors: [] };
  for (const [productId, raw] of Object.entries(input.products)) {
    const { row, errors } = checkProduct(productId, raw, options);
    if (row) call.rows.push(row);
    call.errors.push(...errors.map((error) => toError(productId, error)));
    yield;
  }
  return call;
}

function toError(product_id: string, error: FieldError): ProductError {
  return { product_id, ...error };
}

/** Source: spec "mass_create": an `errors` object. */
function listErrors(errors: readonly ProductError[]) {
  if (errors.length === 0) return {};
  return { errors: Object.fromEntries(errors.map((error, at) => [String(at), { ...error }])) };
}
