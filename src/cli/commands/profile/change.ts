import { UserError } from "../../../config/user-error.ts";
import { secretSources } from "../../../config/profile.ts";
import { builtInNames } from "../../../config/profile-name.ts";
import {
  deleteSecret,
  setCurrentProfile,
  setProfileLive,
  deleteProfile,
} from "../../../config/profile-editor.ts";
import type { SecretPlace } from "../../../config/secret-store.ts";
import type { Context } from "../../program/context.ts";
import { tellOverride } from "../auth/sign-in.ts";
import { findCurrent, findRecord, type ProfileRecord, requireStored } from "./records.ts";
import { readProfiles } from "../../../config/profile-store.ts";
import { confirm } from "../../program/confirm.ts";
import { describeForgotten } from "../auth/secret-format.ts";

/** Makes a profile the current one. */
export async function applyProfile(context: Context, name: string): Promise<ProfileRecord> {
  if (name !== builtInNames.local) await requireStored(context, name, "chosen");
  const { paths } = await context.profileSources();
  await setCurrentProfile(paths.configFolder, name);
  const record = await findRecord(context, name);
  const where = record.base_url ?? record.database ?? "";
  context.messages.info(`The current profile is ${name}: ${where}${record.live ? ", which is live" : ""}.`);
  if (!record.signed_in)
    context.messages.info(`No secret of it is known: starpost auth login --profile ${name}`);
  tellOverride(context, name);
  return record;
}

/** Says whether a profile is live. */
export async function setLive(context: Context, name: string, isLive: boolean): Promise<ProfileRecord> {
  await requireStored(context, name, "marked");
  const { paths } = await context.profileSources();
  await setProfileLive(paths.configFolder, name, isLive);
  context.messages.info(
    isLive
      ? `${name} is live: commands that write to it say so, and those that destroy ask with its name.`
      : `${name} is not live.`,
  );
  return findRecord(context, name);
}

/** What of a profile was forgotten, as scripts see it. */
export interface ForgottenProfile {
  readonly profile: string;
  readonly secret_removed_from: readonly SecretPlace[];
  readonly tokens_removed: number;
  /** The profile that is used from now on. */
  readonly current: string;
}

/**
 * Forgets a profile, its secret and its tokens, once the person has agreed.
 * @throws UserError as `confirm`; `usage` where there is none
 */
export async function forgetProfile(context: Context, name: string): Promise<ForgottenProfile> {
  const stored = await requireStored(context, name, "removed");
  const record = await findRecord(context, name);
  const where = record.base_url === null ? record.database : `${record.base_url}, account ${record.app_key}`;
  const what = record.mode === "local" ? "What is in the database stays." : "The account itself stays.";
  await confirm(context, `Forget the profile ${name} (${where}), its secret and its tokens? ${what}`);
  const places = await placesOf(context);
  const forgotten = await deleteProfile(places, name, stored);
  const gone = await describeForgotten(context, forgotten);
  context.messages.info(`Forgot the profile ${name}${gone === undefined ? "" : `, with ${gone}`}.`);
  const current = await readCurrent(context);
  if (forgotten.wasCurrent) context.messages.warn(`It was the current one: that is ${current} now.`);
  return toRecord(name, forgotten, current);
}

/**
 * Forgets the secret and the kept tokens of the profile in use, which stays.
 * @throws UserError `usage` of a profile that is not signed in by a login
 */
export async function logOut(context: Context): Promise<ForgottenProfile> {
  const current = await readCurrent(context);
  const name = context.globals.profile ?? current;
  const stored = await requireStored(context, name, "signed out of");
  const forgotten = await deleteSecret(await placesOf(context), name, stored);
  const gone = await describeForgotten(context, forgotten);
  context.messages.info(
    `Signed out of ${name}: ${gone === undefined ? "no secret and no token was kept" : `forgot ${gone}`}.`,
  );
  return toRecord(name, forgotten, current);
}

/** @throws UserError `usage` where not exactly one of two flags is given */
export function readLiveFlags(isLive: boolean | undefined): boolean {
  if (isLive !== undefined) return isLive;
  throw new UserError("usage", "say what to change: --live or --no-live is missing");
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
