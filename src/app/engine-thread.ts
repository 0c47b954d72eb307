import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { PoolSettings } from "../config/database-settings.ts";
import { loadHandlers } from "../engine/handlers.ts";
import { createLocalTransport } from "../engine/local-transport.ts";
import { createSealer } from "../engine/kernel/sealer.ts";
import { toServiceError } from "../engine/kernel/storage-errors.ts";
import { serveOverPort } from "../service/port-transport.ts";
import type { Transport } from "../service/transport.ts";
import { openDatabase } from "../storage/database.ts";

/** What the embedded engine needs to run in a separate thread. The database has been opened, and thus migrated, before. */
export interface EngineThreadData {
  readonly database: string;
  /** The database as it is shown to users. */
  readonly shownAs: string;
  readonly sealingKey: Uint8Array;
  /** The public address of the service, if known. */
  readonly publicUrl: string | undefined;
  readonly pool: PoolSettings;
  /** Whether all changes are rolled back when the transport is closed. */
  readonly isRehearsal: boolean;
}

/** Opens the engine. If that fails, returns a transport that rejects every call with the error. */
async function openTransport({
  database: url,
  shownAs,
  sealingKey,
  publicUrl,
  pool,
  isRehearsal,
}: EngineThreadData): Promise<Transport> {
  try {
    const database = await openDatabase(url, { nowMs: Date.now(), ...pool, isRehearsal, isBulk: true });
    const sealer = createSealer(Buffer.from(sealingKey));
    return createLocalTransport({
      database,
      clock: database.clock ?? (() => Date.now()),
      random: randomBytes,
      sealer,
      enforceLimits: false,
      isBulk: true,
      ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
    });
  } catch (error) {
    const refusal = toServiceError(error, shownAs);
    return { call: () => Promise.reject(refusal), close: async () => {} };
  }
}

/** Loads the engine, and opens it once `source` says with which data. */
async function serve(port: MessagePort, source: MessagePort): Promise<void> {
  const received = once(source, "message");
  await loadHandlers();
  const [data] = (await received) as [EngineThreadData];
  source.close();
  serveOverPort(port, await openTransport(data));
}

if (parentPort) void serve(parentPort, workerData as MessagePort);
