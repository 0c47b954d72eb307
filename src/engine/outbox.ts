import { type MailCategory, type MailCounter, type WebhookEvent } from "../contract/index.ts";
import type { HandlerContext } from "./handler.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs" | "random">;

const dayMs = 86_400_000;

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
 * Puts a mail into the outbox, in the call's transaction; it counts as a request of its category.
 * Assumed: an address that is unsubscribed from the mail's type gets none, and the call says nothing of it.
 * @returns whether the mail was queued
 */
export async function queueMail(mail: NewMail, context: Context): Promise<boolean> {
  const email_key = mail.email.toLowerCase();
  const unsubscribed = await context.transaction
    .selectFrom("unsubscribers")
    .select("id")
    .where("account_id", "=", mail.accountId)
    .where("email_type_id", "=", mail.emailTypeId)
    .where("email_key", "=", email_key)
    .executeTakeFirst();
  if (unsubscribed) return false;
  await context.transaction
    .insertInto("mails")
    .values({
      account_id: mail.accountId,
      category: mail.category,
      email_type_id: mail.emailTypeId,
      email: mail.email,
      email_key,
      name: mail.name,
      data: JSON.stringify(mail.data),
      state: "queued",
      due_at: context.nowMs,
      created_at: context.nowMs,
    })
    .execute();
  await countMail({ accountId: mail.accountId, category: mail.category, counter: "requests" }, context);
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
      day: Math.floor(nowMs / dayMs),
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

/** Puts an event into the outbox of webhooks, one delivery for each subscription of the account. */
export async function queueEvent(
  event: WebhookEvent,
  data: Readonly<Record<string, unknown>>,
  accountId: number,
  { transaction, nowMs, random }: Context,
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
