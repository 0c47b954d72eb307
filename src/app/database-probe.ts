import { checkIntegrity, type DatabaseLook, lookAtDatabase } from "../storage/sqlite/inspect-database.ts";

/** What the process tells, one after the other: a look takes no time, the integrity of a large file takes long. */
export type DatabaseProbeTold = { readonly look: DatabaseLook } | { readonly damage: readonly string[] };

/** How long a lock is waited for, milliseconds. */
const busyTimeoutMs = 1_000;

const path = process.argv[2] ?? "";
const tell = (told: DatabaseProbeTold) =>
  new Promise<void>((resolve) => {
    process.send?.(told, () => resolve());
  });

async function probe(): Promise<void> {
  const look = await lookAtDatabase(path, { clock: Date.now, busyTimeoutMs });
  await tell({ look });
  if ("facts" in look) {
    await tell({ damage: await checkIntegrity(path).catch((error: Error) => [error.message]) });
  }
  process.disconnect();
}

void probe();
