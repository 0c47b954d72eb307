import type * as z from "zod";
import { type contract, invalidField, orderLimits } from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import { bigintLiteral } from "../kernel/sql-literals.ts";
import { partIndex } from "../kernel/lists/part-index.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { buyerIndex } from "./buyer-lookup.ts";
import { checkCall, checkSingleOrders, type CreateInput } from "./order-check.ts";
import type { ScheduledEmails } from "./order-emails.ts";
import { type OrderRows, readSentOrders } from "./order-rows.ts";
import { type OrderResult, readStored, storeOrders } from "./order-store.ts";
import { readOrder, searchOrders } from "./order-search.ts";
import { listPurchases } from "./purchase-list.ts";

/** Counts the review requests that will be sent for orders. */
type CountEmails = (orderIds: readonly string[], context: HandlerContext) => Promise<ScheduledEmails>;

export const createOrderHandlers = (countEmails: CountEmails): Handlers<typeof contract.orders> => ({
  create: operation("orders.create", {
    // The outcome of an order depends on the orders before it, so calls that ask for it are handled alone.
    combines: ({ details }) => details !== true,
    runMany: createOrders,
  }),

  massCreate: operation("orders.massCreate", {
    prepare: (input, { isChecked }) => checkCall(input, isChecked),
    read: (call, context) => readStored(call.rows, context, call.update_products_since_id),
    /** Assumed: `order_num` counts from 0; without `validate_data`, invalid orders are skipped without an error. */
    run: async (call, context, stored) => {
      const { rows, validate_data = false, send_mail, details, update_products_since_id: sinceId } = call;
      const results = await storeOrders(rows, { details, stored, sinceId }, context);
      const errors = results.flatMap((result, order_num) =>
        result.errors.map((error) => ({ order_num, order_id: result.orderId ?? null, ...error })),
      );
      return {
        uuid: createUuid(context.random(16)),
        ...(validate_data && errors.length > 0 && { errors }),
        ...(send_mail === true && { mails: await countEmails(listStoredIds(rows, results), context) }),
        ...(details === true && { outcomes: results.map(({ outcome }) => outcome) }),
      };
    },
  }),

  list: listPurchases,

  search: operation("orders.search", {
    before: ({ email, order_id, search }) => {
      if (email !== undefined) return buyerIndex;
      return search === undefined || order_id !== undefined ? undefined : partIndex(["orders"]);
    },
    run: searchOrders,
  }),

  get: async ({ order_id }, context) => ({ order: await readOrder(order_id, context) }),

  /** Assumed: cancellations are stored by order ID and also apply to future orders; without `skus`, they apply to all products. */
  cancelEmails: async ({ orders }, context) => {
    const rows = orders.flatMap(({ order_id, skus = [] }) =>
      (skus.length === 0 ? [allProducts] : skus).map((sku) => [order_id, sku]),
    );
    const { cancellationsPerCall: max } = orderLimits;
    if (rows.length > max) {
      throw invalidField("orders", `have ${rows.length} products; at most ${max} are allowed per call`);
    }
    await storeCancellations(rows, context);
    return {};
  },
});

type CreateOutput = z.output<typeof contract.orders.create.output>;

/** Creates the orders of several calls with a constant number of statements, as if the calls were made one by one. */
async function createOrders(inputs: readonly CreateInput[], context: HandlerContext): Promise<readonly CreateOutput[]> {
  const rows = await checkSingleOrders(inputs);
  const details = inputs.some((input) => input.details === true);
  const results = await storeOrders(rows, { details, calls: inputs.length }, context);
  return inputs.map((input, at) => {
    const { errors = [], orderId = null, outcome } = results[at] ?? {};
    return {
      ...(input.validate_data === true &&
        errors.length > 0 && { errors: errors.map(({ field, error }) => ({ order_id: orderId, field, error })) }),
      ...(input.details === true && outcome && { outcomes: [outcome] }),
    };
  });
}

/** The IDs of the orders of a call that were stored. */
function listStoredIds(rows: OrderRows, results: readonly OrderResult[]): string[] {
  return [...readSentOrders(rows, [])].flatMap(({ position, orderId }) =>
    results[position]?.outcome.outcome === "dropped" ? [] : [orderId],
  );
}

/** The product ID of a cancellation for all products of an order. */
const allProducts = "";

async function storeCancellations(rows: readonly (readonly string[])[], context: HandlerContext): Promise<void> {
  const batch = batchRows<{ order_id: string; product_id: string }>(
    { order_id: "text", product_id: "text" },
    rows,
    context.dialect,
  );
  await context.transaction
    .insertInto("mail_stops")
    .columns(["account_id", "created_at", "order_id", "product_id"])
    .expression((eb) =>
      eb
        .selectFrom(batch)
        .select([
          bigintLiteral(accountOf(context).id).as("account_id"),
          bigintLiteral(context.nowMs).as("created_at"),
          "batch.order_id",
          "batch.product_id",
        ])
        .where(eb.lit(true)),
    )
    .onConflict((conflict) => conflict.columns(["account_id", "order_id", "product_id"]).doNothing())
    .execute();
}

/** Creates a version 4 UUID from random bytes. */
function createUuid(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
