import type { DatabaseProbeMessage } from "../doctor/local/database-file-probe.ts";
import { inspectDatabase } from "../storage/inspect-database.ts";
import { newestSchema } from "../storage/schema/migrate.ts";
import { checkIntegrity } from "../storage/sqlite/file-copy.ts";
import { findForeignObjects, findMissing } from "../storage/sqlite/schema-check.ts";

/** How long to wait for a lock of the database, in milliseconds. */
const busyTimeoutMs = 1_000;

const [path = "", mode, appKey] = process.argv.slice(2);

const send = (message: DatabaseProbeMessage) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });

async function probe(): Promise<void> {
  const isUntrusted = mode === "untrusted";
  const foreign = isUntrusted
    ? await Promise.resolve(path)
        .then(findForeignObjects)
        .catch(() => [])
    : [];
  if (foreign.length > 0) await send({ foreign });
  else await inspect(isUntrusted);
  process.disconnect();
}

async function inspect(isUntrusted: boolean): Promise<void> {
  const inspection = await inspectDatabase(path, { clock: Date.now, busyTimeoutMs, appKey });
  await send({ inspection });
  if ("failure" in inspection) return;
  const missing = isUntrusted && inspection.facts.schema === newestSchema ? findMissing(path) : undefined;
  const damage = missing === undefined ? Promise.resolve(path).then(checkIntegrity) : Promise.resolve([missing]);
  await send({ damage: await damage.catch((error: Error) => [error.message]) });
}

void probe();
