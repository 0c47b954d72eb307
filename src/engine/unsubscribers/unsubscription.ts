import { actorNames, emailTypes, type EmailCategory } from "../../contract/index.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { recordEmailEvent } from "../kernel/email-log.ts";
import type { Claim, LinkAction } from "../kernel/signed-link.ts";

/**
 * Finds what the unsubscribe link of an email does: unsubscribe its address from emails of its type.
 * Assumed: an address that the store had unsubscribed then counts as unsubscribed by its owner, which the store cannot
 * undo.
 */
export async function findUnsubscription(
  { id, accountId }: Claim,
  context: HandlerContext,
): Promise<LinkAction | undefined> {
  const mail = await context.transaction
    .selectFrom("mails")
    .leftJoin("unsubscribers", (join) =>
      join
        .onRef("unsubscribers.account_id", "=", "mails.account_id")
        .onRef("unsubscribers.email_type_id", "=", "mails.email_type_id")
        .onRef("unsubscribers.email_key", "=", "mails.email_key"),
    )
    .select(["mails.category", "mails.email_type_id", "mails.email", "mails.email_key", "unsubscribers.by_name"])
    .where("mails.id", "=", id)
    .where("mails.account_id", "=", accountId)
    .executeTakeFirst();
  if (!mail) return undefined;
  const { by_name, category, ...address } = mail;
  return {
    state: by_name === actorNames.user ? "done" : "ready",
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
  { transaction, nowMs }: HandlerContext,
): Promise<void> {
  await transaction
    .insertInto("unsubscribers")
    .values({ ...address, by_name: actorNames.user, created_at: nowMs })
    .onConflict((conflict) =>
      conflict.columns(["account_id", "email_type_id", "email_key"]).doUpdateSet({ by_name: actorNames.user }),
    )
    .execute();
}
