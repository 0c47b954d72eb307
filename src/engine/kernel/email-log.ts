import {
  countersOf,
  type EmailCategory,
  type EmailCounter,
  type EmailEventName,
  undeliveredEvents,
} from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import { dayOf } from "./times.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

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

async function findEarliest(events: readonly EmailEvent[], { transaction }: Context): Promise<Earliest> {
  const counted = events.filter(({ event }) => countersOf[event]?.first !== undefined || undeliveredEvents.has(event));
  if (counted.length === 0) return new Map();
  const found = await transaction
    .selectFrom("mail_events")
    .select(({ fn }) => ["mail_row", "event", fn.min<number | bigint>("occurred_at").as("first_at")])
    .where("account_id", "in", [...new Set(counted.map(({ accountId }) => accountId))])
    .where("mail_row", "in", [...new Set(counted.map(({ mailId }) => mailId))])
    .groupBy(["mail_row", "event"])
    .execute();
  return new Map(found.map(({ mail_row, event, first_at }) => [`${mail_row}:${event}`, Number(first_at)]));
}

async function insertEvents(
  events: readonly EmailEvent[],
  { transaction, nowMs }: Context,
): Promise<ReadonlySet<string>> {
  const stored = await transaction
    .insertInto("mail_events")
    .values(
      events.map((event) => ({
        account_id: event.accountId,
        mail_row: event.mailId,
        event: event.event,
        event_key: keyOf(event),
        detail: event.detail === undefined ? null : toDetail(event.detail),
        occurred_at: event.occurredAtMs ?? nowMs,
        created_at: nowMs,
      })),
    )
    .onConflict((conflict) => conflict.columns(["account_id", "event_key"]).doNothing())
    .returning(["account_id", "event_key"])
    .execute();
  return new Set(stored.map(({ account_id, event_key }) => `${account_id} ${event_key}`));
}

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

async function addCounts(changes: ReturnType<CountChanges["list"]>, { transaction }: Context): Promise<void> {
  if (changes.length === 0) return;
  await transaction
    .insertInto("mail_counts")
    .values(
      changes.map(({ counter: { accountId, category, day, counter }, mails }) => ({
        account_id: accountId,
        category,
        day,
        counter,
        mails,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "category", "day", "counter"])
        .doUpdateSet((eb) => ({ mails: eb("mail_counts.mails", "+", eb.ref("excluded.mails")) })),
    )
    .execute();
}
