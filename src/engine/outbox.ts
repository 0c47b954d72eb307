import type { MailCategory, MailCounter, WebhookEvent } from "../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import { linkUrl } from "./mail-links.ts";
import { dayOf } from "./times.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;
type MailContext = Context & Pick<HandlerContext, "sealer" | "publicUrl">;
type EventContext = Context & Pick<HandlerContext, "random">;

/** A mail to be sent. */
export interface NewMail {
  readonly accountId: number;
  readonly category: MailCategory;
  /** What the address could have unsubscribed from. */
  readonly emailTypeId: number;
  readonly email: string;
  readonly name: string;
  /** What the mail says, by its category. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Puts a mail into the outbox, in the call's transaction, with a link to unsubscribe as `unsubscribe_url` of its data;
 * it counts as a request of its category.
 * Assumed: an address that is unsubscribed from the mail's type gets none, which counts as `repeat_unsubscribes`, and
 * the call says nothing of it.
 * @returns whether the mail was queued
 */
export async function queueMail(mail: NewMail, context: MailContext): Promise<boolean> {
  const { accountId, category, emailTypeId } = mail;
  const email_key = mail.email.toLowerCase();
  const unsubscribed = await context.transaction
    .selectFrom("unsubscribers")
    .select("id")
    .where("account_id", "=", accountId)
    .where("email_type_id", "=", emailTypeId)
    .where("email_key", "=", email_key)
    .executeTakeFirst();
  if (unsubscribed) {
    await countMail({ accountId, category, counter: "repeat_unsubscribes" }, context);
    return false;
  }
  const { id } = await context.transaction
    .insertInto("mails")
    .values({
      account_id: accountId,
      category,
      email_type_id: emailTypeId,
      email: mail.email,
      email_key,
      name: mail.name,
      data: "{}",
      state: "queued",
      due_at: context.nowMs,
      created_at: context.nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  // The link names the mail, whose id is known only now.
  const data = { ...mail.data, unsubscribe_url: linkUrl("unsubscribe", id, accountId, context) };
  await context.transaction
    .updateTable("mails")
    .set({ data: JSON.stringify(data) })
    .where("id", "=", id)
    .execute();
  await countMail({ accountId, category, counter: "requests" }, context);
  return true;
}

/** Adds one to a counter of a category's statistics, on the day of the call. */
export async function countMail(
  counted: { readonly accountId: number; readonly category: MailCategory; readonly counter: MailCounter },
  { transaction, nowMs }: Context,
): Promise<void> {
  await transaction
    .insertInto("mail_counts")
    .values({
      account_id: counted.accountId,
      category: counted.category,
      day: dayOf(nowMs),
      counter: counted.counter,
      mails: 1,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "category", "day", "counter"])
        .doUpdateSet((eb) => ({ mails: eb("mail_counts.mails", "+", 1) })),
    )
    .execute();
}

/**
 * Counts that a mail's link was followed.
 * Assumed: one that is followed again, which changes nothing, counts no second time.
 */
export async function countClick(
  counted: { readonly accountId: number; readonly category: MailCategory },
  context: Context,
): Promise<void> {
  await countMail({ ...counted, counter: "clicks" }, context);
  await countMail({ ...counted, counter: "unique_clicks" }, context);
}

/**
 * Puts an event into the outbox of webhooks, one delivery for each subscription of the account. All of them have one
 * event id, so that a receiver can tell a repeat from a new event.
 */
export async function queueEvent(
  event: WebhookEvent,
  data: Readonly<Record<string, unknown>>,
  accountId: number,
  { transaction, nowMs, random }: EventContext,
): Promise<void> {
  const subscribed = await transaction
    .selectFrom("webhooks")
    .select("id")
    .where("account_id", "=", accountId)
    .where("event_name", "=", event)
    .orderBy("id")
    .execute();
  if (subscribed.length === 0) return;
  const body = JSON.stringify({ event, data });
  const event_id = `evt_${random(16).toString("hex")}`;
  await transaction
    .insertInto("webhook_deliveries")
    .values(
      subscribed.map(({ id }) => ({
        account_id: accountId,
        webhook_row: id,
        event_id,
        event_name: event,
        body,
        state: "queued",
        due_at: nowMs,
        created_at: nowMs,
      })),
    )
    .execute();
}
