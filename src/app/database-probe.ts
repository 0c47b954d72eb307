import type { DatabaseProbeMessage } from "../doctor/local/database-file-probe.ts";
import { inspectDatabase } from "../storage/inspect-database.ts";
import { checkIntegrity } from "../storage/sqlite/file-copy.ts";

/** How long to wait for a lock of the database, in milliseconds. */
const busyTimeoutMs = 1_000;

const [path = "", appKey] = process.argv.slice(2);

const send = (message: DatabaseProbeMessage) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });

async function probe(): Promise<void> {
  const inspection = await inspectDatabase(path, { clock: Date.now, busyTimeoutMs, appKey });
  await send({ inspection });
  if ("facts" in inspection) {
    const damage = Promise.resolve(path).then(checkIntegrity);
    await send({ damage: await damage.catch((error: Error) => [error.message]) });
  }
  process.disconnect();
}

void probe();
