import { existsSync } from "node:fs";
import { readVariable } from "../../../config/environment.ts";
import { usageError } from "../../../config/user-error.ts";
import { isDatabaseServer, type LocalProfile, localProfile, type ProfileSources } from "../../../config/profile.ts";
import { builtInNames } from "../../../config/profile-name.ts";
import { findStored, isDatabase, readProfiles, type StoredProfiles } from "../../../config/profile-store.ts";
import { setCurrentProfile } from "../../../config/profile-editor.ts";
import { type AccountStatus, statusOf } from "../auth/account-status.ts";
import type { Context } from "../../program/context.ts";
import { logIn, warnAboutOverride } from "../auth/sign-in.ts";
import type { AccountFlags } from "../profile/prompts.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";

interface SetUpFlags extends AccountFlags {
  readonly local?: boolean | undefined;
}

/** The account that commands use from now on, and suggested next commands. */
export type SetUp = AccountStatus & { readonly next: readonly string[] };

/**
 * Creates the embedded database or signs in to a service, and makes that profile the current one.
 * @throws UserError `usage` naming the missing flag, if prompts are not possible
 */
export async function setUp(context: Context, flags: SetUpFlags): Promise<SetUp> {
  if (!(await isRemote(context, flags))) return setUpLocal(context);
  const { secret_in: _place, ...status } = await logIn(context, flags, true);
  return { ...status, next: ["starpost products import products.csv --dry-run", "starpost auth status"] };
}

/** Flags and environment decide; without any, prompts. */
async function isRemote(context: Context, given: SetUpFlags): Promise<boolean> {
  const isAccount = [given["base-url"], given["app-key"], given["secret-stdin"]].some((value) => value !== undefined);
  if (given.local) return false;
  if (isAccount || readVariable(context.io.env, "STARPOST_BASE_URL") !== undefined) return true;
  if (!canPrompt(context)) {
    throw usageError(
      "required flag --local or --base-url not set",
      "For an embedded database, use --local. For a service, use --base-url, --app-key, and --secret-stdin.",
    );
  }
  const { promptChoice } = await import("../../../terminal/prompt.ts");
  const choices = [
    { value: false, name: "This machine: an embedded database, ready to use", short: "this machine" },
    { value: true, name: "A service: requires its URL, an app key, and a secret", short: "service" },
  ];
  return prompt(context, (terminal) => promptChoice("Where are your reviews stored?", choices, terminal));
}

async function setUpLocal(context: Context): Promise<SetUp> {
  const sources = await context.profileSources();
  const { configFolder } = sources.paths;
  const stored = await readProfiles(configFolder);
  const profile = await findProfileToSetUp(context, sources, stored);
  const existed = existsSync(profile.database);
  const host = await context.host();
  const { openConnection } = await context.io.loadApp();
  const connection = await openConnection({ ...host, profile });
  try {
    const status = statusOf(profile, connection.appKey, await connection.token());
    const { current = builtInNames.local } = stored;
    if (current !== profile.name) await setCurrentProfile(configFolder, profile.name);
    const isServer = isDatabaseServer(profile);
    const done = isServer ? "Opened" : existed ? "Found" : "Created";
    context.messages.info(`${done} database ${profile.shownAs} with account ${connection.appKey}.`);
    context.messages.info(`The current profile is ${profile.name}.`);
    warnAboutOverride(context, profile.name);
    return { ...status, next: ["starpost products import products.csv", "starpost serve"] };
  } finally {
    await connection.close();
  }
}

/** The profile of `--profile`, which must have a database, or else `local`. */
async function findProfileToSetUp(
  context: Context,
  sources: ProfileSources,
  all: StoredProfiles,
): Promise<LocalProfile> {
  const { flag } = sources;
  if (flag === undefined || flag === builtInNames.local) return localProfile(sources);
  const known = findStored(all, flag);
  const profile = known && isDatabase(known) ? await context.profile() : undefined;
  if (profile?.mode === "local") return profile;
  throw usageError(
    `--local cannot be used with --profile ${flag}, which has no database`,
    `To create another database, run \`starpost profile add ${flag} --database <path>\`.`,
  );
}
