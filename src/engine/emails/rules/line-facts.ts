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

/** Whether an address is unsubscribed, or why emails to it are suppressed. */
type AddressFact =
  | { readonly id: number; readonly kind: "unsubscribed"; readonly atMs: number; readonly byName: string }
  | { readonly id: number; readonly kind: SuppressionKind; readonly atMs: number; readonly mailId: number };

const selectAddressFacts = createStatement<BatchQuery, AddressFact>((slot, dialect) => {
  const batch = batchOf(addressColumns, slot("rows"), dialect);
  return sql`
    select batch.id, 'unsubscribed' as kind, unsubscribers.created_at as "atMs", unsubscribers.by_name as "byName",
      0 as "mailId"
    from ${batch} cross join unsubscribers
    where unsubscribers.account_id = ${slot("accountId")} and unsubscribers.email_type_id = batch.email_type_id
      and unsubscribers.email_key = batch.email_key
    union all
    select batch.id, mail_suppressions.kind, mail_suppressions.created_at, '', mail_suppressions.mail_row
    from ${batch} cross join mail_suppressions
    where mail_suppressions.account_id = ${slot("accountId")} and mail_suppressions.email_key = batch.email_key`;
});

type OrderQuery = BatchQuery & { readonly since: number };
type Slots = Parameters<Parameters<typeof createStatement<OrderQuery>>[0]>[0];

/** Selects reviews of lines. The cross joins keep the batch outermost: few of its customers have ever written one. */
const selectReviews = (isAboutLine: RawBuilder<unknown>, slot: Slots, dialect: HandlerContext["dialect"]) => sql`
  select batch.id, 'reviewed' as kind, reviews.created_at as "atMs", '' as product_id
  from ${batchOf(lineColumns, slot("rows"), dialect)} cross join users cross join reviews
  where users.account_id = ${slot("accountId")} and users.email_key = batch.email_key
    and users.email_key is not null and reviews.account_id = ${slot("accountId")}
    and ${isAboutLine} and reviews.user_row = users.id and reviews.created_at >= ${slot("since")}`;

/** That the emails of a line were canceled, with its product ID or those of the entire order, or that it was reviewed. */
interface OrderFact {
  readonly id: number;
  readonly kind: "canceled" | "reviewed";
  readonly atMs: number;
  readonly product_id: string;
}

const selectOrderFacts = createStatement<OrderQuery, OrderFact>(
  (slot, dialect) => sql`
    select batch.id, 'canceled' as kind, mail_stops.created_at as "atMs", mail_stops.product_id
    from ${batchOf(lineColumns, slot("rows"), dialect)} cross join mail_stops
    where mail_stops.account_id = ${slot("accountId")} and mail_stops.order_id = batch.order_id
      and mail_stops.product_id in ('', batch.product_id)
    union all
    ${selectReviews(sql`reviews.product_row = batch.product_row`, slot, dialect)}`,
);

const selectStoreReviews = createStatement<OrderQuery, OrderFact>((slot, dialect) =>
  selectReviews(sql`batch.product_row = ${sql.lit(storeRow)} and reviews.product_row is null`, slot, dialect),
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
  const [found, erased] = await dialect.runAll([
    () => selectAddressFacts(transaction, dialect, { accountId, rows: JSON.stringify(rows) }),
    () => findErased(emails, accountId, context),
  ]);
  for (const fact of found.rows) {
    const { id, kind, atMs } = fact;
    if (kind === "unsubscribed") factsOf(facts, id).unsubscribed = { atMs, byName: fact.byName };
    else factsOf(facts, id)[ruleOfSuppression[kind]] = { atMs, mailId: fact.mailId };
  }
  for (const { id, atMs } of erased) factsOf(facts, id).unsubscribed = { atMs, byName: erasedKind };
  return facts;
}

/** Finds the recipients whose data was erased, which unsubscribes the address. Its suppression contains only a hash. */
async function findErased(
  emails: readonly AddressedEmail[],
  accountId: number,
  context: Context,
): Promise<readonly AddressFact[]> {
  const hashes = await readAddressHasher(accountId, context);
  if (!hashes) return [];
  const rows = emails.flatMap(({ id, email }) => hashes(email).map((hash) => [id, hash, 0]));
  const query = { accountId, rows: JSON.stringify(rows) };
  return (await selectAddressFacts(context.transaction, context.dialect, query)).rows;
}

interface LineQuery {
  readonly accountId: number;
  /** Excludes older reviews. */
  readonly reviewedSinceMs: number;
}

/** Finds all facts about products of orders and their customers. */
export async function findLineFacts(
  lines: readonly OrderLine[],
  query: LineQuery & { readonly category: string },
  context: Context,
): Promise<FactsByLine> {
  const { accountId, category } = query;
  const emails = lines.map(({ id, email }) => ({ id, email, category }));
  const [ofAddresses, ofOrders] = await context.dialect.runAll([
    () => findAddressFacts(emails, accountId, context),
    () => findOrderFacts(lines, query, context),
  ]);
  const found = new Set([...ofAddresses.keys(), ...ofOrders.keys()]);
  return new Map(Array.from(found, (id) => [id, { ...ofAddresses.get(id), ...ofOrders.get(id) }]));
}

/**
 * Finds the facts about products of orders that do not depend only on the address.
 * Assumed: reviews from unverified addresses do not count, since anybody could have written them.
 */
export async function findOrderFacts(
  lines: readonly OrderLine[],
  { accountId, reviewedSinceMs: since }: LineQuery,
  { transaction, dialect }: Context,
): Promise<FactsByLine> {
  const factsById: FactsByLine = new Map();
  if (lines.length === 0) return factsById;
  const rows = lines.map((line) => [line.id, emailKeyOf(line.email), line.order_id, line.product_id, line.product_row]);
  const query = { accountId, since, rows: JSON.stringify(rows) };
  const ofStore = lines.some(({ product_row }) => product_row === storeRow) ? [selectStoreReviews] : [];
  const found = await dialect.runAll(
    [selectOrderFacts, ...ofStore].map((select) => () => select(transaction, dialect, query)),
  );
  for (const { id, kind, atMs, product_id } of found.flatMap((each) => each.rows)) {
    const facts = factsOf(factsById, id);
    if (kind === "reviewed") facts.reviewed = { atMs: Math.max(atMs, facts.reviewed?.atMs ?? 0) };
    else if (!facts.canceled || facts.canceled.atMs > atMs) {
      facts.canceled = { atMs, isWholeOrder: product_id === "" };
    }
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
