import { type RawBuilder, sql } from "kysely";
import { type FieldError, type ItemOutcome, orderFields, outcomeOf, type RecordField } from "../../contract/index.ts";
import { batchOf, isAmong } from "../../storage/batch.ts";
import { letOthersRun } from "../../storage/loop-turn.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { batchColumns } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type EmailTiming, queueOrderEmails, readEmailTiming, updateOrderEmails } from "./order-emails.ts";
import { addProductChanges } from "./product-changes.ts";
import { type NewLine, type OrderChanges, OrderMerge } from "./order-merge.ts";
import {
  orderColumns,
  type OrderProblems,
  type OrderRows,
  readProductRows,
  readSentOrders,
  type SentOrder,
} from "./order-rows.ts";
import { readStoredOrders, type StoredOrder, type StoredUnit } from "./stored-orders.ts";
import { type MissedLines, storeMissedProducts } from "../products/missed-products.ts";
import { mergeProducts, type ProductRow, skuOf } from "../products/product-row.ts";
import {
  dropTakenSkus,
  findTakenSkus,
  prepareProducts,
  requireFreeSkus,
  type TakenSkus,
  takenSkuText,
} from "../products/product-store.ts";
import { dayOf } from "../kernel/times.ts";

interface StoreOptions {
  /** Whether to report the product data that repeated orders change (default: false). */
  readonly details?: boolean | undefined;
  /** The number of calls that the orders are from (default: 1). */
  readonly calls?: number;
  /** Only products with a higher ID are changed (default: 0). */
  readonly sinceId?: number | undefined;
  /** What `readStored` returned in the same transaction, without writes in between. Read if absent. */
  readonly stored?: Stored;
}

/** What became of an order: its outcome, and the errors for which it was rejected. */
export interface OrderResult {
  readonly outcome: ItemOutcome;
  readonly errors: readonly FieldError[];
  /** The order ID as sent, if the order was rejected; null if it is not text. */
  readonly orderId?: string | null;
}

const none: OrderProblems = { orderId: null, errors: [], dropped: [] };
const created: OrderResult = { outcome: outcomeOf("created"), errors: [] };
const isEmpty = (json: string) => json === "[]";

function toRejected({ orderId, errors, dropped }: OrderProblems): OrderResult {
  return { outcome: outcomeOf("dropped", { dropped: [...errors, ...dropped] }), errors, orderId };
}

/**
 * Stores orders with their products, purchases, and skipped lines, and queues their emails.
 * Source: spec "Orders (purchases)". Assumed: an order that is sent again is merged into the stored one, as described at
 * `OrderMerge`; of one with another customer's address, nothing is stored. Products are updated from the last order that
 * names them, even a repeated one. Only products that are new to an order trigger emails, as specified by the call that
 * adds them.
 */
export async function storeOrders(
  rows: OrderRows,
  { details, calls = 1, stored: before, sinceId }: StoreOptions,
  context: HandlerContext,
): Promise<OrderResult[]> {
  const results = Array.from({ length: rows.count }, (_, at): OrderResult => {
    const problems = rows.problems.get(at) ?? none;
    const { errors, dropped } = problems;
    if (errors.length > 0) return toRejected(problems);
    return dropped.length === 0 ? created : { outcome: outcomeOf("created", { dropped }), errors: [] };
  });
  if (isEmpty(rows.orders)) return results;
  const found = before ?? (await readStored(rows, context, sinceId));
  const { products, stored, timing, takenSkus } = found;
  const { changes, saved, missed } =
    stored.size === 0 && !rows.needsMerge
      ? { changes: toChanges(rows, found), saved: products, missed: [] }
      : await mergeOrders(rows, { products, stored, results, details, sinceId }, context);
  const { rows: free, dropped: taken } = dropTakenSkus(mergeProducts(saved), takenSkus);
  requireFreeSkus(taken, { calls });
  await storeChanges(changes, { productWrites: await prepareProducts(free, context, sinceId), timing }, context);
  if (missed.length > 0) await storeMissedProducts(missed, context);
  if (taken.length > 0) reportTakenSkus(results, new Set(taken), readSentOrders(rows, products));
  return results;
}

/** What is stored of a call of which nothing is stored yet. */
function toChanges(rows: OrderRows, { products, timing }: Stored): OrderChanges {
  const { orders, units, unitCount } = rows;
  const newLines: NewLine[] = [];
  for (const { orderId, email, source, items } of timing ? readSentOrders(rows, products) : []) {
    if (!source.sendsMail) continue;
    newLines.push(...items.map(({ product: [product_id] }) => ({ order_id: orderId, product_id, email })));
  }
  return { orders, units, addedUnits: unitCount, removedUnits: [], newLines, changed: [] };
}

interface MergeInput {
  readonly products: readonly ProductRow[];
  readonly stored: ReadonlyMap<string, StoredOrder>;
  /** By position in the calls. Those of orders that are stored already, or not stored, are replaced. */
  readonly results: OrderResult[];
  readonly details: boolean | undefined;
  readonly sinceId: number | undefined;
}

/** Merges the orders of a call into those that are stored, and into each other. */
async function mergeOrders(
  rows: OrderRows,
  { products, stored, results, details, sinceId }: MergeInput,
  context: HandlerContext,
): Promise<{ changes: OrderChanges; saved: readonly ProductRow[]; missed: readonly MissedLines[] }> {
  const merge = new OrderMerge(stored, context.nowMs);
  const accepted: SentOrder[] = [];
  const missed: MissedLines[] = [];
  for (const order of readSentOrders(rows, products)) {
    await letOthersRun();
    const { dropped, missed: lines } = rows.problems.get(order.position) ?? none;
    const error = merge.findError(order);
    if (error) results[order.position] = toRejected({ ...none, orderId: order.orderId, errors: [error] });
    else {
      if (lines) missed.push({ order: merge.fieldsOf(order), lines });
      if (order.items.length === 0) results[order.position] = toRejected({ ...none, dropped });
      else {
        const { outcome, fields } = merge.add(order);
        results[order.position] = { outcome: outcomeOf(outcome, { ...(fields && { fields }), dropped }), errors: [] };
        accepted.push({ ...order, items: order.items.filter(({ prices }) => prices.length > 0) });
      }
    }
  }
  if (details === true) await addProductChanges(accepted, results, context, sinceId);
  const saved = accepted.flatMap(({ items }) => items.map(({ product }) => product));
  return { changes: merge.changes(), saved, missed };
}

interface Stored {
  readonly products: readonly ProductRow[];
  /** The stored ones of the orders. */
  readonly stored: ReadonlyMap<string, StoredOrder>;
  /** When review requests are sent, unless none of the orders causes any. */
  readonly timing: EmailTiming | undefined;
  readonly takenSkus: TakenSkus;
}

/** Reads what `storeOrders` needs to know. @param sinceId only products with a higher ID are changed */
export async function readStored(rows: OrderRows, context: HandlerContext, sinceId?: number): Promise<Stored> {
  const products = readProductRows(rows);
  if (isEmpty(rows.orders)) return { products, stored: new Map(), timing: undefined, takenSkus: new Set() };
  const [stored, timing, takenSkus] = await context.dialect.runAll([
    () => readStoredOrders(rows, context),
    async () => (rows.sendsMail ? readEmailTiming(context) : undefined),
    () => findTakenSkus(products, context, sinceId),
  ]);
  return { products, stored, timing, takenSkus };
}

/** Adds the SKUs that belong to other products to what is not stored of the orders. */
function reportTakenSkus(results: OrderResult[], taken: ReadonlySet<string>, orders: Iterable<SentOrder>): void {
  for (const { position, items } of orders) {
    const { outcome, errors } = results[position] ?? created;
    const dropped = items
      .filter(({ product }) => skuOf(product) !== null && taken.has(product[0]))
      .map(({ product: [id] }) => ({ field: `products.${id}.specs.external_sku`, error: takenSkuText }));
    if (dropped.length === 0 || outcome.outcome === "dropped") continue;
    const unchanged = new Set(dropped.map(({ field }) => field));
    const fields = outcome.fields?.filter((field) => !unchanged.has(field)) ?? [];
    const name = outcome.outcome === "changed" && fields.length === 0 ? "unchanged" : outcome.outcome;
    results[position] = {
      outcome: outcomeOf(name, { fields, dropped: [...(outcome.dropped ?? []), ...dropped] }),
      errors,
    };
  }
}

type Write = () => Promise<unknown>;

async function storeChanges(
  { orders, units, addedUnits, removedUnits, newLines, changed }: OrderChanges,
  { productWrites, timing }: { readonly productWrites: readonly Write[]; readonly timing: EmailTiming | undefined },
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const day = dayOf(nowMs);
  const writes = [...productWrites];
  if (!isEmpty(orders)) writes.push(() => saveOrders(transaction, dialect, { accountId, nowMs, rows: orders }));
  if (changed.length > 0) writes.push(() => updateOrderEmails(changed, context));
  if (addedUnits > 0) writes.push(() => countPurchases(transaction, dialect, { accountId, day, added: addedUnits }));
  if (!isEmpty(units)) writes.push(() => saveUnits(transaction, dialect, { accountId, nowMs, rows: units }));
  if (timing && newLines.length > 0) writes.push(() => queueOrderEmails(newLines, timing, context));
  await dialect.runAll(writes);
  if (removedUnits.length > 0) await removeUnits(removedUnits, context);
}

/** The values of a batch; an order without a date is of the time of the call. */
const orderValues = (nowMs: RawBuilder<unknown>) =>
  sql.join(
    orderColumns.map((name) =>
      name === "order_date" ? sql`coalesce(batch.order_date, cast(${nowMs} as bigint))` : sql.ref(`batch.${name}`),
    ),
  );

const replacedFields = Object.entries<RecordField>(orderFields)
  .filter(([, { change }]) => change === undefined)
  .map(([name]) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);

const saveOrders = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into orders (account_id, created_at, ${sql.join(orderColumns.map((name) => sql.ref(name)))})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), ${orderValues(slot("nowMs"))}
    from ${batchOf(batchColumns("orders", orderColumns), slot("rows"), dialect)} where true
    on conflict (account_id, order_id) do update set ${sql.join(replacedFields)}`,
);

const purchaseColumns = { order_id: "text", product_id: "text", unit: "integer", price: "text" } as const;

/** The cross joins make the batch the outer loop, so that purchase IDs are in the order of the call. */
const saveUnits = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into purchases (account_id, created_at, order_row, product_row, unit, price)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), orders.id, products.id,
      batch.unit, batch.price
    from ${batchOf(purchaseColumns, slot("rows"), dialect)} cross join orders cross join products
    where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id
      and products.account_id = ${slot("accountId")} and products.product_id = batch.product_id
    ${dialect.inBatchOrder}
    on conflict (account_id, order_row, product_row, unit) do update set price = excluded.price`,
);

async function removeUnits(units: readonly StoredUnit[], context: HandlerContext): Promise<void> {
  const { transaction, dialect } = context;
  const { id: accountId } = accountOf(context);
  await deleteUnits(transaction, dialect, { accountId, rows: JSON.stringify(units.map(({ id }) => [id])) });
  for (const day of new Set(units.map(({ created_at }) => dayOf(created_at)))) {
    const removed = units.filter(({ created_at }) => dayOf(created_at) === day).length;
    await uncountPurchases(transaction, dialect, { accountId, day, removed });
  }
}

const deleteUnits = createStatement<{ accountId: number; rows: string }>(
  (slot, dialect) => sql`
    delete from purchases where account_id = ${slot("accountId")} and ${isAmong(slot("rows"), dialect)}`,
);

/** Counts purchases before they are stored, so that the first of a day is preceded by those of other days. */
const countPurchases = createDeferredStatement<{ accountId: number; day: number; added: number }>(
  (slot) => sql`
    insert into purchase_days (account_id, day, first_id, purchases)
    select cast(${slot("accountId")} as bigint), cast(${slot("day")} as bigint), coalesce(max(id), 0) + 1,
      cast(${slot("added")} as bigint)
    from purchases where account_id = ${slot("accountId")}
    on conflict (account_id, day) do update set purchases = purchase_days.purchases + excluded.purchases`,
);

const uncountPurchases = createDeferredStatement<{ accountId: number; day: number; removed: number }>(
  (slot) => sql`
    update purchase_days set purchases = purchases - ${slot("removed")}
    where account_id = ${slot("accountId")} and day = ${slot("day")}`,
);
