import { type EmailHold, emailKeyOf, emailSendingLimits, ServiceError, shape } from "../../contract/index.ts";
import { findAccountId } from "../accounts/administration.ts";
import {
  type EmailPermission,
  listTestRecipients,
  readEmailPermission,
  saveEmailPermission,
} from "../accounts/email-permissions.ts";
import { deleteAccountRows, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { releaseHeldEmails } from "./sending/holds.ts";

/** What an account may send, for the operator. */
export interface EmailAccess extends EmailPermission {
  readonly appKey: string;
  readonly testRecipients: readonly string[];
  /** Number of held emails, by reason. */
  readonly held: Readonly<Partial<Record<EmailHold, number>>>;
}

/** What the operator changes. */
export type EmailAccessChange =
  | { readonly type: "enable" }
  | { readonly type: "disable" }
  /** Null restores the default. */
  | { readonly type: "quota"; readonly perDay: number | null }
  | { readonly type: "approve"; readonly recipient: string }
  | { readonly type: "remove"; readonly recipient: string };

/**
 * Changes what an account may send. These are actions of the operator, so no operation of the service performs them.
 * @throws ServiceError `recordNotFound` if there is no such account; `invalidParams`
 */
export async function changeEmailAccess(
  appKey: string,
  change: EmailAccessChange,
  context: HandlerContext,
): Promise<EmailAccess> {
  const accountId = await findAccountId(appKey, context);
  await applyChange(accountId, change, context);
  return readEmailAccess(appKey, context);
}

/** @throws ServiceError `recordNotFound` if there is no such account */
export async function readEmailAccess(appKey: string, context: HandlerContext): Promise<EmailAccess> {
  const accountId = await findAccountId(appKey, context);
  const held = await selectAccountRows("mails", accountId, context.transaction)
    .select(({ fn }) => ["reason", fn.countAll<number>().as("emails")])
    .where("state", "=", "queued")
    .where("reason", "in", ["email_not_enabled", "daily_quota_reached"] satisfies EmailHold[])
    .groupBy("reason")
    .execute();
  return {
    appKey,
    ...(await readEmailPermission(accountId, context)),
    testRecipients: await listTestRecipients(accountId, context),
    held: Object.fromEntries(held.map(({ reason, emails }) => [reason, emails])),
  };
}

async function applyChange(accountId: number, change: EmailAccessChange, context: HandlerContext): Promise<void> {
  const { transaction, nowMs } = context;
  switch (change.type) {
    case "enable": {
      const { isEnabled } = await readEmailPermission(accountId, context);
      if (isEnabled) return;
      await saveEmailPermission(accountId, { enabled_at: nowMs }, context);
      return releaseHeldEmails(accountId, "email_not_enabled", context);
    }
    case "disable":
      return saveEmailPermission(accountId, { enabled_at: null }, context);
    case "quota":
      await saveEmailPermission(accountId, { daily_quota: change.perDay }, context);
      return releaseHeldEmails(accountId, "daily_quota_reached", context);
    case "approve":
      return approveRecipient(accountId, change.recipient, context);
    default:
      await deleteAccountRows("test_recipients", accountId, transaction)
        .where("email_key", "=", emailKeyOf(change.recipient))
        .execute();
  }
}

async function approveRecipient(accountId: number, recipient: string, context: HandlerContext): Promise<void> {
  const { transaction, nowMs } = context;
  const address = shape.email.safeParse(recipient);
  if (!address.success) throw new ServiceError("invalidParams", `invalid email address ${JSON.stringify(recipient)}`);
  const email_key = emailKeyOf(address.data);
  const approved = await listTestRecipients(accountId, context);
  if (approved.includes(email_key)) return;
  if (approved.length >= emailSendingLimits.testRecipients) {
    const limit = `the account already has ${approved.length} approved recipients`;
    throw new ServiceError("invalidParams", limit, { hint: "Remove one first." });
  }
  await transaction
    .insertInto("test_recipients")
    .values({ account_id: accountId, email_key, created_at: nowMs })
    .execute();
  await releaseHeldEmails(accountId, "email_not_enabled", context, email_key);
}
