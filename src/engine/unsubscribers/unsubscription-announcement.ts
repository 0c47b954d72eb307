import { nameEmailType } from "../../contract/emails/type-names.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { queueWebhookEvents } from "../kernel/outbox.ts";
import { iso } from "../kernel/times.ts";
import { batchRows } from "../../storage/batch.ts";

interface Address {
  readonly email_type_id: number;
  readonly email: string;
  readonly email_key: string;
}

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
    const stored = await selectAccountRows("unsubscribers", accountId, context.transaction)
      .innerJoin(batch, (join) =>
        join
          .onRef("unsubscribers.email_type_id", "=", "batch.email_type_id")
          .onRef("unsubscribers.email_key", "=", "batch.email_key"),
      )
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
