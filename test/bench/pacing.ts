/**
 * Measures how much of the service's limit a paced client uses, and whether it is ever refused: core listings at rate 5 over
 * loopback for a minute, with concurrent calls. Not part of the tests.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpTransport } from "../../src/client/http-transport.ts";
import { coreRateLimit } from "../../src/contract/core.ts";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { createServer } from "../../src/server/server.ts";
import { createServerLog } from "../../src/server/server-log.ts";
import { withToken } from "../../src/service/with-token.ts";
import type { CallEvent, Transport } from "../../src/service/transport.ts";
import { openDatabase } from "../../src/storage/database.ts";

const clock = () => Date.now();
const durationMs = Number(process.argv[2] ?? 60_000);
const concurrency = 4;

interface Counts {
  answered: number;
  attempts: number;
  refused: number;
}

/** Sends calls with at most `concurrency` in flight until the time is up. */
async function measure(transport: Transport): Promise<Counts> {
  const counts: Counts = { answered: 0, attempts: 0, refused: 0 };
  const onEvent = (event: CallEvent) => {
    if (event.type === "attempt") counts.attempts += 1;
    if (event.type === "wait" && event.reason === "throttled") counts.refused += 1;
  };
  const signal = AbortSignal.timeout(durationMs);
  const worker = async () => {
    while (!signal.aborted) {
      try {
        await transport.call("core.listProducts", {}, {}, { signal, onEvent });
        counts.answered += 1;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return counts;
}

const folder = await mkdtemp(join(tmpdir(), "starpost-bench-"));
const database = await openDatabase(join(folder, "starpost.db"), { nowMs: clock() });
const sealer = createSealer(randomBytes(32));
const { appKey, secret } = await ensureFirstAccount(database, { sealer, clock, random: randomBytes });
const local = createLocalTransport({ database, clock, random: randomBytes, sealer, enforceLimits: true });
let answered429 = 0;
const logger = createServerLog(
  { write: (line: string) => void (answered429 += line.includes('"status":429') ? 1 : 0) },
  { level: "info", clock },
);
const server = createServer(local, { logger });
const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
const remote = withToken(createHttpTransport({ baseUrl: url, ratePerSecond: coreRateLimit.requests, clock }), {
  appKey,
  readSecret: async () => secret,
  cache: { read: async () => undefined, write: async () => {}, clear: async () => {} },
  clock,
});
await remote.token();
const counts = await measure(remote);
const allowed = (coreRateLimit.requests * durationMs) / coreRateLimit.windowMs;
console.log(
  JSON.stringify({
    duration_ms: durationMs,
    ...counts,
    answered_429: answered429,
    allowed,
    share_of_allowed: Number((counts.answered / allowed).toFixed(4)),
  }),
);
await remote.close();
await server.close();
await local.close();
await rm(folder, { recursive: true });
