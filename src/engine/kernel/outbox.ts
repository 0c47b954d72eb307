import { sql } from "kysely";
import { findRow, findRows } from "./account-rows.ts";
import {
  actorNames,
  type EmailCategory,
  emailKeyOf,
  type EmailLinkKind,
  type EmailRuleName,
  emailTypeOf,
  isStoppedByRecipient,
  maxDeliveriesPerCall,
  type SentEmailCategory,
  ServiceError,
  type WebhookEvent,
} from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { batchColumns, type Row } from "../../storage/tables.ts";
import { noteDue } from "./due-times.ts";
import { type HandlerContext } from "./handler.ts";
import { recordEmailEvents } from "./email-log.ts";
import { linkUrl } from "./signed-link.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;
type EmailContext = Context & Pick<HandlerContext, "sealer" | "publicUrl">;
type EventContext = Context & Pick<HandlerContext, "random">;

export interface NewEmail {
  readonly accountId: number;
  readonly category: SentEmailCategory;
  readonly email: string;
  readonly name: string;
  /** The product that an email without an order is about, by which it is found. */
  readonly productRow?: number | undefined;
  /** Template data of the category. `link` creates a link to a row, or to the email itself. */
  readonly data: (link: (kind: EmailLinkKind, id?: number) => string) => Readonly<Record<string, unknown>>;
}

/** Like `queueEmails`, for one email. */
export async function queueEmail(email: NewEmail, context: EmailContext): Promise<boolean> {
  const [id] = await queueEmails([email], email.accountId, context);
  return id !== null && id !== undefined;
}

/**
 * Adds emails of an account to the outbox in the transaction of the call and counts each as a request of its category, with
 * a constant number of statements. Adds an unsubscribe link to their data, as `unsubscribe_url`.
 * Assumed: if an address is unsubscribed from the type of email, the email is stored as not sent, with the reason, and
 * counts as `repeat_unsubscribes`; this is not an error.
 * @returns the ID of each email; null if it was not queued
 */
export async function queueEmails(
  emails: readonly NewEmail[],
  accountId: number,
  context: EmailContext,
): Promise<readonly (number | null)[]> {
  if (emails.length === 0) return [];
  const { transaction, dialect, nowMs } = context;
  const stopped = await findUnsubscribed(emails, accountId, context);
  const isQueued = emails.map((email) => !stopped.has(keyOf(email)));
  const rows = emails.map(({ category, email, name, productRow = null }, at) => {
    const rule = isQueued[at] ? null : "unsubscribed";
    const type = emailTypeOf[category];
    return [category, type, email, emailKeyOf(email), name, rule === null ? "queued" : "not_sent", rule, productRow];
  });
  const inserted = await insertEmails(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(rows) });
  // IDs increase in the order of the batch; the order in which rows are returned is not defined.
  const ids = inserted.rows.map(({ id }) => id).toSorted((a, b) => a - b);
  const queued = emails.map(({ category, data }, at) => {
    const mailId = ids[at] ?? 0;
    // The links contain the ID of the email.
    const link = (kind: EmailLinkKind, id = mailId) => linkUrl({ kind, id, accountId, mailId }, context);
    return { mailId, category, text: JSON.stringify({ ...data(link), unsubscribe_url: link("unsubscribe") }) };
  });
  const texts = JSON.stringify(queued.map(({ mailId, text }) => [mailId, text]));
  await updateEmails(transaction, dialect, { accountId, rows: texts });
  await recordEmailEvents(
    queued.map(({ mailId, category }, at) => {
      const event = isQueued[at] ? ("requested" as const) : ("dropped_unsubscribed" as const);
      return { accountId, mailId, category, event };
    }),
    context,
  );
  if (isQueued.includes(true)) await noteDue("emails_due_at", accountId, context);
  return queued.map(({ mailId }, at) => (isQueued[at] ? mailId : null));
}

const emailColumns = [
  "category",
  "email_type_id",
  "email",
  "email_key",
  "name",
  "state",
  "reason",
  "product_row",
] as const;

const insertEmails = createStatement<{ accountId: number; nowMs: number; rows: string }, { readonly id: number }>(
  (slot, dialect) => sql`
    insert into mails (account_id, due_at, created_at, data, category, email_type_id, email, email_key, name, state, reason,
      product_row)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), cast(${slot("nowMs")} as bigint), '{}',
      batch.category, batch.email_type_id, batch.email, batch.email_key, batch.name, batch.state, batch.reason, batch.product_row
    from ${batchOf(batchColumns("mails", emailColumns), slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    returning id`,
);

/** The condition on IDs keeps SQLite from reading all emails of the account. */
const updateEmails = createDeferredStatement<{ accountId: number; rows: string }>(
  (slot, dialect) => sql`
    update mails set data = batch.data
    from ${batchOf({ id: "integer", data: "text" }, slot("rows"), dialect)}
    where mails.account_id = ${slot("accountId")} and mails.id = batch.id
      and mails.id in (select id from ${batchOf({ id: "integer" }, slot("rows"), dialect)})`,
);

const keyOf = ({ category, email }: NewEmail) => `${emailTypeOf[category]} ${emailKeyOf(email)}`;

/** Finds the types and addresses of emails whose recipients do not want them. */
async function findUnsubscribed(
  emails: readonly NewEmail[],
  accountId: number,
  { transaction, dialect }: Context,
): Promise<ReadonlySet<string>> {
  const distinct = new Map(
    emails.map((email) => [keyOf(email), [emailTypeOf[email.category], emailKeyOf(email.email)]]),
  );
  const found = await selectUnsubscribers(transaction, dialect, {
    accountId,
    rows: JSON.stringify([...distinct.values()]),
  });
  const stopping = found.rows.filter(
    ({ by_name, email_type_id }) => by_name !== actorNames.user || isStoppedByRecipient(email_type_id),
  );
  return new Set(stopping.map(({ email_type_id, email_key }) => `${email_type_id} ${email_key}`));
}

type Unsubscriber = Pick<Row<"unsubscribers">, "email_type_id" | "email_key" | "by_name">;

const selectUnsubscribers = createStatement<{ accountId: number; rows: string }, Unsubscriber>(
  (slot, dialect) => sql`
    select unsubscribers.email_type_id, unsubscribers.email_key, unsubscribers.by_name
    from ${batchOf({ email_type_id: "integer", email_key: "text" }, slot("rows"), dialect)}
    cross join unsubscribers
    where unsubscribers.account_id = ${slot("accountId")} and unsubscribers.email_type_id = batch.email_type_id
      and unsubscribers.email_key = batch.email_key`,
);

/**
 * Adds events to the outbox of webhooks, each with one delivery per webhook of the account. All deliveries of an event have
 * the same event ID, so that receivers can detect repeats. The body is fixed at this time, for all attempts.
 * @param readData returns the data of each event; called only if the account has a webhook for such events
 * @throws ServiceError `invalidParams` if there are too many deliveries
 */
export async function queueWebhookEvents(
  event: WebhookEvent,
  readData: () => Promise<readonly Readonly<Record<string, unknown>>[]>,
  accountId: number,
  context: EventContext,
): Promise<void> {
  const webhooks = await findReceivers(event, accountId, context);
  if (webhooks.length === 0) return;
  const bodies = (await readData()).map((data) => JSON.stringify({ event, data }));
  const count = bodies.length * webhooks.length;
  if (count > maxDeliveriesPerCall) {
    const problem = `the call would queue ${count} webhook deliveries; at most ${maxDeliveriesPerCall} are allowed per call`;
    throw new ServiceError("invalidParams", problem);
  }
  const eventsAtOnce = Math.ceil(deliveriesAtOnce / webhooks.length);
  for (let at = 0; at < bodies.length; at += eventsAtOnce) {
    await queueDeliveries(event, bodies.slice(at, at + eventsAtOnce), webhooks, { accountId, ...context });
  }
}

/** Queues a sample event, marked as a test. Returns one delivery for each webhook that receives such events. */
export async function queueTestEvent(
  event: WebhookEvent,
  data: Readonly<Record<string, unknown>>,
  accountId: number,
  context: EventContext,
) {
  const webhooks = await findReceivers(event, accountId, context);
  if (webhooks.length === 0) return [];
  const body = JSON.stringify({ event, test: true, data });
  const rows = await queueDeliveries(event, [body], webhooks, { accountId, ...context });
  return rows.map(({ id: deliveryId, webhook_row, event_id }) => ({
    id: deliveryId,
    event_id,
    webhook_id: webhook_row,
    url: webhooks.find(({ id }) => id === webhook_row)?.url ?? "",
  }));
}

function findReceivers(event: WebhookEvent, accountId: number, { transaction }: EventContext) {
  return findRows(
    "webhooks",
    ["id", "url", "held_until"],
    { account_id: accountId, event_name: event },
    { transaction },
    "id",
  );
}

async function queueDeliveries(
  event: WebhookEvent,
  bodies: readonly string[],
  webhooks: Awaited<ReturnType<typeof findReceivers>>,
  { accountId, transaction, dialect, nowMs, random }: EventContext & { readonly accountId: number },
) {
  const deliveries = bodies.flatMap((body) => {
    const eventId = `evt_${random(16).toString("hex")}`;
    return webhooks.map(({ id, held_until }) => [id, eventId, event, body, Math.max(nowMs, held_until ?? 0)]);
  });
  const { rows } = await insertDeliveries(transaction, dialect, {
    accountId,
    nowMs,
    rows: JSON.stringify(deliveries),
  });
  await noteDue("deliveries_due_at", accountId, { transaction, dialect, nowMs });
  return rows;
}

/** Deliveries that one statement inserts, which other calls wait for. */
const deliveriesAtOnce = 500;

const deliveryColumns = ["webhook_row", "event_id", "event_name", "body", "due_at"] as const;

type QueuedDelivery = Pick<Row<"webhook_deliveries">, "id" | "webhook_row" | "event_id">;

const insertDeliveries = createStatement<{ accountId: number; nowMs: number; rows: string }, QueuedDelivery>(
  (slot, dialect) => sql`
    insert into webhook_deliveries
      (account_id, created_at, state, ${sql.join(deliveryColumns.map((name) => sql.ref(name)))})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), 'queued',
      ${sql.join(deliveryColumns.map((name) => sql.ref(`batch.${name}`)))}
    from ${batchOf(batchColumns("webhook_deliveries", deliveryColumns), slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    returning id, webhook_row, event_id`,
);

/** Returns whether the account of the call has any webhook. */
export async function hasWebhooks(context: HandlerContext): Promise<boolean> {
  return (await findRow("webhooks", ["id"], {}, context)) !== undefined;
}

/** Emails about a text that was hidden or deleted. */
interface Withdrawal {
  readonly accountId: number;
  /** Addresses that may have been notified. */
  readonly recipients: readonly string[];
  readonly categories: readonly EmailCategory[];
  /** The field of the email's data that identifies the record, and its value. */
  readonly record: readonly [field: string, id: number];
  /** The fields of the email's data that contain the text. */
  readonly texts: readonly string[];
}

const rule = "stopped_by_hand" satisfies EmailRuleName;

/**
 * Cancels queued emails about a text that was hidden or deleted, and removes the text from them.
 * @returns whether there were any
 */
export async function withdrawEmails(
  { accountId, recipients, categories, record: [field, id], texts }: Withdrawal,
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<boolean> {
  const { transaction, dialect } = context;
  const keys = recipients.map(emailKeyOf);
  const queued = await transaction
    .selectFrom("mails")
    .select(["id", "category", "data"])
    .where("account_id", "=", accountId)
    .where("email_key", "in", keys)
    .where("sent_at", "is", null)
    .where("category", "in", categories)
    .where(dialect.withoutIndex(sql.ref("state")), "=", "queued")
    // Otherwise, it may have been sent.
    .where("worker", "is", null)
    .execute();
  const withdrawn = queued.flatMap((email) => {
    const data = JSON.parse(email.data) as Record<string, unknown>;
    return data[field] === id ? [{ ...email, data }] : [];
  });
  for (const email of withdrawn) {
    for (const name of texts) if (Object.hasOwn(email.data, name)) email.data[name] = "";
    await transaction
      .updateTable("mails")
      .set({ state: "not_sent", reason: rule, data: JSON.stringify(email.data) })
      .where("account_id", "=", accountId)
      .where("id", "=", email.id)
      .execute();
  }
  const events = withdrawn.map((email) => {
    const subject = { accountId, mailId: email.id, category: email.category as EmailCategory };
    return { ...subject, event: "not_sent" as const, detail: rule };
  });
  await recordEmailEvents(events, context);
  return withdrawn.length > 0;
}
