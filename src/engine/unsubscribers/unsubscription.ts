import { actorNames, type EmailCategory, emailTypes, unsubscribeTypeOf } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import type { Row } from "../../storage/tables.ts";
import { recordEmailEvent } from "../kernel/email-log.ts";
import type { Claim, LinkAction } from "../kernel/signed-link.ts";
import { nameEmailType } from "../../contract/emails/type-names.ts";
import { queueWebhookEvents } from "../kernel/outbox.ts";
import { iso } from "../kernel/times.ts";
import { batchRows } from "../../storage/batch.ts";

/**
 * Finds what the unsubscribe link of an email does: unsubscribe its address from emails of its type, or from review
 * requests if the type cannot be stopped (see `isStoppedByRecipient`).
 * Assumed: an address that the store had unsubscribed then counts as unsubscribed by its owner.
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
      const event = { accountId, mailId: id, event: "unsubscribed" } as const;
      await recordEmailEvent({ ...event, category: category as EmailCategory }, context);
    },
  };
}

/** Unsubscribes an address on behalf of its owner. */
export async function unsubscribe(
  address: Address & { readonly account_id: number },
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

type Address = Pick<Row<"unsubscribers">, "email_type_id" | "email" | "email_key">;

/** Queues a webhook event for each address that is not unsubscribed yet. Called before the addresses are stored. */
export async function announceUnsubscriptions(
  addresses: readonly Address[],
  { accountId, byName }: { readonly accountId: number; readonly byName: string },
  context: HandlerContext,
): Promise<void> {
  const readData = async () => {
    const keys = addresses.map(({ email_type_id, email_key }) => [email_type_id, email_key]);
    const batch = batchRows<Pick<Address, "email_type_id" | "email_key">>(
      { email_type_id: "integer", email_key: "text" },
      keys,
      context.dialect,
    );
    // The cross join makes the batch the outer loop; SQLite would otherwise search it for each stored address.
    const stored = await context.transaction
      .selectFrom(batch)
      .crossJoin("unsubscribers")
      .where("unsubscribers.account_id", "=", accountId)
      .whereRef("unsubscribers.email_type_id", "=", "batch.email_type_id")
      .whereRef("unsubscribers.email_key", "=", "batch.email_key")
      .select(["unsubscribers.email_type_id", "unsubscribers.email_key"])
      .execute();
    const known = new Set(stored.map(({ email_type_id, email_key }) => `${email_type_id} ${email_key}`));
    const added = new Map(addresses.map((address) => [`${address.email_type_id} ${address.email_key}`, address]));
    return [...added]
      .filter(([key]) => !known.has(key))
      .map(([, { email, email_type_id }]) => ({
        email,
        email_type_id,
        email_type: nameEmailType(email_type_id),
        unsubscribed_by: byName,
        created_at: iso(context.nowMs),
      }));
  };
  await queueWebhookEvents("unsubscribed", readData, accountId, context);
}
