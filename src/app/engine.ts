import { join } from "node:path";
import type { HostContext } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import { outboxFolderOf } from "../config/paths.ts";
import { findPoolSettings } from "../config/database-settings.ts";
import { unknownAccount } from "../config/profile-name.ts";
import { UserError } from "../config/user-error.ts";
import { createSealingKey, followSealingKey, readSealingKey } from "../config/sealing-key.ts";
import { findWebhookSettings } from "../config/webhook-settings.ts";
import type { AccountKeys } from "../engine/accounts/first-account.ts";
import type { Sealer } from "../engine/kernel/sealer.ts";
import type { LocalTransport, LocalTransportOptions } from "../engine/local-transport.ts";
import type { Database } from "../storage/database.ts";
import { StorageError } from "../storage/storage-error.ts";

interface Engine {
  readonly transport: LocalTransport;
  /** The time of the engine: of the database server, or of this machine. */
  readonly clock: () => number;
  readonly appKey: string;
  readonly secret: string;
  readonly sealingKey: Buffer;
  readonly keepsOrder: boolean;
  /** The path or URL of the database: that of the profile, or a temporary one. */
  readonly database: string;
  /** Deletes the database if it is temporary. It must be closed. */
  readonly remove: () => void;
  /** Reads the settings of webhooks again. @throws UserError if they are invalid; then the old ones stay in use */
  readonly reloadWebhooks: () => Promise<void>;
}

interface EngineOptions extends Omit<LocalTransportOptions, "database" | "clock" | "random" | "sealer"> {
  /** The name of the database in error messages (default: its path or address). */
  readonly databaseShownAs?: string;
  /** The delay of the bottom lines of all products in a new account, in seconds (default: the specification's). */
  readonly newAccountDelay?: number;
}

/** Accounts that commands create show every change at once. Servers and workers create accounts with the specification's delay. */
export const commandAccounts = { newAccountDelay: 0 } as const;

/** Loads all handlers now, for long-running processes: a later update may replace the program files. */
export async function loadEngine(): Promise<void> {
  const { loadHandlers } = await import("../engine/handlers.ts");
  await loadHandlers();
}

export async function openEngine(
  host: HostContext,
  profile: LocalProfile,
  { databaseShownAs = profile.shownAs, newAccountDelay, ...options }: EngineOptions,
): Promise<Engine> {
  const { shownAs, account } = profile;
  const { ensureFirstAccount } = await import("../engine/accounts/first-account.ts");
  const { createLocalTransport } = await import("../engine/local-transport.ts");
  const { createSealer } = await import("../engine/kernel/sealer.ts");
  const { toServiceError } = await import("../engine/kernel/storage-errors.ts");
  const { random, env, paths } = host;
  const existingKey = await readSealingKey(env, paths.keyFile);
  const { database, url, folder } = await openProfileDatabase(host, profile).catch((error: unknown) => {
    throw toServiceError(error, shownAs);
  });
  const remove = () => folder?.[Symbol.dispose]();
  const { clock = host.clock } = database;
  try {
    const key = existingKey ?? (folder ? random(32) : await createKey(host, database.db, shownAs));
    const sealer = createSealer(followSealingKey(env, paths.keyFile, key));
    const first = await ensureFirstAccount(database, { sealer, clock, random, bottomLinesDelay: newAccountDelay });
    const { appKey, secret } = account === undefined ? first : await findAccount(database, account, sealer);
    let { allowsPrivate } = await findWebhookSettings(env, paths);
    const reloadWebhooks = async () => {
      ({ allowsPrivate } = await findWebhookSettings(env, paths));
    };
    const transport = createLocalTransport({
      database: { ...database, shownAs: databaseShownAs },
      clock,
      random,
      sealer,
      onErased: async (mailIds) => {
        const { removeMessages } = await import("../email/transports/open-transport.ts");
        await removeMessages(outboxFolderOf(paths), mailIds);
      },
      privateWebhooksFor: () => (allowsPrivate ? first.appKey : undefined),
      ...options,
    });
    const keepsOrder = database.dialect.runsInOrder;
    return { transport, clock, appKey, secret, sealingKey: key, keepsOrder, database: url, remove, reloadWebhooks };
  } catch (error) {
    await database.db.destroy();
    remove();
    throw toServiceError(error, shownAs);
  }
}

/**
 * Opens the database of a profile. The host decides what happens without one.
 * @throws StorageError also `missing`
 */
async function openProfileDatabase({ env, clock, withoutDatabase }: HostContext, { database: url }: LocalProfile) {
  const { openDatabase } = await import("../storage/database.ts");
  const options = { nowMs: clock(), ...findPoolSettings(env) };
  try {
    return { url, database: await openDatabase(url, { ...options, mustExist: withoutDatabase !== "create" }) };
  } catch (error) {
    const isMissing = error instanceof StorageError && error.problem === "missing";
    if (!isMissing || withoutDatabase !== "temporary") throw error;
    const { TemporaryFolder } = await import("../storage/temporary-folder.ts");
    const folder = new TemporaryFolder("rehearsal");
    const path = join(folder.path, "rehearsal.db");
    return { url: path, folder, database: await openDatabase(path, options) };
  }
}

/** @throws UserError `failed` if the account does not exist */
async function findAccount({ db, shownAs }: Database, appKey: string, sealer: Sealer): Promise<AccountKeys> {
  const accounts = db.selectFrom("accounts").select("secret_sealed");
  const found = await accounts.where("app_key", "=", appKey).executeTakeFirst();
  if (found) return { appKey, secret: sealer.open(found.secret_sealed) };
  throw unknownAccount(appKey, shownAs);
}

/**
 * Creates the sealing key. If the database already has an account, its key has been lost, and a new key could not
 * decrypt anything.
 */
async function createKey({ env, paths, random }: HostContext, db: Database["db"], shownAs: string): Promise<Buffer> {
  const account = await db.selectFrom("accounts").select("id").limit(1).executeTakeFirst();
  if (!account) {
    return createSealingKey(paths.keyFile, random).catch((error: unknown) => {
      if (!(error instanceof UserError)) throw error;
      const hint = "Set STARPOST_HOME to a writable folder, or STARPOST_KEY to a key of 64 hexadecimal digits.";
      throw new UserError("failed", `cannot store the sealing key: ${error.message}`, hint, error);
    });
  }
  // Another process may have created both in the meantime.
  const key = await readSealingKey(env, paths.keyFile);
  if (key) return key;
  throw new UserError(
    "failed",
    `the sealing key of ${shownAs} is missing: ${paths.keyFile} does not exist`,
    "Restore the key file from a backup, or set STARPOST_KEY to the original key.",
  );
}
