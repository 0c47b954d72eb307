import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { loadHandlers } from "../engine/handlers.ts";
import { createLocalTransport } from "../engine/local-transport.ts";
import { createSealer } from "../engine/kernel/sealer.ts";
import { toServiceError } from "../engine/kernel/storage-errors.ts";
import { serveOverPort } from "../service/port-transport.ts";
import type { Transport } from "../service/transport.ts";
import { openDatabase } from "../storage/database.ts";

/** What the embedded engine needs to run in a thread of its own; its database was opened before. */
export interface EngineThreadData {
  readonly database: string;
  /** The database as a person may see it. */
  readonly shownAs: string;
  readonly sealingKey: Uint8Array;
  /** Where the service is reached by everybody, where it is known. */
  readonly publicUrl: string | undefined;
  /** Whether all that the calls do is taken back when it closes. */
  readonly isRehearsal: boolean;
}

const { database: url, shownAs, sealingKey, publicUrl, isRehearsal } = workerData as EngineThreadData;
const clock = () => Date.now();

/** The engine, or, where its database cannot be opened, what says so to every call. */
async function openTransport(): Promise<Transport> {
  try {
    const database = await openDatabase(url, { nowMs: clock(), isRehearsal });
    const sealer = createSealer(Buffer.from(sealingKey));
    return createLocalTransport({
      database,
      clock,
      random: randomBytes,
      sealer,
      enforceLimits: false,
      ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
    });
  } catch (error) {
    const refusal = toServiceError(error, shownAs);
    return { call: () => Promise.reject(refusal), close: async () => {} };
  }
}

async function serve(port: MessagePort): Promise<void> {
  await loadHandlers();
  serveOverPort(port, await openTransport());
}

if (parentPort) void serve(parentPort);
