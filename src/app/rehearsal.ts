import { join } from "node:path";
import type { RehearsalSettings } from "./ports.ts";
import { createService, type Service } from "../service/service.ts";
import type { Transport } from "../service/transport.ts";
import { TemporaryFolder } from "../storage/temporary-folder.ts";
import { type TokenCache, withToken } from "../service/with-token.ts";

/** Caches no tokens, because tokens of a rehearsal are not valid afterward. */
export const noTokens: TokenCache = { read: async () => undefined, write: async () => {}, clear: async () => {} };

/** A database with an account, on which a rehearsal runs. */
export interface Stage {
  /** Used to prepare the database. Must be closed before the rehearsal opens it. */
  readonly transport: Transport;
  readonly appKey: string;
  readonly secret: string;
  readonly sealingKey: Buffer;
  readonly database: string;
  readonly shownAs: string;
  /** Descriptions of account data that could not be copied. */
  readonly notKnown: readonly string[];
  /** Deletes the database, if it is a copy. */
  remove(): Promise<void>;
}

/**
 * Copies the data of a remote account that an import depends on to a temporary database that only this user can read.
 * @throws ServiceError
 */
export async function copyAccount(from: Service, settings: RehearsalSettings): Promise<Stage> {
  const { openDatabase } = await import("../storage/database.ts");
  const { createAccount } = await import("../engine/accounts/first-account.ts");
  const { createLocalTransport } = await import("../engine/local-transport.ts");
  const { createSealer } = await import("../engine/kernel/sealer.ts");
  const { seedAccount } = await import("../engine/account-seed.ts");
  const { clock, random, resources, copy, signal, onEvent } = settings;
  const folder = new TemporaryFolder("rehearsal");
  const remove = async () => folder[Symbol.dispose]();
  const path = join(folder.path, "rehearsal.db");
  const nowMs = clock();
  try {
    const database = await openDatabase(path, { nowMs });
    const sealingKey = random(32);
    const options = { database, clock, random, sealer: createSealer(sealingKey), enforceLimits: false };
    const transport = createLocalTransport(options);
    try {
      const { id, appKey, secret } = await createAccount(database.db, { ...options, nowMs });
      const signed = withToken(transport, { appKey, readSecret: async () => secret, cache: noTokens, clock });
      const to = createService(signed, { appKey });
      const callOptions = { signal, onEvent };
      const seeding = { from, to, work: transport.work, account: { id, appKey }, options: callOptions };
      const unseeded = await seedAccount(resources, seeding);
      const notKnown = [...unseeded, ...((await copy?.(from, to, callOptions)) ?? [])];
      return { transport, appKey, secret, sealingKey, database: path, shownAs: "the rehearsal", notKnown, remove };
    } catch (error) {
      await transport.close();
      throw error;
    }
  } catch (error) {
    await remove();
    throw error;
  }
}
