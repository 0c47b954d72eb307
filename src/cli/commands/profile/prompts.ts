import { readVariable } from "../../../config/environment.ts";
import { UserError } from "../../../config/user-error.ts";
import { parseBaseUrl } from "../../../config/profile-name.ts";
import type { StoredAccount } from "../../../config/profile-store.ts";
import { promptValue } from "../../program/prompt.ts";
import type { Context } from "../../program/context.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";
import { readSecretLine } from "../auth/secret-line.ts";

/** What the flags of a command say of an account. */
export interface GivenAccount {
  readonly baseUrl: string | undefined;
  readonly appKey: string | undefined;
  readonly isSecretOnStdin: boolean;
}

export interface AccountTarget {
  readonly base_url: string;
  readonly app_key: string;
}

/**
 * Which account is meant: by flags, else by the environment, else as it is stored; what is missing is asked for.
 * @throws UserError `usage` naming the flag that is missing, where nobody can be asked
 */
export async function readAccountTarget(
  context: Context,
  given: GivenAccount,
  { known, asksAll = false }: { readonly known: StoredAccount | undefined; readonly asksAll?: boolean },
): Promise<AccountTarget> {
  const { env } = context.io;
  const find = async (
    flag: string,
    [value, stored]: readonly [string | undefined, string | undefined],
    { question, read }: { readonly question: string; readonly read: (text: string) => string },
  ) => {
    if (value !== undefined) return read(value);
    if (stored !== undefined && !(asksAll && canPrompt(context))) return read(stored);
    if (canPrompt(context)) return promptValue(context, { question, usual: stored }, read);
    throw new UserError("usage", `${flag} is missing, and there is nobody to ask`, `Give it: ${flag} <…>.`);
  };
  const base_url = await find(
    "--base-url",
    [given.baseUrl ?? readVariable(env, "STARPOST_BASE_URL"), known?.base_url],
    { question: "Address of the service", read: (text) => parseBaseUrl(text, "--base-url") },
  );
  const app_key = await find(
    "--app-key",
    [given.appKey ?? readVariable(env, "STARPOST_APP_KEY"), known?.app_key],
    { question: "App key of the account", read: readAppKey },
  );
  return { base_url, app_key };
}

/**
 * The secret of an account: from standard input, from the environment, or from a person.
 * @returns nothing where a person gives none
 * @throws UserError `usage`
 */
export async function readAccountSecret(
  context: Context,
  { isSecretOnStdin }: Pick<GivenAccount, "isSecretOnStdin">,
  target: AccountTarget,
): Promise<string | undefined> {
  if (isSecretOnStdin) return checkSecret((await readSecretLine(context.io.stdin, "secret")).trim());
  const given = readOwnSecret(context, target);
  if (given !== undefined) return checkSecret(given);
  if (!canPrompt(context)) return undefined;
  const { promptSecret } = await import("../../../terminal/prompt.ts");
  const question = `Secret of ${target.app_key} at ${target.base_url}`;
  const answer = (await prompt(context, (terminal) => promptSecret(question, terminal))).trim();
  return answer === "" ? undefined : checkSecret(answer);
}

/** The environment's secret goes to no other account than the environment's own, where it says which that is. */
function readOwnSecret({ io: { env } }: Context, { base_url, app_key }: AccountTarget): string | undefined {
  const [url, key] = [readVariable(env, "STARPOST_BASE_URL"), readVariable(env, "STARPOST_APP_KEY")];
  const isOwn =
    (url === undefined || parseBaseUrl(url, "STARPOST_BASE_URL") === base_url) &&
    (key === undefined || key === app_key);
  return isOwn ? readVariable(env, "STARPOST_SECRET") : undefined;
}

/** That a secret is missing, and how it is given. */
export function missingSecret(): UserError {
  return new UserError(
    "usage",
    "the secret is missing, and there is nobody to ask",
    "Give it on standard input with --secret-stdin, or in STARPOST_SECRET.",
  );
}

function readAppKey(text: string): string {
  if (/^\S{1,256}$/.test(text)) return text;
  throw new UserError("usage", `--app-key: ${JSON.stringify(text)} is not one word`);
}

function checkSecret(secret: string): string {
  if (secret !== "" && secret.length <= 4_096 && !/\s/.test(secret)) return secret;
  throw new UserError(
    "usage",
    secret === "" ? "no secret was given" : "the secret is not one word of a usual length",
  );
}
