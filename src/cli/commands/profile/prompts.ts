import { readVariable } from "../../../config/environment.ts";
import { type UserError, usageError } from "../../../config/user-error.ts";
import { parseBaseUrl } from "../../../config/profile-name.ts";
import type { StoredAccount } from "../../../config/profile-store.ts";
import { promptValue, canPrompt, prompt, readSecretLine } from "../../program/prompt.ts";
import type { Context } from "../../program/context.ts";

/** The account flags of a command. */
export interface AccountFlags {
  readonly "base-url"?: string | undefined;
  readonly "app-key"?: string | undefined;
  readonly "secret-stdin"?: boolean | undefined;
  /** Defaults to the stored value. */
  readonly live?: boolean | undefined;
}

export interface AccountTarget {
  readonly base_url: string;
  readonly app_key: string;
}

/**
 * Finds the account: from flags, the environment, stored values, or prompts, in this order.
 * @throws UserError `usage` naming the missing flag, if prompts are not possible
 */
export async function readAccountTarget(
  context: Context,
  given: AccountFlags,
  { known, promptsAll = false }: { readonly known: StoredAccount | undefined; readonly promptsAll?: boolean },
): Promise<AccountTarget> {
  const { env } = context.io;
  const find = async (
    flag: string,
    [value, stored]: readonly [string | undefined, string | undefined],
    { question, read }: { readonly question: string; readonly read: (text: string) => string },
  ) => {
    if (value !== undefined) return read(value);
    if (stored !== undefined && !(promptsAll && canPrompt(context))) return read(stored);
    if (canPrompt(context)) return promptValue(context, { question, usual: stored }, read);
    throw usageError(`required flag ${flag} not set`, `Pass ${flag}, or run the command in a terminal to be prompted.`);
  };
  const base_url = await find(
    "--base-url",
    [given["base-url"] ?? readVariable(env, "STARPOST_BASE_URL"), known?.base_url],
    { question: "Service URL", read: (text) => parseBaseUrl(text, "--base-url") },
  );
  const app_key = await find("--app-key", [given["app-key"] ?? readVariable(env, "STARPOST_APP_KEY"), known?.app_key], {
    question: "App key",
    read: readAppKey,
  });
  return { base_url, app_key };
}

/**
 * Reads the secret of an account from standard input, the environment, or a prompt.
 * @returns undefined if the answer to the prompt is empty
 * @throws UserError `usage`
 */
export async function readAccountSecret(
  context: Context,
  { "secret-stdin": isSecretOnStdin }: AccountFlags,
  target: AccountTarget,
): Promise<string | undefined> {
  if (isSecretOnStdin) return checkSecret((await readSecretLine(context.io.stdin, "secret")).trim());
  const given = readOwnSecret(context, target);
  if (given !== undefined) return checkSecret(given);
  if (!canPrompt(context)) return undefined;
  const { promptSecret } = await import("../../../terminal/prompt.ts");
  const question = `Secret for ${target.app_key} at ${target.base_url}`;
  const answer = (await prompt(context, (terminal) => promptSecret(question, terminal))).trim();
  return answer === "" ? undefined : checkSecret(answer);
}

/** If the environment also names an account, its secret is only used for that account. */
function readOwnSecret({ io: { env } }: Context, { base_url, app_key }: AccountTarget): string | undefined {
  const [url, key] = [readVariable(env, "STARPOST_BASE_URL"), readVariable(env, "STARPOST_APP_KEY")];
  const isOwn =
    (url === undefined || parseBaseUrl(url, "STARPOST_BASE_URL") === base_url) &&
    (key === undefined || key === app_key);
  return isOwn ? readVariable(env, "STARPOST_SECRET") : undefined;
}

export function missingSecret(): UserError {
  return usageError(
    "cannot prompt for the secret",
    "Pass it on standard input with --secret-stdin, or set STARPOST_SECRET.",
  );
}

function readAppKey(text: string): string {
  if (/^\S{1,256}$/.test(text)) return text;
  throw usageError(`invalid value ${JSON.stringify(text)} for --app-key: must not contain spaces`);
}

function checkSecret(secret: string): string {
  if (secret !== "" && secret.length <= 4_096 && !/\s/.test(secret)) return secret;
  throw usageError(secret === "" ? "the secret is empty" : "the secret contains spaces or is too long");
}
