import type { AccountAdmin, AccountSummary } from "../../../app/ports.ts";
import type { LocalProfile } from "../../../config/profile.ts";
import { unknownAccount } from "../../../config/profile-name.ts";
import { usageError } from "../../../config/user-error.ts";
import { requireLocalProfile } from "../../program/local-profile.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { Context } from "../../program/context.ts";

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
  const profile = await readLocalProfile(context, appKey);
  const { openAccounts } = await context.io.loadApp();
  const accounts = await openAccounts(await context.host(), profile, context.isDryRun);
  try {
    return await work(accounts);
  } catch (error) {
    const isUnknown = error instanceof ServiceError && error.record === "Account";
    throw isUnknown ? unknownAccount(appKey ?? accounts.ownAppKey, profile.shownAs) : error;
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
