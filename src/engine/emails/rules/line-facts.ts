import { sql } from "kysely";
import type { SuppressionKind } from "../../../contract/index.ts";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { suppressed } from "../events/suppressions.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect">;

/** A product of an order, about which its customer may be mailed. */
export interface OrderLine {
  /** Tells the lines of a batch apart. */
  readonly id: number;
  readonly order_id: string;
  readonly order_date: number;
  readonly email: string;
  readonly product_row: number;
  readonly product_id: string;
  readonly blacklisted: number;
}

/** Whom a mail would go to, and of which type it is. */
export interface Addressed {
  readonly id: number;
  readonly email: string;
  readonly email_type_id: number;
}

/** What the account knows that may keep a mail back; times in milliseconds. */
export interface LineFacts {
  stopped?: { readonly atMs: number; readonly isWholeOrder: boolean };
  unsubscribed?: { readonly atMs: number; readonly byName: string };
  reported_spam?: { readonly atMs: number; readonly mailId: number };
  bounced_before?: { readonly atMs: number; readonly mailId: number };
  /** The last time. */
  reviewed?: { readonly atMs: number };
}

/** By the id of the line; lines of which nothing is known are not there. */
export type FactsByLine = Map<number, LineFacts>;

interface Asked {
  readonly accountId: number;
  readonly rows: string;
}

const addressColumns = { id: "integer", email_key: "text", email_type_id: "integer" } as const;
interface AddressColumns {
  id: number;
  email_key: string;
  email_type_id: number;
}

const lineColumns = {
  id: "integer",
  email_key: "text",
  order_id: "text",
  product_id: "text",
  product_row: "integer",
} as const;
interface LineColumns {
  id: number;
  email_key: string;
  order_id: string;
  product_id: string;
  product_row: number;
}

const selectUnsubscribed = createStatement<Asked, { id: number; atMs: number; byName: string }>(
  (slot, dialect) => sql`
    select batch.id, unsubscribers.created_at as "atMs", unsubscribers.by_name as "byName"
    from ${batchOf<AddressColumns>(addressColumns, slot("rows"), dialect)} cross join unsubscribers
    where unsubscribers.account_id = ${slot("accountId")}
      and unsubscribers.email_type_id = batch.email_type_id
      and unsubscribers.email_key = batch.email_key`,
);

const selectSuppressed = createStatement<
  Asked,
  { id: number; kind: SuppressionKind; atMs: number; mailId: number }
>(
  (slot, dialect) => sql`
    select batch.id, mail_suppressions.kind, mail_suppressions.created_at as "atMs",
      mail_suppressions.mail_row as "mailId"
    from ${batchOf<AddressColumns>(addressColumns, slot("rows"), dialect)} cross join mail_suppressions
    where mail_suppressions.account_id = ${slot("accountId")}
      and mail_suppressions.email_key = batch.email_key`,
);

const selectStopped = createStatement<Asked, { id: number; atMs: number; product_id: string }>(
  (slot, dialect) => sql`
    select batch.id, mail_stops.created_at as "atMs", mail_stops.product_id
    from ${batchOf<LineColumns>(lineColumns, slot("rows"), dialect)} cross join mail_stops
    where mail_stops.account_id = ${slot("accountId")} and mail_stops.order_id = batch.order_id
      and mail_stops.product_id in ('', batch.product_id)`,
);

/** The cross joins keep the batch outermost: few of its people have ever reviewed anything. */
const selectReviewed = createStatement<Asked & { since: number }, { id: number; atMs: number }>(
  (slot, dialect) => sql`
    select batch.id, reviews.created_at as "atMs"
    from ${batchOf<LineColumns>(lineColumns, slot("rows"), dialect)} cross join users cross join reviews
    where users.account_id = ${slot("accountId")} and users.email_key = batch.email_key
      and users.email_key is not null and reviews.product_row = batch.product_row
      and reviews.user_row = users.id and reviews.created_at >= ${slot("since")}`,
);

/** What is known of addresses alone. */
export async function findAddressFacts(
  addressed: readonly Addressed[],
  accountId: number,
  { transaction, dialect }: Context,
): Promise<FactsByLine> {
  const found: FactsByLine = new Map();
  if (addressed.length === 0) return found;
  const rows = addressed.map(({ id, email, email_type_id }) => [id, email.toLowerCase(), email_type_id]);
  const asked = { accountId, rows: JSON.stringify(rows) };
  for (const { id, ...told } of (await selectUnsubscribed(transaction, dialect, asked)).rows) {
    factsOf(found, id).unsubscribed = told;
  }
  for (const { id, kind, ...told } of (await selectSuppressed(transaction, dialect, asked)).rows) {
    factsOf(found, id)[suppressed[kind].obstacle] = told;
  }
  return found;
}

/**
 * What is known of products of orders, and of their customers.
 * Assumed: who wrote a review under an address that was never verified may be anybody, and keeps no mail back.
 * @param reviewedSinceMs reviews of before are not looked at
 */
export async function findLineFacts(
  lines: readonly OrderLine[],
  asking: {
    readonly accountId: number;
    readonly emailTypeId: number;
    readonly reviewedSinceMs: number;
  },
  context: Context,
): Promise<FactsByLine> {
  if (lines.length === 0) return new Map();
  const { accountId, emailTypeId: email_type_id, reviewedSinceMs: since } = asking;
  const { transaction, dialect } = context;
  const addressed = lines.map(({ id, email }) => ({ id, email, email_type_id }));
  const found = await findAddressFacts(addressed, accountId, context);
  const rows = lines.map((line) => [
    line.id,
    line.email.toLowerCase(),
    line.order_id,
    line.product_id,
    line.product_row,
  ]);
  const asked = { accountId, rows: JSON.stringify(rows) };
  for (const { id, atMs, product_id } of (await selectStopped(transaction, dialect, asked)).rows) {
    const facts = factsOf(found, id);
    if (facts.stopped && facts.stopped.atMs <= atMs) continue;
    facts.stopped = { atMs, isWholeOrder: product_id === "" };
  }
  for (const { id, atMs } of (await selectReviewed(transaction, dialect, { ...asked, since })).rows) {
    const facts = factsOf(found, id);
    facts.reviewed = { atMs: Math.max(atMs, facts.reviewed?.atMs ?? 0) };
  }
  return found;
}

function factsOf(found: FactsByLine, id: number): LineFacts {
  const there = found.get(id);
  if (there) return there;
  const facts: LineFacts = {};
  found.set(id, facts);
  return facts;
}
