import { readVariable } from "../../../config/environment.ts";
import { usageError } from "../../../config/user-error.ts";
import { findDatabase, isDatabaseServer, secretSources } from "../../../config/profile.ts";
import { parseNewProfileName } from "../../../config/profile-name.ts";
import { findStored, isDatabase, readProfiles, type StoredProfile } from "../../../config/profile-store.ts";
import { saveProfile, type ProfileInput } from "../../../config/profile-editor.ts";
import type { Context } from "../../program/context.ts";
import { type AccountFlags, readAccountSecret, readAccountTarget } from "./prompts.ts";
import { findRecord, type ProfileRecord } from "./records.ts";
import { deleteTokens } from "../../../config/token-file.ts";
import { readSecretLine } from "../../program/prompt.ts";
import { reportSecretPlace } from "../auth/secret-format.ts";

interface ProfileFlags extends AccountFlags {
  readonly database?: string | undefined;
}

type Wanted = Pick<ProfileInput, "target" | "secret">;

/**
 * Creates or updates a profile without calling its service or opening its database.
 * Assumed: only `auth login` checks a secret, so that a profile can be created while its service is unreachable.
 * @throws UserError `usage`
 */
export async function addProfile(context: Context, given: string, flags: ProfileFlags): Promise<ProfileRecord> {
  const sources = await context.profileSources();
  const { paths } = sources;
  const name = parseNewProfileName(given);
  const known = findStored(await readProfiles(paths.configFolder), name);
  const isHere = meansDatabase(context, flags, known);
  const wanted = await (isHere ? readDatabase(context, flags, known) : readAccount(context, flags, known));
  const input: ProfileInput = {
    name,
    id: known?.id ?? context.io.random(8).toString("hex"),
    isLive: flags.live ?? known?.live === true,
    becomesCurrent: false,
    ...wanted,
  };
  const kept = await context.change(`${known ? "Update" : "Create"} profile ${name}`, async () => {
    // The former secret may have permitted more.
    if (known && wanted.secret !== undefined) {
      await deleteTokens(paths.tokensFolder, { name, profile: known, secret: undefined });
    }
    return saveProfile({ ...secretSources(sources), paths }, input);
  });
  const record = await findRecord(context, name);
  context.messages.info(`${known ? "Updated" : "Created"} profile ${name}${record.live ? " (live)" : ""}.`);
  if (kept) await reportSecretPlace(context, kept);
  const next = record.signed_in ? `starpost profile use ${name}` : `starpost auth login --profile ${name}`;
  if (!record.current) context.messages.info(`Next, run \`${next}\`.`);
  return record;
}

function meansDatabase(context: Context, given: ProfileFlags, known: StoredProfile | undefined): boolean {
  const isAccount = given["base-url"] !== undefined || given["app-key"] !== undefined;
  if (given.database !== undefined) return true;
  if (isAccount) return false;
  if (known) return isDatabase(known);
  const { env } = context.io;
  const isNamed = readVariable(env, "STARPOST_BASE_URL") !== undefined;
  return !isNamed && readVariable(env, "STARPOST_DATABASE") !== undefined;
}

async function readAccount(context: Context, flags: ProfileFlags, stored: StoredProfile | undefined): Promise<Wanted> {
  const known = stored && !isDatabase(stored) ? stored : undefined;
  const target = await readAccountTarget(context, flags, { known });
  const isSame = known?.base_url === target.base_url && known.app_key === target.app_key;
  // An update that keeps the account keeps its secret.
  if (isSame && !flags["secret-stdin"]) return { target };
  return { target, secret: await readAccountSecret(context, flags, target) };
}

/** A password must come from `STARPOST_DATABASE` or standard input, because other users can see flags. */
async function readDatabase(
  { io: { env, cwd, stdin } }: Context,
  { database: given, "secret-stdin": isSecretOnStdin }: ProfileFlags,
  known: StoredProfile | undefined,
): Promise<Wanted> {
  const stored = known && isDatabase(known) ? known.database : undefined;
  const text = given ?? stored ?? readVariable(env, "STARPOST_DATABASE") ?? "";
  const source = given === undefined ? "STARPOST_DATABASE" : "--database";
  const { database: address } = findDatabase(text, cwd, source);
  const { database, password } = splitPassword(address);
  if (given !== undefined && password !== undefined) {
    throw usageError(
      "--database must not contain a password, because other users can see flags",
      "Pass the password on standard input with --secret-stdin, or set STARPOST_DATABASE to the complete URL.",
    );
  }
  if (isSecretOnStdin && !isDatabaseServer({ database })) {
    throw usageError("--secret-stdin cannot be used with a database file");
  }
  const secret = isSecretOnStdin ? await readSecretLine(stdin, "password") : password;
  return { target: { database }, secret };
}

function splitPassword(database: string): { readonly database: string; readonly password?: string } {
  if (!isDatabaseServer({ database })) return { database };
  const url = new URL(database);
  const password = url.searchParams.get("password") ?? decodeURIComponent(url.password);
  if (password === "") return { database };
  url.password = "";
  url.searchParams.delete("password");
  return { database: url.href, password };
}
