import type * as z from "zod";
import { type contract, invalidField, orderLimits, outcomeOf } from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import { bigintLiteral } from "../kernel/sql-literals.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { buyerIndex } from "./buyer-lookup.ts";
import { checkCallSize, type CheckedOrder, checkOrder, type OrderRules } from "./order-check.ts";
import type { ScheduledEmails } from "./order-emails.ts";
import type { OrderSource } from "./order-merge.ts";
import { readStored, storeOrders } from "./order-store.ts";
import { readOrder, searchOrders } from "./order-search.ts";
import { storeNewOrders } from "./new-orders.ts";
import { newOrdersOf } from "./short-form.ts";
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
    // Where calls run in order, a small one must not overtake a large one, so orders are checked in the transaction.
    prepare: async (input, { isChecked, dialect }) => {
      const check = () => checkOrders(input, isChecked);
      const checked = dialect.runsInOrder ? undefined : await check();
      return { input, check: async () => checked ?? check() };
    },
    read: async ({ input, check }, context) => {
      if (newOrdersOf(input)) return undefined;
      const checked = await check();
      return { checked, stored: await readStored(checked, () => toSource(input), context) };
    },
    /** Assumed: `order_num` counts from 0; without `validate_data`, invalid orders are skipped without an error. */
    run: async ({ input }, context, found) => {
      if (!found) return createNew(input, context);
      const { checked, stored } = found;
      const { validate_data = false, send_mail, details, orders } = input;
      const results = await storeOrders(checked, { sourceOf: () => toSource(input), details, stored }, context);
      const errors = results.flatMap((result, order_num) =>
        result.errors.map((error) => ({ order_num, order_id: readOrderId(orders[order_num]?.order_id), ...error })),
      );
      const ids = checked.flatMap(({ head }, at) =>
        head && results[at]?.outcome.outcome !== "dropped" ? [head.order_id] : [],
      );
      return {
        uuid: createUuid(context.random(16)),
        ...(validate_data && errors.length > 0 && { errors }),
        ...(send_mail === true && { mails: await countEmails(ids, context) }),
        ...(details === true && { outcomes: results.map(({ outcome }) => outcome) }),
      };
    },
  }),

  list: listPurchases,

  search: operation("orders.search", {
    before: ({ email }) => (email === undefined ? undefined : buyerIndex),
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

const created = outcomeOf("created");

/** Stores a call that was read in the short form. */
async function createNew(input: MassInput, context: HandlerContext) {
  const orders = newOrdersOf(input);
  if (!orders) throw new Error("the orders of a call are missing");
  await storeNewOrders(orders, context);
  const outcomes = Array.from({ length: orders.count.orders }, () => created);
  return { uuid: createUuid(context.random(16)), outcomes };
}

type CreateInput = z.output<typeof contract.orders.create.input>;
type CreateOutput = z.output<typeof contract.orders.create.output>;

/** Creates the orders of several calls with a constant number of statements, as if the calls were made one by one. */
async function createOrders(inputs: readonly CreateInput[], context: HandlerContext): Promise<readonly CreateOutput[]> {
  const checked = inputs.map((input) =>
    checkOrder(input, { isValidating: input.validate_data === true, needsImage: false }),
  );
  const sources = inputs.map(toSource);
  const [first] = sources;
  if (!first) return [];
  const sourceOf = (at: number) => sources[at] ?? first;
  const details = inputs.some((input) => input.details === true);
  const results = await storeOrders(checked, { sourceOf, details, calls: inputs.length }, context);
  return inputs.map((input, at) => {
    const { errors = [], outcome } = results[at] ?? {};
    const order_id = readOrderId(input.order_id);
    return {
      ...(input.validate_data === true &&
        errors.length > 0 && { errors: errors.map(({ field, error }) => ({ order_id, field, error })) }),
      ...(input.details === true && outcome && { outcomes: [outcome] }),
    };
  });
}

/** Orders that are checked before other events are handled. */
const checkedPerTurn = 100;

type MassInput = Pick<
  z.output<typeof contract.orders.massCreate.input>,
  "orders" | "platform" | "send_mail" | "validate_data"
>;

async function checkOrders(
  { orders, validate_data = false }: MassInput,
  isChecked: boolean | undefined,
): Promise<readonly CheckedOrder[]> {
  checkCallSize(orders);
  const rules: OrderRules = { isValidating: validate_data, needsImage: true, isChecked };
  const checked: CheckedOrder[] = [];
  for (const [at, raw] of orders.entries()) {
    if (at > 0 && at % checkedPerTurn === 0) await nextTurn();
    checked.push(checkOrder(raw, rules));
  }
  return checked;
}

function toSource({ platform, send_mail: sendsMail = true }: Pick<MassInput, "platform" | "send_mail">): OrderSource {
  return { platform, sendsMail };
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

function readOrderId(raw: unknown): string | null {
  return typeof raw === "string" || typeof raw === "number" ? String(raw) : null;
}

/** Creates a version 4 UUID from random bytes. */
function createUuid(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
