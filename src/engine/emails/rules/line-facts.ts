import { type RawBuilder, sql } from "kysely";
import { emailKeyOf, stoppingTypesOf, type SuppressionKind } from "../../../contract/index.ts";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { erasedKind, readAddressHasher, ruleOfSuppression } from "../events/suppressions.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "sealer">;

/** The `product_row` of a line about the store. No product has this row ID. */
export const storeRow = 0;

/** A product of an order, or the store, about which the customer may receive an email. */
export interface OrderLine {
  /** Unique within a batch. */
  readonly id: number;
  readonly order_id: string;
  readonly order_date: number;
  readonly email: string;
  readonly product_row: number;
  readonly product_id: string;
  readonly blacklisted: number;
}

/** The address and category of an email. */
type AddressedEmail = Pick<Row<"mails">, "id" | "email" | "category">;

/** Facts that may prevent an email. Times are in milliseconds. */
export interface LineFacts {
  canceled?: { readonly atMs: number; readonly isWholeOrder: boolean };
  unsubscribed?: { readonly atMs: number; readonly byName: string };
  reported_spam?: { readonly atMs: number; readonly mailId: number };
  bounced_before?: { readonly atMs: number; readonly mailId: number };
  /** The most recent review. */
  reviewed?: { readonly atMs: number };
}

/** By line ID. Lines without facts are absent. */
type FactsByLine = Map<number, LineFacts>;

interface BatchQuery {
  readonly accountId: number;
  readonly rows: string;
}

const addressColumns = { id: "integer", email_key: "text", email_type_id: "integer" } as const;

const lineColumns = {
  id: "integer",
  email_key: "text",
  order_id: "text",
  product_id: "text",
  product_row: "integer",
} as const;

const selectUnsubscribed = createStatement<BatchQuery, { id: number; atMs: number; byName: string }>(
  (slot, dialect) => sql`
    select batch.id, unsubscribers.created_at as "atMs", unsubscribers.by_name as "byName"
    from ${batchOf(addressColumns, slot("rows"), dialect)} cross join unsubscribers
    where unsubscribers.account_id = ${slot("accountId")}
      and unsubscribers.email_type_id = batch.email_type_id
      and unsubscribers.email_key = batch.email_key`,
);

const selectSuppressed = createStatement<
  BatchQuery,
  { id: number; kind: SuppressionKind; atMs: number; mailId: number }
>(
  (slot, dialect) => sql`
    select batch.id, mail_suppressions.kind, mail_suppressions.created_at as "atMs",
      mail_suppressions.mail_row as "mailId"
    from ${batchOf(addressColumns, slot("rows"), dialect)} cross join mail_suppressions
    where mail_suppressions.account_id = ${slot("accountId")}
      and mail_suppressions.email_key = batch.email_key`,
);

const selectCanceled = createStatement<BatchQuery, { id: number; atMs: number; product_id: string }>(
  (slot, dialect) => sql`
    select batch.id, mail_stops.created_at as "atMs", mail_stops.product_id
    from ${batchOf(lineColumns, slot("rows"), dialect)} cross join mail_stops
    where mail_stops.account_id = ${slot("accountId")} and mail_stops.order_id = batch.order_id
      and mail_stops.product_id in ('', batch.product_id)`,
);

/** The cross joins keep the batch outermost: few of its customers have ever written a review. */
const createReviewed = (isAboutLine: RawBuilder<unknown>) =>
  createStatement<BatchQuery & { since: number }, { id: number; atMs: number }>(
    (slot, dialect) => sql`
      select batch.id, reviews.created_at as "atMs"
      from ${batchOf(lineColumns, slot("rows"), dialect)} cross join users cross join reviews
      where users.account_id = ${slot("accountId")} and users.email_key = batch.email_key
        and users.email_key is not null and reviews.account_id = ${slot("accountId")}
        and ${isAboutLine} and reviews.user_row = users.id and reviews.created_at >= ${slot("since")}`,
  );

const selectReviewed = createReviewed(sql`reviews.product_row = batch.product_row`);
const selectReviewedStore = createReviewed(
  sql`batch.product_row = ${sql.lit(storeRow)} and reviews.product_row is null`,
);

/** Finds the facts that depend only on the address. */
export async function findAddressFacts(
  emails: readonly AddressedEmail[],
  accountId: number,
  context: Context,
): Promise<FactsByLine> {
  const facts: FactsByLine = new Map();
  if (emails.length === 0) return facts;
  const { transaction, dialect } = context;
  const rows = emails.flatMap(({ id, email, category }) =>
    stoppingTypesOf(category).map((type) => [id, emailKeyOf(email), type]),
  );
  const query = { accountId, rows: JSON.stringify(rows) };
  let erased: Awaited<ReturnType<typeof findErased>> = [];
  await dialect.runAll([
    async () => {
      for (const { id, ...unsubscribed } of (await selectUnsubscribed(transaction, dialect, query)).rows) {
        factsOf(facts, id).unsubscribed = unsubscribed;
      }
    },
    async () => {
      for (const { id, kind, ...suppression } of (await selectSuppressed(transaction, dialect, query)).rows) {
        factsOf(facts, id)[ruleOfSuppression[kind]] = suppression;
      }
    },
    async () => void (erased = await findErased(emails, accountId, context)),
  ]);
  for (const { id, atMs } of erased) factsOf(facts, id).unsubscribed = { atMs, byName: erasedKind };
  return facts;
}

/** Finds the recipients whose data was erased, which unsubscribes the address. Its suppression contains only a hash. */
async function findErased(emails: readonly AddressedEmail[], accountId: number, context: Context) {
  const hashes = await readAddressHasher(accountId, context);
  if (!hashes) return [];
  const rows = emails.flatMap(({ id, email }) => hashes(email).map((hash) => [id, hash, 0]));
  const query = { accountId, rows: JSON.stringify(rows) };
  return (await selectSuppressed(context.transaction, context.dialect, query)).rows;
}

/**
 * Finds the facts about products of orders and their customers.
 * Assumed: reviews from unverified addresses do not count, since anybody could have written them.
 * @param query `reviewedSinceMs` excludes older reviews
 */
export async function findLineFacts(
  lines: readonly OrderLine[],
  query: {
    readonly accountId: number;
    readonly category: string;
    readonly reviewedSinceMs: number;
  },
  context: Context,
): Promise<FactsByLine> {
  if (lines.length === 0) return new Map();
  const { accountId, category, reviewedSinceMs: since } = query;
  const { transaction, dialect } = context;
  const emails = lines.map(({ id, email }) => ({ id, email, category }));
  const rows = lines.map((line) => [line.id, emailKeyOf(line.email), line.order_id, line.product_id, line.product_row]);
  const batch = { accountId, rows: JSON.stringify(rows) };
  const ofStore = lines.some(({ product_row }) => product_row === storeRow) ? [selectReviewedStore] : [];
  let factsById: FactsByLine = new Map();
  let canceled: Awaited<ReturnType<typeof selectCanceled>>["rows"] = [];
  const reviewed: Awaited<ReturnType<typeof selectReviewed>>["rows"] = [];
  await dialect.runAll([
    async () => void (factsById = await findAddressFacts(emails, accountId, context)),
    async () => void (canceled = (await selectCanceled(transaction, dialect, batch)).rows),
    ...[selectReviewed, ...ofStore].map((select) => async () => {
      reviewed.push(...(await select(transaction, dialect, { ...batch, since })).rows);
    }),
  ]);
  for (const { id, atMs, product_id } of canceled) {
    const facts = factsOf(factsById, id);
    if (facts.canceled && facts.canceled.atMs <= atMs) continue;
    facts.canceled = { atMs, isWholeOrder: product_id === "" };
  }
  for (const { id, atMs } of reviewed) {
    const facts = factsOf(factsById, id);
    facts.reviewed = { atMs: Math.max(atMs, facts.reviewed?.atMs ?? 0) };
  }
  return factsById;
}

function factsOf(factsById: FactsByLine, id: number): LineFacts {
  const existing = factsById.get(id);
  if (existing) return existing;
  const facts: LineFacts = {};
  factsById.set(id, facts);
  return facts;
}
