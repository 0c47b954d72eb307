import { announceUnsubscriptions } from "./unsubscription-announcement.ts";
import { actorNames, emailTypes, type EmailCategory, unsubscribeTypeOf } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { recordEmailEvent } from "../kernel/email-log.ts";
import type { Claim, LinkAction } from "../kernel/signed-link.ts";

/**
 * Finds what the unsubscribe link of an email does: unsubscribe its address from emails of its type, or from review
 * requests if the type cannot be stopped (see `isStoppedByRecipient`).
 * Assumed: an address that the store had unsubscribed then counts as unsubscribed by its owner, which the store cannot
 * undo.
 */
export async function findUnsubscription(
  { id, accountId }: Claim,
  context: HandlerContext,
): Promise<LinkAction | undefined> {
  const mail = await selectAccountRows("mails", accountId, context.transaction)
    .select(["category", "email_type_id", "email", "email_key"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!mail) return undefined;
  const { category, ...recipient } = mail;
  const address = { ...recipient, email_type_id: unsubscribeTypeOf(recipient.email_type_id) };
  const unsubscriber = await selectAccountRows("unsubscribers", accountId, context.transaction)
    .select("by_name")
    .where("email_type_id", "=", address.email_type_id)
    .where("email_key", "=", address.email_key)
    .executeTakeFirst();
  return {
    state: unsubscriber?.by_name === actorNames.user ? "done" : "ready",
    about: address.email,
    detail: emailTypes[address.email_type_id as keyof typeof emailTypes],
    follow: async () => {
      await unsubscribe({ ...address, account_id: accountId }, context);
      const noted = {
        accountId,
        mailId: id,
        category: category as EmailCategory,
        event: "unsubscribed",
      } as const;
      await recordEmailEvent(noted, context);
    },
  };
}

/** Unsubscribes an address on behalf of its owner. */
export async function unsubscribe(
  address: {
    readonly account_id: number;
    readonly email_type_id: number;
    readonly email: string;
    readonly email_key: string;
  },
  context: HandlerContext,
): Promise<void> {
  const { transaction, nowMs } = context;
  await announceUnsubscriptions([address], { accountId: address.account_id, byName: actorNames.user }, context);
  await transaction
    .insertInto("unsubscribers")
    .values({ ...address, by_name: actorNames.user, created_at: nowMs })
    .onConflict((conflict) =>
      conflict.columns(["account_id", "email_type_id", "email_key"]).doUpdateSet({ by_name: actorNames.user }),
    )
    .execute();
}
