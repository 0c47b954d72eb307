import type { AccountAdmin, EmailAccess, EmailAccessChange } from "../../../app/ports.ts";
import { usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { emailSendingLimits } from "../../../contract/emails/sending.ts";
import { confirmOperation } from "../../program/confirm.ts";
import type { Context } from "../../program/context.ts";
import { readLocalProfile, withAccounts } from "./with-accounts.ts";

/** What an account may send, as printed. */
export interface EmailAccessData {
  readonly app_key: string;
  readonly email_enabled: boolean;
  readonly daily_quota: number;
  readonly used_today: number;
  readonly held: EmailAccess["held"];
  readonly test_recipients: readonly string[];
}

/** @throws UserError */
export function showEmailAccess(context: Context, appKey: string): Promise<EmailAccessData> {
  return withAdmin(context, appKey, (accounts) => accounts.emailAccess(appKey));
}

/** @throws UserError */
export async function changeEmailAccess(
  context: Context,
  appKey: string,
  change: EmailAccessChange,
): Promise<EmailAccessData> {
  await readLocalProfile(context, appKey);
  const question = `Change what account ${appKey} may send`;
  await confirmOperation(context, { overwrites: { question } }, {});
  await context.announceWrite();
  return withAdmin(context, appKey, (accounts) =>
    context.change(question, () => accounts.changeEmailAccess(appKey, change), "rehearsed"),
  );
}

/**
 * Reads a daily quota; null restores the default.
 * @throws UserError `usage`
 */
export function readQuota(text: string): number | null {
  if (text === "default") return null;
  const { max } = emailSendingLimits.perDay;
  const quota = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (quota <= max) return quota;
  throw usageError(`invalid value "${text}" for <emails>: must be an integer from 0 to ${max}, or default`);
}

async function withAdmin(
  context: Context,
  appKey: string,
  work: (accounts: AccountAdmin) => Promise<EmailAccess>,
): Promise<EmailAccessData> {
  return withAccounts(context, appKey, async (accounts) => toData(await work(accounts).catch(refuse)));
}

function refuse(error: unknown): never {
  throw error instanceof ServiceError && error.kind === "invalidParams" && error.record === undefined
    ? usageError(error.message, error.hint, error)
    : error;
}

/** Permissions as they are printed. */
export function toData({
  appKey,
  isEnabled,
  dailyQuota,
  usedToday,
  held,
  testRecipients,
}: EmailAccess): EmailAccessData {
  return {
    app_key: appKey,
    email_enabled: isEnabled,
    daily_quota: dailyQuota,
    used_today: usedToday,
    held,
    test_recipients: testRecipients,
  };
}
