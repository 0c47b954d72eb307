import { sql } from "kysely";
import type { z } from "zod";
import { type contract, type MailObstacle, mailObstacles, shape } from "../contract/index.ts";
import { batchOf } from "../storage/batch.ts";
import { createStatement } from "../storage/statement.ts";
import { accountOf, type HandlerContext } from "./handler.ts";
import { MailCalendar } from "./mail-calendar.ts";
import { addMonths } from "./mail-ranges.ts";
import { mailRules } from "./mail-rules.ts";
import { dateOf, dayMs, dayOf } from "./times.ts";

type Query = z.output<typeof contract.mail.forecast.input>;
type Forecast = z.output<typeof contract.mail.forecast.output>;

/** Purchases that are looked at together. */
const pageSize = 2_000;

/** A product of an order, and what is known of it. */
interface Line {
  readonly id: number;
  readonly order_id: string;
  readonly email: string;
  readonly order_date: number;
  readonly product_row: number;
  readonly product_id: string;
  readonly blacklisted: number;
}

/**
 * Tells which mails-after-purchase would follow from purchases, if these were mailed.
 * Source: see `mailRules`. Assumed: one mail for each product of an order, however many units; those of an order that
 * was there before bring one for the products that are new to it.
 */
export async function forecastMails(
  { since_purchase_id = 0 }: Query,
  context: HandlerContext,
): Promise<Forecast> {
  const today = dayOf(context.nowMs);
  const calendar = new MailCalendar(today);
  const notSent = Object.fromEntries(mailObstacles.map((name) => [name, 0])) as Record<MailObstacle, number>;
  const judge = createJudge(today);
  for (let fromId = since_purchase_id; ;) {
    const lines = await readLines(fromId, context);
    const last = lines.at(-1);
    if (!last) break;
    const told = lines.map((line) => ({ line, obstacle: judge(line) }));
    const open = told.filter(({ obstacle }) => obstacle === undefined).map(({ line }) => line);
    const met = await findObstacles(open, context);
    for (const { line, obstacle = met.get(line.id) } of told) {
      if (obstacle === undefined) calendar.add(keyOf(line), dayOf(line.order_date) + mailRules.dueAfterDays);
      else notSent[obstacle] += 1;
    }
    fromId = last.id + 1;
  }
  const { mails, people, days, surplus } = calendar.close(mailRules.mostToPerson);
  notSent.too_many_to_person = surplus;
  const listed = [...days].toSorted(([a], [b]) => a - b);
  return {
    mails,
    people,
    days: listed.map(([day, count]) => ({ day: dateOf(day), mails: count })),
    not_sent: notSent,
  };
}

function keyOf({ email }: Line): string {
  return email.toLowerCase();
}

/** What a line itself tells. */
function createJudge(today: number): (line: Line) => MailObstacle | undefined {
  const oldest = addMonths(today, -mailRules.oldestOrderMonths) * dayMs;
  return ({ order_date, email, blacklisted }) => {
    if (order_date < oldest) return "order_too_old";
    if (!shape.email.safeParse(email).success) return "bad_address";
    return blacklisted === 0 ? undefined : "product_blacklisted";
  };
}

const selectLines = createStatement<{ accountId: number; fromId: number }, Line>(
  (slot) => sql`
    select purchases.id, orders.order_id, orders.email, orders.order_date, purchases.product_row,
      products.product_id, products.blacklisted
    from purchases
      join orders on orders.id = purchases.order_row
      join products on products.id = purchases.product_row
    where purchases.account_id = ${slot("accountId")} and purchases.id >= ${slot("fromId")}
      and purchases.unit = 1
    order by purchases.id limit ${sql.lit(pageSize)}`,
);

async function readLines(fromId: number, context: HandlerContext): Promise<Line[]> {
  const values = { accountId: accountOf(context).id, fromId };
  const { rows } = await selectLines(context.transaction, context.dialect, values);
  return rows;
}

interface Asked {
  readonly accountId: number;
  readonly lines: string;
}

/** A line as the batch has it; the address in small letters, as people are known by. */
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

const selectStopped = createStatement<Asked, { id: number }>(
  (slot, dialect) => sql`
    select batch.id from ${batchOf<LineColumns>(lineColumns, slot("lines"), dialect)} cross join mail_stops
    where mail_stops.account_id = ${slot("accountId")} and mail_stops.order_id = batch.order_id
      and mail_stops.product_id in ('', batch.product_id)`,
);

const selectUnsubscribed = createStatement<Asked, { id: number }>(
  (slot, dialect) => sql`
    select batch.id from ${batchOf<LineColumns>(lineColumns, slot("lines"), dialect)} cross join unsubscribers
    where unsubscribers.account_id = ${slot("accountId")}
      and unsubscribers.email_type_id = ${sql.lit(mailRules.emailTypeId)}
      and unsubscribers.email_key = batch.email_key`,
);

/** The cross joins keep the batch outermost: few of its people have ever reviewed anything. */
const selectReviewed = createStatement<Asked & { since: number }, { id: number }>(
  (slot, dialect) => sql`
    select batch.id from ${batchOf<LineColumns>(lineColumns, slot("lines"), dialect)}
      cross join users cross join reviews
    where users.account_id = ${slot("accountId")} and users.email_key = batch.email_key
      and users.email_key is not null and reviews.product_row = batch.product_row
      and reviews.user_row = users.id and reviews.created_at >= ${slot("since")}`,
);

/** What the rest of the account tells about lines that are fine by themselves; the first that holds. */
async function findObstacles(
  lines: readonly Line[],
  context: HandlerContext,
): Promise<ReadonlyMap<number, MailObstacle>> {
  const { transaction, dialect, nowMs } = context;
  if (lines.length === 0) return new Map();
  const rows = lines.map((line) => [line.id, keyOf(line), line.order_id, line.product_id, line.product_row]);
  const asked = { accountId: accountOf(context).id, lines: JSON.stringify(rows) };
  const since = addMonths(dayOf(nowMs), -mailRules.reviewedWithinMonths) * dayMs;
  const reviewed = await selectReviewed(transaction, dialect, { ...asked, since });
  const unsubscribed = await selectUnsubscribed(transaction, dialect, asked);
  const stopped = await selectStopped(transaction, dialect, asked);
  return new Map([
    ...reviewed.rows.map(({ id }) => [id, "reviewed_lately"] as const),
    ...unsubscribed.rows.map(({ id }) => [id, "unsubscribed"] as const),
    ...stopped.rows.map(({ id }) => [id, "mails_stopped"] as const),
  ]);
}
