import { sql } from "kysely";
import {
  countersOf,
  type EmailCategory,
  type EmailCounter,
  type EmailEventName,
  undeliveredEvents,
} from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "./handler.ts";
import { dayOf } from "./times.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** An event in the history of an email. */
export interface EmailEvent {
  readonly accountId: number;
  readonly mailId: number;
  readonly category: EmailCategory;
  readonly event: EmailEventName;
  /** Distinguishes events of the same name. If absent, the event happens only once per email. */
  readonly key?: string | undefined;
  readonly detail?: string | undefined;
  /** In milliseconds (default: now). */
  readonly occurredAtMs?: number | undefined;
}

/** Events per statement. SQLite allows 32,766 values in one statement. */
const chunkSize = 500;

/** Maximum length of a stored detail, in characters. Server responses can be arbitrarily long. */
const maxDetailLength = 1_000;

/**
 * Stores and counts an event, unless it is already stored.
 * Assumed: an event counts on its day in UTC. Counters that increase once per email use the day of the earliest event, so
 * that the result does not depend on the order in which events arrive.
 * @returns whether the event is new
 */
export async function recordEmailEvent(event: EmailEvent, context: Context): Promise<boolean> {
  return (await recordEmailEvents([event], context)).length === 1;
}

/**
 * Stores and counts several events, like `recordEmailEvent`.
 * @returns the new events, without duplicates
 */
export async function recordEmailEvents(
  events: readonly EmailEvent[],
  context: Context,
): Promise<readonly EmailEvent[]> {
  // Keeps the first of several equal events.
  const byKey = new Map(events.toReversed().map((event) => [`${event.accountId} ${keyOf(event)}`, event]));
  const distinct = [...byKey.values()].toReversed();
  const added: EmailEvent[] = [];
  for (let start = 0; start < distinct.length; start += chunkSize) {
    added.push(...(await recordChunk(distinct.slice(start, start + chunkSize), context)));
  }
  return added;
}

/**
 * Records a click when the recipient performs the action of a link. Opening the link is not enough, because scanners open
 * every link.
 * Assumed: this counts once per email, and only if no tracked click was recorded. Links from older versions, which do not
 * contain the email ID, are not counted.
 */
export async function recordClick(
  { mailId, ...click }: Pick<EmailEvent, "accountId" | "category"> & { readonly mailId: number | undefined },
  context: Context,
): Promise<void> {
  if (mailId === undefined) return;
  const existing = await context.transaction
    .selectFrom("mail_events")
    .select("id")
    .where("account_id", "=", click.accountId)
    .where("mail_row", "=", mailId)
    .where("event", "=", "clicked")
    .limit(1)
    .executeTakeFirst();
  if (!existing) await recordEmailEvent({ ...click, mailId, event: "clicked" }, context);
}

async function recordChunk(events: readonly EmailEvent[], context: Context): Promise<readonly EmailEvent[]> {
  const earliest = await findEarliest(events, context);
  const stored = await insertEvents(events, context);
  const added = events.filter((event) => stored.has(`${event.accountId} ${keyOf(event)}`));
  const counts = new CountChanges();
  const before = new Map(earliest);
  for (const event of added) countEvent(event, { counts, earliest, nowMs: context.nowMs });
  countDelivered(added, { counts, before, earliest });
  await addCounts(counts.list(), context);
  return added;
}

function keyOf({ mailId, event, key }: EmailEvent): string {
  return key === undefined ? `${mailId}:${event}` : `${mailId}:${event}:${key}`;
}

/** Time of the earliest event, by email and event name. */
type Earliest = Map<string, number>;

async function findEarliest(events: readonly EmailEvent[], { transaction, dialect }: Context): Promise<Earliest> {
  const counted = events.filter(({ event }) => countersOf[event]?.first !== undefined || undeliveredEvents.has(event));
  const earliest: Earliest = new Map();
  for (const [accountId, own] of groupByAccount(counted)) {
    const ids = [...new Set(own.map(({ mailId }) => mailId))];
    const found = await selectEarliest(transaction, dialect, { accountId, ids: JSON.stringify(ids.map((id) => [id])) });
    for (const { mail_row, event, first_at } of found.rows) earliest.set(`${mail_row}:${event}`, Number(first_at));
  }
  return earliest;
}

interface FirstEvent {
  readonly mail_row: number;
  readonly event: string;
  readonly first_at: number | bigint;
}

const selectEarliest = createStatement<{ accountId: number; ids: string }, FirstEvent>(
  (slot, dialect) => sql`
    select mail_events.mail_row, mail_events.event, min(mail_events.occurred_at) as first_at
    from ${batchOf<{ id: number }>({ id: "integer" }, slot("ids"), dialect)} cross join mail_events
    where mail_events.account_id = ${slot("accountId")} and mail_events.mail_row = batch.id
    group by mail_events.mail_row, mail_events.event`,
);

function groupByAccount<T extends { readonly accountId: number }>(elements: readonly T[]): ReadonlyMap<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const element of elements) groups.set(element.accountId, [...(groups.get(element.accountId) ?? []), element]);
  return groups;
}

async function insertEvents(
  events: readonly EmailEvent[],
  { transaction, dialect, nowMs }: Context,
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (const [accountId, own] of groupByAccount(events)) {
    const rows = own.map((event) => [
      event.mailId,
      event.event,
      keyOf(event),
      event.detail === undefined ? null : toDetail(event.detail),
      event.occurredAtMs ?? nowMs,
    ]);
    const inserted = await insertNew(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(rows) });
    for (const { event_key } of inserted.rows) stored.add(`${accountId} ${event_key}`);
  }
  return stored;
}

const eventColumns = {
  mail_row: "integer",
  event: "text",
  event_key: "text",
  detail: "text",
  occurred_at: "integer",
} as const;

const insertNew = createStatement<{ accountId: number; nowMs: number; rows: string }, { event_key: string }>(
  (slot, dialect) => sql`
    insert into mail_events (account_id, mail_row, event, event_key, detail, occurred_at, created_at)
    select cast(${slot("accountId")} as bigint), batch.mail_row, batch.event, batch.event_key, batch.detail,
      batch.occurred_at, cast(${slot("nowMs")} as bigint)
    from ${batchOf(eventColumns, slot("rows"), dialect)} where true
    on conflict (account_id, event_key) do nothing returning event_key`,
);

/** Returns a text that every database can store. */
export function toDetail(text: string): string {
  return text.slice(0, maxDetailLength).toWellFormed().replaceAll("\0", " ");
}

function countEvent(
  { accountId, mailId, category, event, occurredAtMs }: EmailEvent,
  { counts, earliest, nowMs }: { readonly counts: CountChanges; readonly earliest: Earliest; readonly nowMs: number },
): void {
  const { each, first } = countersOf[event] ?? {};
  const atMs = occurredAtMs ?? nowMs;
  const add = (counter: EmailCounter, ms: number, mails: 1 | -1) =>
    counts.add({ accountId, category, counter, day: dayOf(ms) }, mails);
  if (each) add(each, atMs, 1);
  const key = `${mailId}:${event}`;
  const firstMs = earliest.get(key);
  if (firstMs !== undefined && firstMs <= atMs) return;
  earliest.set(key, atMs);
  if (!first || event === "delivered") return;
  if (firstMs !== undefined) add(first, firstMs, -1);
  add(first, atMs, 1);
}

/** Counts emails as delivered while no event shows the opposite, in whatever order the events arrive. */
function countDelivered(
  events: readonly EmailEvent[],
  changes: { readonly counts: CountChanges; readonly before: Earliest; readonly earliest: Earliest },
): void {
  const affected = events.filter(({ event }) => event === "delivered" || undeliveredEvents.has(event));
  const emails = new Map(affected.map((event) => [event.mailId, event]));
  for (const { mailId, accountId, category } of emails.values()) {
    const add = (deliveredMs: number | undefined, mails: 1 | -1) => {
      if (deliveredMs === undefined) return;
      changes.counts.add({ accountId, category, counter: "delivered", day: dayOf(deliveredMs) }, mails);
    };
    add(findDelivery(mailId, changes.before), -1);
    add(findDelivery(mailId, changes.earliest), 1);
  }
}

/** Returns when an email was delivered, in milliseconds, unless it was not. */
function findDelivery(mailId: number, earliest: Earliest): number | undefined {
  const isUndelivered = [...undeliveredEvents].some((event) => earliest.has(`${mailId}:${event}`));
  return isUndelivered ? undefined : earliest.get(`${mailId}:delivered`);
}

interface CounterKey {
  readonly accountId: number;
  readonly category: EmailCategory;
  readonly day: number;
  readonly counter: EmailCounter;
}

/** Collects changes of counters, one sum per counter. */
class CountChanges {
  readonly #changes = new Map<string, { counter: CounterKey; mails: number }>();

  add(counter: CounterKey, mails: number): void {
    const key = `${counter.accountId} ${counter.category} ${counter.day} ${counter.counter}`;
    const change = this.#changes.get(key);
    if (change) change.mails += mails;
    else this.#changes.set(key, { counter, mails });
  }

  list(): readonly { readonly counter: CounterKey; readonly mails: number }[] {
    return [...this.#changes.values()].filter(({ mails }) => mails !== 0);
  }
}

async function addCounts(changes: ReturnType<CountChanges["list"]>, { transaction, dialect }: Context): Promise<void> {
  const counts = changes.map(({ counter, mails }) => ({ ...counter, mails }));
  for (const [accountId, own] of groupByAccount(counts)) {
    const rows = own.map(({ category, day, counter, mails }) => [category, day, counter, mails]);
    await addToCounts(transaction, dialect, { accountId, rows: JSON.stringify(rows) });
  }
}

const countColumns = { category: "text", day: "integer", counter: "text", mails: "integer" } as const;

const addToCounts = createDeferredStatement<{ accountId: number; rows: string }>(
  (slot, dialect) => sql`
    insert into mail_counts (account_id, category, day, counter, mails)
    select cast(${slot("accountId")} as bigint), batch.category, batch.day, batch.counter, batch.mails
    from ${batchOf(countColumns, slot("rows"), dialect)} where true
    on conflict (account_id, category, day, counter) do update set mails = mail_counts.mails + excluded.mails`,
);
