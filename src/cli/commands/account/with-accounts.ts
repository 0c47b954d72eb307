import type { AccountAdmin, AccountSummary, EmailAccess, EmailAccessChange } from "../../../app/ports.ts";
import type { LocalProfile } from "../../../config/profile.ts";
import { unknownAccount } from "../../../config/profile-name.ts";
import { invalidValue, usageError } from "../../../config/user-error.ts";
import { requireLocalProfile } from "../../program/local-profile.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { Context } from "../../program/context.ts";
import { emailSendingLimits } from "../../../contract/emails/sending.ts";
import { confirmOperation } from "../../program/confirm.ts";

/**
 * Runs work on the accounts of the profile's database.
 * @param appKey the account that the command is about
 * @throws UserError `usage` if the profile is remote or the account does not exist
 */
export async function withAccounts<T>(
  context: Context,
  appKey: string | undefined,
  work: (accounts: AccountAdmin) => Promise<T>,
): Promise<T> {
  const { accounts, profile } = await openAccounts(context, appKey);
  try {
    return await work(accounts);
  } catch (error) {
    const isUnknown = error instanceof ServiceError && error.record === "Account";
    throw isUnknown ? unknownAccount(appKey ?? accounts.ownAppKey, profile.shownAs) : error;
  } finally {
    await accounts.close();
  }
}

async function openAccounts(context: Context, appKey: string | undefined) {
  const profile = await readLocalProfile(context, appKey);
  const app = await context.io.loadApp();
  return { accounts: await app.openAccounts(await context.host(), profile, context.isDryRun), profile };
}

/** Reads the accounts of the profile's database page by page. @throws UserError `usage` if the profile is remote */
export async function listAccounts(context: Context) {
  const { accounts } = await openAccounts(context, undefined);
  return readRecords(accounts);
}

async function* readRecords(accounts: AccountAdmin) {
  try {
    for await (const page of accounts.list()) yield page.map(toRecord);
  } finally {
    await accounts.close();
  }
}

/**
 * Finds the database whose accounts are administered. A remote profile is never replaced by the embedded database.
 * @throws UserError `usage`
 */
export async function readLocalProfile(context: Context, appKey: string | undefined): Promise<LocalProfile> {
  const profile = await requireLocalProfile(
    context,
    "only the operator of its service can manage its accounts",
    "Run the command on the server, or use --profile local for the embedded database.",
  );
  const { account } = profile;
  if (appKey === undefined || account === undefined || account === appKey) return profile;
  throw usageError("the argument and --account name different accounts", "Remove --account.");
}

/** An account as it is printed, with timestamps in ISO 8601. */
export function toRecord({ appKey, createdAtMs, disabledAtMs, secretChangedAtMs, ...account }: AccountSummary) {
  const { state, name, email } = account;
  return {
    app_key: appKey,
    state,
    name,
    email,
    created_at: new Date(createdAtMs).toISOString(),
    disabled_at: toTime(disabledAtMs),
    secret_changed_at: toTime(secretChangedAtMs),
  };
}

function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** What an account may send, as printed. */
export type EmailAccessData = ReturnType<typeof toData>;

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
  throw invalidValue(text, "<emails>", `an integer from 0 to ${max}, or default`);
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
export function toData({ appKey, testRecipients, ...access }: EmailAccess) {
  return {
    app_key: appKey,
    email_enabled: access.isEnabled,
    daily_quota: access.dailyQuota,
    used_today: access.usedToday,
    held: access.held,
    test_recipients: testRecipients,
  };
}
