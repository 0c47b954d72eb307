import type { HostContext } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import { UserError } from "../config/user-error.ts";
import { createSealingKey, readSealingKey } from "../config/sealing-key.ts";
import { findWebhookSettings } from "../config/webhook-settings.ts";
import type { LocalTransport, LocalTransportOptions } from "../engine/local-transport.ts";
import type { Database } from "../storage/database.ts";

interface Engine {
  readonly transport: LocalTransport;
  readonly appKey: string;
  readonly secret: string;
  readonly sealingKey: Buffer;
  readonly keepsOrder: boolean;
  readonly allowsPrivateWebhooks: boolean;
}

interface EngineOptions extends Omit<LocalTransportOptions, "database" | "clock" | "random" | "sealer"> {
  /** What refusals call the database; its path or address where absent. */
  readonly databaseShownAs?: string;
}

/** For what runs on while a newer version may take the place of the program's files. */
export async function loadEngine(): Promise<void> {
  const { loadHandlers } = await import("../engine/handlers.ts");
  await loadHandlers();
}

export async function openEngine(
  host: HostContext,
  { database: url, shownAs }: LocalProfile,
  { databaseShownAs = shownAs, ...options }: EngineOptions,
): Promise<Engine> {
  const { openDatabase } = await import("../storage/database.ts");
  const { ensureFirstAccount } = await import("../engine/accounts/first-account.ts");
  const { createLocalTransport } = await import("../engine/local-transport.ts");
  const { createSealer } = await import("../engine/kernel/sealer.ts");
  const { toServiceError } = await import("../engine/kernel/storage-errors.ts");
  const { clock, random, env, paths } = host;
  const kept = await readSealingKey(env, paths.keyFile);
  const database = await openDatabase(url, { nowMs: clock() }).catch((error: unknown) => {
    throw toServiceError(error, shownAs);
  });
  try {
    const hasAccount = kept === undefined && (await holdsAccount(database.db));
    const key = kept ?? (await findKey(host, { shownAs, hasAccount }));
    const sealer = createSealer(key);
    const { appKey, secret } = await ensureFirstAccount(database, { sealer, clock, random });
    const told = { ...database, shownAs: databaseShownAs };
    const { allowsPrivate: allowsPrivateWebhooks } = await findWebhookSettings(env, paths);
    const given = { database: told, clock, random, sealer, allowsPrivateWebhooks };
    const transport = createLocalTransport({ ...given, ...options });
    const keepsOrder = database.dialect.runsInOrder;
    return { transport, appKey, secret, sealingKey: key, keepsOrder, allowsPrivateWebhooks };
  } catch (error) {
    await database.db.destroy();
    throw toServiceError(error, shownAs);
  }
}

async function holdsAccount(db: Database["db"]): Promise<boolean> {
  return (await db.selectFrom("accounts").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Makes the sealing key where there is none. A key is always there before the first account that it seals, so that
 * an account without one has lost it: a new one could open nothing.
 */
async function findKey(
  { env, paths, random }: HostContext,
  { shownAs, hasAccount }: { readonly shownAs: string; readonly hasAccount: boolean },
): Promise<Buffer> {
  if (!hasAccount) return createSealingKey(paths.keyFile, random);
  // Another process may have made both since this one looked for the key.
  const made = await readSealingKey(env, paths.keyFile);
  if (made) return made;
  throw new UserError(
    "failed",
    `the key of ${shownAs} is missing: ${paths.keyFile} is not there`,
    "Put the key file back from a backup, or set STARPOST_KEY to the key that the database was made with.",
  );
}
