import { readVariable } from "../config/environment.ts";
import { Problem } from "../config/problem.ts";
import { readBaseUrl, readNewProfileName, type RemoteProfile } from "../config/profile.ts";
import { readProfiles, saveProfile } from "../config/profile-store.ts";
import { type AccountStatus, statusOf } from "./account-status.ts";
import type { Context } from "./context.ts";
import { ask, canAsk } from "./question.ts";

export interface LoginRequest {
  readonly baseUrl: string | undefined;
  readonly appKey: string | undefined;
  readonly isSecretOnStdin: boolean;
}

const usualName = "default";
const longestSecret = 4_096;

/**
 * Checks credentials by obtaining a utoken with them, then remembers them under the profile's name.
 * @throws Problem `usage`; ServiceError where they are refused, or the service does not answer
 */
export async function logIn(context: Context, request: LoginRequest): Promise<AccountStatus> {
  const profile = await readRequest(context, request);
  const { compose } = context.io;
  const surroundings = await context.surroundings();
  const connection = await (await compose()).openConnection({ ...surroundings, profile });
  try {
    const token = await connection.renewToken();
    const { name, baseUrl, appKey, secret, isLive } = profile;
    const stored = { base_url: baseUrl, app_key: appKey, ...(isLive && { live: true }) };
    await saveProfile(surroundings.paths.configFolder, name, stored, secret);
    context.talk.say(`Signed in to ${baseUrl} as ${appKey}. The profile ${name} is now the current one.`);
    return statusOf(profile, appKey, token);
  } finally {
    await connection.close();
  }
}

type CheckedRequest = RemoteProfile & { readonly secret: string };

/** What is not given stays as it was, where the profile is there already. */
async function readRequest(context: Context, request: LoginRequest): Promise<CheckedRequest> {
  const { env } = context.io;
  const { paths } = await context.surroundings();
  const asked = context.globals.profile ?? readVariable(env, "STARPOST_PROFILE") ?? usualName;
  const name = readNewProfileName(asked);
  const { profiles } = readProfiles(paths.configFolder);
  const known = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const baseUrl = request.baseUrl ?? readVariable(env, "STARPOST_BASE_URL") ?? known?.base_url;
  const appKey = request.appKey ?? readVariable(env, "STARPOST_APP_KEY") ?? known?.app_key;
  if (baseUrl === undefined) throw missing("--base-url");
  if (appKey === undefined) throw missing("--app-key");
  const address = readBaseUrl(baseUrl, "--base-url");
  const secret = await readSecret(context, request, `Secret of ${appKey} at ${address}`);
  return { name, isLive: known?.live === true, mode: "remote", baseUrl: address, appKey, secret };
}

function missing(flag: string): Problem {
  return new Problem("usage", `${flag} is missing`, "See `starpost auth login --help`.");
}

async function readSecret(context: Context, request: LoginRequest, question: string): Promise<string> {
  const { io } = context;
  if (request.isSecretOnStdin) return readSecretLine(io.stdin);
  const given = readVariable(io.env, "STARPOST_SECRET");
  if (given !== undefined) return given;
  if (!canAsk(context)) {
    throw new Problem(
      "usage",
      "the secret is missing, and there is nobody to ask",
      "Give it on standard input with --secret-stdin, or in STARPOST_SECRET.",
    );
  }
  const { askSecret } = await import("../output/prompt.ts");
  const answer = await ask(context, (terminal) => askSecret(question, terminal));
  return checkSecret(answer, "no secret was given");
}

async function readSecretLine(stdin: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > longestSecret) break;
  }
  return checkSecret(text.trim(), "standard input holds no secret");
}

function checkSecret(secret: string, otherwise: string): string {
  if (secret !== "" && secret.length <= longestSecret && !/\s/.test(secret)) return secret;
  throw new Problem("usage", secret === "" ? otherwise : "the secret is not one word of a usual length");
}
