import { invalidField } from "../../contract/index.ts";
import { deleteRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";

const name = "private_webhooks";

type Context = Pick<HandlerContext, "transaction" | "nowMs" | "privateWebhooksFor">;

/** An account whose webhooks are sent. */
interface WebhookOwner {
  readonly appKey: string;
  readonly isPrivateAllowed: boolean;
}

/**
 * Reads whether an account's webhooks may call private addresses: only if the operator allowed it, in the database or in
 * the configuration of this machine, which applies to the account of its profile.
 */
export async function readWebhookOwner(
  accountId: number,
  { transaction, privateWebhooksFor }: Omit<Context, "nowMs">,
): Promise<WebhookOwner> {
  const { app_key: appKey, value } = await transaction
    .selectFrom("accounts")
    .leftJoin("account_settings", (join) =>
      join.on("account_settings.account_id", "=", accountId).on("account_settings.name", "=", name),
    )
    .select(["accounts.app_key", "account_settings.value"])
    .where("accounts.id", "=", accountId)
    .executeTakeFirstOrThrow();
  return { appKey, isPrivateAllowed: value === "true" || appKey === privateWebhooksFor };
}

/**
 * Allows or forbids an account's webhooks to call private addresses. Only for operators; no operation calls this.
 * @throws ServiceError `invalidParams`
 */
export async function savePrivateWebhooks(
  appKey: string,
  isAllowed: boolean,
  { transaction, nowMs }: Context,
): Promise<void> {
  const account = transaction.selectFrom("accounts").select("id").where("app_key", "=", appKey);
  const { id: account_id } = (await account.executeTakeFirst()) ?? {};
  if (account_id === undefined) {
    throw invalidField("app_key", `${JSON.stringify(appKey)} belongs to no account of this database`);
  }
  await deleteRows("account_settings", { account_id, name }, { transaction });
  if (!isAllowed) return;
  await transaction
    .insertInto("account_settings")
    .values({ account_id, name, value: "true", updated_at: nowMs })
    .execute();
}
