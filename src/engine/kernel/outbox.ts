import {
  actorNames,
  type EmailLinkKind,
  emailTypeOf,
  isStoppedByRecipient,
  type SentEmailCategory,
  type WebhookEvent,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "./handler.ts";
import { recordEmailEvent } from "./email-log.ts";
import { linkUrl } from "./email-links.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;
type EmailContext = Context & Pick<HandlerContext, "sealer" | "publicUrl">;
type EventContext = Context & Pick<HandlerContext, "random">;

export interface NewEmail {
  readonly accountId: number;
  readonly category: SentEmailCategory;
  readonly email: string;
  readonly name: string;
  /** Template data of the category. `link` creates a link to a row, or to the email itself. */
  readonly data: (link: (kind: EmailLinkKind, id?: number) => string) => Readonly<Record<string, unknown>>;
}

/**
 * Adds an email to the outbox in the transaction of the call and counts it as a request of its category. Adds an
 * unsubscribe link to its data, as `unsubscribe_url`.
 * Assumed: if the address is unsubscribed from the type of email, the email is stored as not sent, with the reason, and
 * counts as `repeat_unsubscribes`; this is not an error.
 * @returns whether the email was queued
 */
export async function queueEmail(email: NewEmail, context: EmailContext): Promise<boolean> {
  const { accountId, category } = email;
  const email_key = email.email.toLowerCase();
  const rule = (await isUnsubscribed(email, context)) ? "unsubscribed" : null;
  const { id: mailId } = await context.transaction
    .insertInto("mails")
    .values({
      account_id: accountId,
      category,
      email_type_id: emailTypeOf[category],
      email: email.email,
      email_key,
      name: email.name,
      data: "{}",
      state: rule === null ? "queued" : "not_sent",
      reason: rule,
      due_at: context.nowMs,
      created_at: context.nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  // The links contain the ID of the email.
  const link = (kind: EmailLinkKind, id = mailId) => linkUrl({ kind, id, accountId, mailId }, context);
  const data = { ...email.data(link), unsubscribe_url: link("unsubscribe") };
  await context.transaction
    .updateTable("mails")
    .set({ data: JSON.stringify(data) })
    .where("id", "=", mailId)
    .execute();
  const event = rule === null ? "requested" : "dropped_unsubscribed";
  await recordEmailEvent({ accountId, mailId, category, event }, context);
  return rule === null;
}

async function isUnsubscribed({ accountId, category, email }: NewEmail, { transaction }: Context): Promise<boolean> {
  const found = await transaction
    .selectFrom("unsubscribers")
    .select("by_name")
    .where("account_id", "=", accountId)
    .where("email_type_id", "=", emailTypeOf[category])
    .where("email_key", "=", email.toLowerCase())
    .executeTakeFirst();
  return found !== undefined && (found.by_name !== actorNames.user || isStoppedByRecipient(emailTypeOf[category]));
}

/**
 * Adds an event to the outbox of webhooks, with one delivery per webhook of the account. All deliveries have the same event
 * ID, so that receivers can detect repeats. The body is fixed at this time, for all attempts.
 * @param readData called only if the account has a webhook for the event
 */
export async function queueWebhookEvent(
  event: WebhookEvent,
  readData: () => Promise<Readonly<Record<string, unknown>>>,
  accountId: number,
  { transaction, nowMs, random }: EventContext,
): Promise<void> {
  const webhooks = await transaction
    .selectFrom("webhooks")
    .select(["id", "held_until"])
    .where("account_id", "=", accountId)
    .where("event_name", "=", event)
    .orderBy("id")
    .execute();
  if (webhooks.length === 0) return;
  const body = JSON.stringify({ event, data: await readData() });
  const event_id = `evt_${random(16).toString("hex")}`;
  await transaction
    .insertInto("webhook_deliveries")
    .values(
      webhooks.map(({ id, held_until }) => ({
        account_id: accountId,
        webhook_row: id,
        event_id,
        event_name: event,
        body,
        state: "queued",
        due_at: Math.max(nowMs, held_until ?? 0),
        created_at: nowMs,
      })),
    )
    .execute();
}

/** Returns whether the account of the call has any webhook. */
export async function hasWebhooks(context: HandlerContext): Promise<boolean> {
  const found = await context.transaction
    .selectFrom("webhooks")
    .select("id")
    .where("account_id", "=", accountOf(context).id)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
