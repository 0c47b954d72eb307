import type { EmailAccess, EmailAccessAdmin, EmailAccessChange } from "../../../app/ports.ts";
import { unknownAccount } from "../../../config/profile-name.ts";
import { usageError } from "../../../config/user-error.ts";
import type { LocalProfile } from "../../../config/profile.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { emailSendingLimits } from "../../../contract/emails/sending.ts";
import { confirmOperation } from "../../program/confirm.ts";
import type { Context } from "../../program/context.ts";
import { readLocalProfile } from "./with-accounts.ts";

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
  return withAdmin(context, appKey, (admin) => admin.read(appKey));
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
  return withAdmin(context, appKey, (admin) => admin.change(appKey, change));
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
  work: (admin: EmailAccessAdmin) => Promise<EmailAccess>,
): Promise<EmailAccessData> {
  const profile = await readLocalProfile(context, appKey);
  const { openEmailAccess } = await context.io.loadApp();
  const admin = await openEmailAccess({ ...(await context.host()), profile });
  try {
    return toData(await work(admin));
  } catch (error) {
    throw explain(error, appKey, profile);
  } finally {
    await admin.close();
  }
}

function explain(error: unknown, appKey: string, { shownAs }: LocalProfile): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.record === "Account") return unknownAccount(appKey, shownAs);
  return error.kind === "invalidParams" ? usageError(error.message, error.hint, error) : error;
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
