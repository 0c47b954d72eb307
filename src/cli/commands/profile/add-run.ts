import { readVariable } from "../../../config/environment.ts";
import { UserError } from "../../../config/user-error.ts";
import { findDatabase, secretSources } from "../../../config/profile.ts";
import { parseNewProfileName } from "../../../config/profile-name.ts";
import { findStored, isDatabase, readProfiles, type StoredProfile } from "../../../config/profile-store.ts";
import { saveProfile, type ProfileInput } from "../../../config/profile-editor.ts";
import type { Context } from "../../program/context.ts";
import { type GivenAccount, readAccountSecret, readAccountTarget } from "./prompts.ts";
import { findRecord, type ProfileRecord } from "./records.ts";
import { readSecretLine } from "../auth/secret-line.ts";
import { tellPlace } from "../auth/secret-format.ts";

export interface ProfileRequest extends GivenAccount {
  readonly name: string;
  readonly database: string | undefined;
  /** As it was, where absent. */
  readonly isLive: boolean | undefined;
}

type Wanted = Pick<ProfileInput, "target" | "secret">;

/**
 * Writes a profile down, or changes one that is there; nothing is called and nothing is made.
 * Assumed: `auth login` alone tries a secret, so that a profile can be made where its service is not reached.
 * @throws UserError `usage`
 */
export async function addProfile(context: Context, request: ProfileRequest): Promise<ProfileRecord> {
  const sources = await context.profileSources();
  const { paths } = sources;
  const name = parseNewProfileName(request.name);
  const known = findStored(await readProfiles(paths.configFolder), name);
  const isHere = meansDatabase(context, request, known);
  const wanted = await (isHere
    ? readDatabase(context, request, known)
    : readAccount(context, request, known));
  const kept = await saveProfile(
    { ...secretSources(sources), paths },
    {
      name,
      id: known?.id ?? context.io.random(8).toString("hex"),
      isLive: request.isLive ?? known?.live === true,
      becomesCurrent: false,
      ...wanted,
    },
  );
  const record = await findRecord(context, name);
  context.messages.info(
    `${known ? "Changed" : "Added"} the profile ${name}${record.live ? ", which is live" : ""}.`,
  );
  if (kept) await tellPlace(context, kept);
  const next = record.signed_in ? `starpost profile use ${name}` : `starpost auth login --profile ${name}`;
  if (!record.current) context.messages.info(`Next: ${next}`);
  return record;
}

function meansDatabase(context: Context, given: ProfileRequest, known: StoredProfile | undefined): boolean {
  const isAccount = given.baseUrl !== undefined || given.appKey !== undefined;
  if (given.database !== undefined) return true;
  if (isAccount) return false;
  if (known) return isDatabase(known);
  const { env } = context.io;
  const isNamed = readVariable(env, "STARPOST_BASE_URL") !== undefined;
  return !isNamed && readVariable(env, "STARPOST_DATABASE") !== undefined;
}

async function readAccount(
  context: Context,
  request: ProfileRequest,
  stored: StoredProfile | undefined,
): Promise<Wanted> {
  const known = stored && !isDatabase(stored) ? stored : undefined;
  const target = await readAccountTarget(context, request, { known });
  const isSame = known?.base_url === target.base_url && known.app_key === target.app_key;
  // Who only changes a mark is not asked for the secret again.
  if (isSame && !request.isSecretOnStdin) return { target };
  return { target, secret: await readAccountSecret(context, request, target) };
}

/** A password comes in `STARPOST_DATABASE` or on standard input: what a flag says, everybody on the machine can read. */
async function readDatabase(
  { io: { env, cwd, stdin } }: Context,
  { database: given, isSecretOnStdin }: ProfileRequest,
  known: StoredProfile | undefined,
): Promise<Wanted> {
  const stored = known && isDatabase(known) ? known.database : undefined;
  const text = given ?? stored ?? readVariable(env, "STARPOST_DATABASE") ?? "";
  const source = given === undefined ? "STARPOST_DATABASE" : "--database";
  const { database: address } = findDatabase(text, cwd, source);
  const { database, password } = splitPassword(address);
  if (given !== undefined && password !== undefined) {
    throw new UserError(
      "usage",
      "--database holds a password, which a flag would show to others",
      "Leave it out, and give it on standard input with --secret-stdin; or give the whole address in STARPOST_DATABASE.",
    );
  }
  if (isSecretOnStdin && !isServer(database)) {
    throw new UserError("usage", "a file has no password: --secret-stdin is for PostgreSQL and for services");
  }
  const secret = isSecretOnStdin ? await readSecretLine(stdin, "password") : password;
  return { target: { database }, secret };
}

function isServer(database: string): boolean {
  return /^postgres(?:ql)?:/i.test(database);
}

function splitPassword(database: string): {
  readonly database: string;
  readonly password: string | undefined;
} {
  if (!isServer(database)) return { database, password: undefined };
  const url = new URL(database);
  const password = url.searchParams.get("password") ?? decodeURIComponent(url.password);
  if (password === "") return { database, password: undefined };
  url.password = "";
  url.searchParams.delete("password");
  return { database: url.href, password };
}
