import { usageError } from "../../../config/user-error.ts";
import { checkPerson, secretSources } from "../../../config/profile.ts";
import { builtInNames } from "../../../config/profile-name.ts";
import {
  deleteSecret,
  setCurrentProfile,
  changeProfile,
  deleteProfile,
  type ProfileChange,
} from "../../../config/profile-editor.ts";
import type { SecretPlace } from "../../../config/secret-store.ts";
import type { Context } from "../../program/context.ts";
import { warnAboutOverride } from "../auth/sign-in.ts";
import { findCurrent, findRecord, type ProfileRecord, requireStored } from "./records.ts";
import { readProfiles } from "../../../config/profile-store.ts";
import { confirm } from "../../program/confirm.ts";
import { describeForgotten } from "../auth/secret-format.ts";

export async function applyProfile(context: Context, name: string): Promise<ProfileRecord> {
  if (name !== builtInNames.local) await requireStored(context, name, "select");
  const { paths } = await context.profileSources();
  await context.change(`Make ${name} the current profile`, () => setCurrentProfile(paths.configFolder, name));
  const record = await findRecord(context, name);
  const where = record.base_url ?? record.database ?? "";
  context.messages.info(`The current profile is ${name}: ${where}${record.live ? " (live)" : ""}.`);
  if (!record.signed_in)
    context.messages.info(`No secret is stored. To sign in, run \`starpost auth login --profile ${name}\`.`);
  warnAboutOverride(context, name);
  return record;
}

/** @throws UserError `usage` if nothing is to be changed, or there is no such profile */
export async function setProfile(
  context: Context,
  name: string,
  { live, by }: { readonly live?: boolean | undefined; readonly by?: string | undefined },
): Promise<ProfileRecord> {
  if (live === undefined && by === undefined) throw usageError("required flag --live, --no-live, or --by not set");
  if (by !== undefined && by !== "") checkPerson(by, "--by");
  const change: ProfileChange = { isLive: live, by };
  await requireStored(context, name, "change");
  const { paths } = await context.profileSources();
  const changes = describeChange(name, change);
  await context.change(changes.map(({ plan }) => plan).join("; "), () =>
    changeProfile(paths.configFolder, name, change),
  );
  for (const { done } of changes) context.messages.info(done);
  return findRecord(context, name);
}

function describeChange(name: string, { isLive, by }: ProfileChange) {
  const changes: { readonly plan: string; readonly done: string }[] = [];
  if (isLive === true) {
    const done = `Profile ${name} is live: its name is shown on writes and in confirmation prompts.`;
    changes.push({ plan: `Mark profile ${name} as live`, done });
  }
  if (isLive === false)
    changes.push({ plan: `Mark profile ${name} as not live`, done: `Profile ${name} is not live.` });
  if (by === "") {
    const done = `Changes made with profile ${name} are recorded under the name of the operating system's user.`;
    changes.push({ plan: `Remove the name from profile ${name}`, done });
  } else if (by !== undefined) {
    const done = `Changes made with profile ${name} are recorded as by ${by}.`;
    changes.push({ plan: `Record changes made with profile ${name} as by ${by}`, done });
  }
  return changes;
}

/** What was deleted with a profile or its secret. */
export interface ForgottenProfile {
  readonly profile: string;
  readonly secret_removed_from: readonly SecretPlace[];
  readonly tokens_removed: number;
  /** The current profile after the change. */
  readonly current: string;
}

/**
 * Deletes a profile with its secret and tokens, after confirmation.
 * @throws UserError as `confirm`; `usage` if there is no such profile
 */
export async function forgetProfile(context: Context, name: string): Promise<ForgottenProfile> {
  const stored = await requireStored(context, name, "remove");
  const record = await findRecord(context, name);
  const where = record.base_url === null ? record.database : `${record.base_url}, account ${record.app_key}`;
  const what = record.mode === "local" ? "The database is not changed." : "The account is not changed.";
  await confirm(context, `Delete profile ${name} (${where}) with its secret and cached tokens? ${what}`);
  const places = await placesOf(context);
  const description = `Delete profile ${name} (${where}) with its secret and cached tokens`;
  const forgotten = await context.change(description, () => deleteProfile(places, name, stored));
  const gone = await describeForgotten(context, forgotten);
  context.messages.info(`Deleted profile ${name}${gone === undefined ? "" : ` with ${gone}`}.`);
  const current = await readCurrent(context);
  if (forgotten.wasCurrent) context.messages.warn(`The current profile is now ${current}.`);
  return toRecord(name, forgotten, current);
}

/**
 * Deletes the secret and cached tokens of the current profile, but keeps the profile.
 * @throws UserError `usage` for a profile without a login
 */
export async function logOut(context: Context): Promise<ForgottenProfile> {
  const current = await readCurrent(context);
  const name = context.globals.profile ?? current;
  const stored = await requireStored(context, name, "sign out of");
  const places = await placesOf(context);
  const forgotten = await context.change(`Delete the secret and cached tokens of profile ${name}`, () =>
    deleteSecret(places, name, stored),
  );
  const gone = await describeForgotten(context, forgotten);
  context.messages.info(`Signed out of ${name}: ${gone === undefined ? "nothing was stored" : `deleted ${gone}`}.`);
  return toRecord(name, forgotten, current);
}

async function placesOf(context: Context) {
  const sources = await context.profileSources();
  return { ...secretSources(sources), paths: sources.paths };
}

async function readCurrent(context: Context): Promise<string> {
  const { paths } = await context.profileSources();
  return findCurrent(context, await readProfiles(paths.configFolder));
}

function toRecord(
  profile: string,
  { secretFrom, tokens }: { readonly secretFrom: readonly SecretPlace[]; readonly tokens: number },
  current: string,
): ForgottenProfile {
  return { profile, secret_removed_from: secretFrom, tokens_removed: tokens, current };
}
