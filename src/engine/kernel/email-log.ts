import {
  countersOf,
  type EmailCategory,
  type EmailCounter,
  type EmailEventName,
} from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import { dayOf } from "./times.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** Something that happened to a mail. */
export interface EmailEvent {
  readonly accountId: number;
  readonly mailId: number;
  readonly category: EmailCategory;
  readonly event: EmailEventName;
  /** What tells a repeat from a new event of this name; where absent, it happens to a mail once. */
  readonly key?: string | undefined;
  readonly detail?: string | undefined;
  /** Milliseconds; now where absent. */
  readonly occurredAtMs?: number | undefined;
}

/** Events that one statement stores: SQLite takes 32,766 values in one. */
const chunkSize = 500;

/** Longest detail that is kept, in characters: what a server answers is as long as it likes. */
const longestDetail = 1_000;

/**
 * Stores an event and counts it, unless it is there already.
 * Assumed: an event is counted on the day, UTC, on which it happened, and what is counted once a mail on the day of the
 * earliest, so that the order in which events arrive changes no number.
 * @returns whether it is new
 */
export async function recordEmailEvent(noted: EmailEvent, context: Context): Promise<boolean> {
  return (await recordEmailEvents([noted], context)).length === 1;
}

/**
 * `recordEmailEvent` for many at once.
 * @returns those that are new, each of them once
 */
export async function recordEmailEvents(
  noted: readonly EmailEvent[],
  context: Context,
): Promise<readonly EmailEvent[]> {
  // The first of those that are the same.
  const byKey = new Map(noted.toReversed().map((event) => [`${event.accountId} ${keyOf(event)}`, event]));
  const distinct = [...byKey.values()].toReversed();
  const fresh: EmailEvent[] = [];
  for (let at = 0; at < distinct.length; at += chunkSize) {
    fresh.push(...(await noteChunk(distinct.slice(at, at + chunkSize), context)));
  }
  return fresh;
}

/**
 * Notes that a mail's link was followed, by what was done there: scanners open every link, and do nothing.
 * Assumed: this counts once a mail, and not where clicks are tracked and one was noted on the way there; nor for a mail
 * from before links named theirs.
 */
export async function recordClick(
  {
    mailId,
    ...clicked
  }: Pick<EmailEvent, "accountId" | "category"> & { readonly mailId: number | undefined },
  context: Context,
): Promise<void> {
  if (mailId === undefined) return;
  const noted = await context.transaction
    .selectFrom("mail_events")
    .select("id")
    .where("mail_row", "=", mailId)
    .where("event", "=", "clicked")
    .limit(1)
    .executeTakeFirst();
  if (!noted) await recordEmailEvent({ ...clicked, mailId, event: "clicked" }, context);
}

async function noteChunk(events: readonly EmailEvent[], context: Context): Promise<readonly EmailEvent[]> {
  const earliest = await findEarliest(events, context);
  const stored = await insertEvents(events, context);
  const fresh = events.filter((event) => stored.has(`${event.accountId} ${keyOf(event)}`));
  const counts = new CountChanges();
  for (const event of fresh) countEvent(event, { counts, earliest, nowMs: context.nowMs });
  await addCounts(counts.list(), context);
  return fresh;
}

function keyOf({ mailId, event, key }: EmailEvent): string {
  return key === undefined ? `${mailId}:${event}` : `${mailId}:${event}:${key}`;
}

/** When the first event of a kind happened to a mail, by mail and kind. */
type Earliest = Map<string, number>;

async function findEarliest(events: readonly EmailEvent[], { transaction }: Context): Promise<Earliest> {
  const counted = events.filter(({ event }) => countersOf[event]?.first !== undefined);
  if (counted.length === 0) return new Map();
  const found = await transaction
    .selectFrom("mail_events")
    .select(({ fn }) => ["mail_row", "event", fn.min<number | bigint>("occurred_at").as("first_at")])
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
      events.map((noted) => ({
        account_id: noted.accountId,
        mail_row: noted.mailId,
        event: noted.event,
        event_key: keyOf(noted),
        detail: noted.detail === undefined ? null : toDetail(noted.detail),
        occurred_at: noted.occurredAtMs ?? nowMs,
        created_at: nowMs,
      })),
    )
    .onConflict((conflict) => conflict.columns(["account_id", "event_key"]).doNothing())
    .returning(["account_id", "event_key"])
    .execute();
  return new Set(stored.map(({ account_id, event_key }) => `${account_id} ${event_key}`));
}

/** As every database can keep it. */
export function toDetail(text: string): string {
  return text.slice(0, longestDetail).toWellFormed().replaceAll("\0", " ");
}

function countEvent(
  { accountId, mailId, category, event, occurredAtMs }: EmailEvent,
  {
    counts,
    earliest,
    nowMs,
  }: { readonly counts: CountChanges; readonly earliest: Earliest; readonly nowMs: number },
): void {
  const counted = countersOf[event];
  if (!counted) return;
  const atMs = occurredAtMs ?? nowMs;
  const add = (counter: EmailCounter, ms: number, mails: 1 | -1) =>
    counts.add({ accountId, category, counter, day: dayOf(ms) }, mails);
  if (counted.each) add(counted.each, atMs, 1);
  if (!counted.first) return;
  const mark = `${mailId}:${event}`;
  const firstMs = earliest.get(mark);
  if (firstMs !== undefined && firstMs <= atMs) return;
  if (firstMs !== undefined) add(counted.first, firstMs, -1);
  add(counted.first, atMs, 1);
  earliest.set(mark, atMs);
}

interface CountPlace {
  readonly accountId: number;
  readonly category: EmailCategory;
  readonly day: number;
  readonly counter: EmailCounter;
}

/** What is to be added to the counts, one number for each. */
class CountChanges {
  readonly #changes = new Map<string, { place: CountPlace; mails: number }>();

  add(place: CountPlace, mails: number): void {
    const key = `${place.accountId} ${place.category} ${place.day} ${place.counter}`;
    const held = this.#changes.get(key);
    if (held) held.mails += mails;
    else this.#changes.set(key, { place, mails });
  }

  list(): readonly { readonly place: CountPlace; readonly mails: number }[] {
    return [...this.#changes.values()].filter(({ mails }) => mails !== 0);
  }
}

async function addCounts(changes: ReturnType<CountChanges["list"]>, { transaction }: Context): Promise<void> {
  if (changes.length === 0) return;
  await transaction
    .insertInto("mail_counts")
    .values(
      changes.map(({ place: { accountId, category, day, counter }, mails }) => ({
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
