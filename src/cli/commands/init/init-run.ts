import { existsSync } from "node:fs";
import { readVariable } from "../../../config/environment.ts";
import { UserError } from "../../../config/user-error.ts";
import { localProfile } from "../../../config/profile.ts";
import { builtInNames } from "../../../config/profile-name.ts";
import { readProfiles } from "../../../config/profile-store.ts";
import { setCurrentProfile } from "../../../config/profile-editor.ts";
import { type AccountStatus, statusOf } from "../auth/account-status.ts";
import type { Context } from "../../program/context.ts";
import { type LoginRequest, logIn, tellOverride } from "../auth/sign-in.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";

export interface SetUpRequest extends LoginRequest {
  readonly isLocal: boolean;
}

/** The account that commands use from now on, and what to do with it. */
export type SetUp = AccountStatus & { readonly next: readonly string[] };

/**
 * Makes the account of this machine, or signs in to one elsewhere, and makes it the current one.
 * @throws UserError `usage` naming the flag that is missing, where nobody can be asked
 */
export async function setUp(context: Context, request: SetUpRequest): Promise<SetUp> {
  if (!(await isElsewhere(context, request))) return setUpHere(context);
  const { secret_in: _place, ...status } = await logIn(context, { ...request, asksAll: true });
  return {
    ...status,
    next: ["starpost products import products.csv --dry-run", "starpost auth status"],
  };
}

/** What is given decides; where nothing is, the person does. */
async function isElsewhere(context: Context, given: SetUpRequest): Promise<boolean> {
  const isAccount = given.baseUrl !== undefined || given.appKey !== undefined || given.isSecretOnStdin;
  if (given.isLocal) return false;
  if (isAccount || readVariable(context.io.env, "STARPOST_BASE_URL") !== undefined) return true;
  if (!canPrompt(context)) {
    throw new UserError(
      "usage",
      "--local or --base-url is missing, and there is nobody to ask",
      "Give --local for an account on this machine, or --base-url, --app-key and --secret-stdin for one elsewhere.",
    );
  }
  const { promptChoice } = await import("../../../terminal/prompt.ts");
  const choices = [
    {
      value: false,
      name: "Here: an embedded database with an account of its own, nothing to set up",
      short: "here",
    },
    {
      value: true,
      name: "A service elsewhere: I have its address, an app key and a secret",
      short: "elsewhere",
    },
  ];
  return prompt(context, (terminal) => promptChoice("Where are your reviews to be?", choices, terminal));
}

async function setUpHere(context: Context): Promise<SetUp> {
  const sources = await context.profileSources();
  if (sources.flag !== undefined && sources.flag !== builtInNames.local) {
    throw new UserError(
      "usage",
      `--local is the profile local, and --profile says ${sources.flag}`,
      `A database under a name of its own: starpost profile add ${sources.flag} --database <path>.`,
    );
  }
  const profile = localProfile(sources);
  const wasThere = existsSync(profile.database);
  const surroundings = await context.host();
  const { openConnection } = await context.io.loadApp();
  const connection = await openConnection({ ...surroundings, profile });
  try {
    const status = statusOf(profile, connection.appKey, await connection.token());
    const { current = builtInNames.local } = await readProfiles(sources.paths.configFolder);
    if (current !== builtInNames.local)
      await setCurrentProfile(sources.paths.configFolder, builtInNames.local);
    const isServer = profile.database.startsWith("postgres");
    const done = isServer ? "Opened" : wasThere ? "Found" : "Made";
    context.messages.info(`${done} the database ${profile.shownAs}, with the account ${connection.appKey}.`);
    context.messages.info("The profile local is the current one.");
    tellOverride(context, builtInNames.local);
    return { ...status, next: ["starpost products import products.csv", "starpost serve"] };
  } finally {
    await connection.close();
  }
}
