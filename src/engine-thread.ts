import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { createLocalTransport } from "./engine/local-transport.ts";
import { createSealer } from "./engine/sealer.ts";
import { serveOverPort } from "./service/port-transport.ts";
import { openDatabase } from "./storage/database.ts";

/** What the embedded engine needs to run in a thread of its own; its database was opened before. */
export interface EngineThreadData {
  readonly database: string;
  readonly sealingKey: Uint8Array;
}

const { database: path, sealingKey } = workerData as EngineThreadData;
const clock = () => Date.now();
const database = await openDatabase(path, { nowMs: clock() });
const transport = createLocalTransport({
  database,
  clock,
  random: randomBytes,
  sealer: createSealer(Buffer.from(sealingKey)),
  enforceLimits: false,
});
if (parentPort) serveOverPort(parentPort, transport);
