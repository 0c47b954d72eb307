import {
  emailTypeOf,
  type EmailCategory,
  type EmailLinkKind,
  type WebhookEvent,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "./handler.ts";
import { recordEmailEvent } from "./email-log.ts";
import { linkUrl } from "./email-links.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;
type EmailContext = Context & Pick<HandlerContext, "sealer" | "publicUrl">;
type EventContext = Context & Pick<HandlerContext, "random">;

/** A mail to be sent. */
export interface NewEmail {
  readonly accountId: number;
  readonly category: EmailCategory;
  readonly email: string;
  readonly name: string;
  /** What the mail says, by its category; `link` makes the address of a link: about a row, or about the mail itself. */
  readonly data: (link: (kind: EmailLinkKind, id?: number) => string) => Readonly<Record<string, unknown>>;
}

/**
 * Puts a mail into the outbox, in the call's transaction, with a link to unsubscribe as `unsubscribe_url` of its data;
 * it counts as a request of its category.
 * Assumed: an address that is unsubscribed from the mail's type gets none, which counts as `repeat_unsubscribes`, and
 * the call says nothing of it; the mail is kept with its reason.
 * @returns whether the mail was queued
 */
export async function queueEmail(mail: NewEmail, context: EmailContext): Promise<boolean> {
  const { accountId, category } = mail;
  const email_key = mail.email.toLowerCase();
  const obstacle = (await isUnsubscribed(mail, context)) ? "unsubscribed" : null;
  const { id: mailId } = await context.transaction
    .insertInto("mails")
    .values({
      account_id: accountId,
      category,
      email_type_id: emailTypeOf[category],
      email: mail.email,
      email_key,
      name: mail.name,
      data: "{}",
      state: obstacle === null ? "queued" : "not_sent",
      reason: obstacle,
      due_at: context.nowMs,
      created_at: context.nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  // The links name the mail, whose id is known only now.
  const link = (kind: EmailLinkKind, id = mailId) => linkUrl({ kind, id, accountId, mailId }, context);
  const data = { ...mail.data(link), unsubscribe_url: link("unsubscribe") };
  await context.transaction
    .updateTable("mails")
    .set({ data: JSON.stringify(data) })
    .where("id", "=", mailId)
    .execute();
  const event = obstacle === null ? "requested" : "dropped_unsubscribed";
  await recordEmailEvent({ accountId, mailId, category, event }, context);
  return obstacle === null;
}

async function isUnsubscribed(
  { accountId, category, email }: NewEmail,
  { transaction }: Context,
): Promise<boolean> {
  const found = await transaction
    .selectFrom("unsubscribers")
    .select("id")
    .where("account_id", "=", accountId)
    .where("email_type_id", "=", emailTypeOf[category])
    .where("email_key", "=", email.toLowerCase())
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Puts an event into the outbox of webhooks, one delivery for each subscription of the account. All of them have one
 * event id, so that a receiver can tell a repeat from a new event. What is sent is fixed now, for all attempts.
 * @param readData asked only where somebody is subscribed
 */
export async function queueWebhookEvent(
  event: WebhookEvent,
  readData: () => Promise<Readonly<Record<string, unknown>>>,
  accountId: number,
  { transaction, nowMs, random }: EventContext,
): Promise<void> {
  const subscribed = await transaction
    .selectFrom("webhooks")
    .select(["id", "held_until"])
    .where("account_id", "=", accountId)
    .where("event_name", "=", event)
    .orderBy("id")
    .execute();
  if (subscribed.length === 0) return;
  const body = JSON.stringify({ event, data: await readData() });
  const event_id = `evt_${random(16).toString("hex")}`;
  await transaction
    .insertInto("webhook_deliveries")
    .values(
      subscribed.map(({ id, held_until }) => ({
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

/** Whether the account of a call has a subscription to any event. */
export async function hasWebhooks(context: HandlerContext): Promise<boolean> {
  const found = await context.transaction
    .selectFrom("webhooks")
    .select("id")
    .where("account_id", "=", accountOf(context).id)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
