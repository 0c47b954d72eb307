import { sql } from "kysely";
import { type Database, openDatabase } from "../database.ts";
import type { DriverOptions } from "../dialect.ts";
import { replicaLagMs } from "./server-facts.ts";
import { StorageError } from "../storage-error.ts";

/** How long a statement may wait for a lock on a replica, in milliseconds; there are hardly any. */
const busyTimeoutMs = 1_000;

/**
 * Opens a replica of a database on another server. It is not migrated, because the primary's migrations reach it.
 * @throws StorageError also if it has another schema
 */
export function openReplica(url: string, options: Pick<DriverOptions, "poolSize" | "poolWaitMs">): Promise<Database> {
  return openDatabase(url, { nowMs: 0, busyTimeoutMs, ...options });
}

/**
 * Measures how far a replica is behind its primary, in milliseconds.
 * @throws StorageError if it is not a replica of this primary
 */
export async function readReplicaLag(replica: Database, primary: Database): Promise<number> {
  const read = async ({ db }: Database) => {
    const { rows } = await sql<{ is_replica: boolean; lag_ms: number | null; system: string }>`
      select pg_is_in_recovery() as is_replica, ${replicaLagMs} as lag_ms, system_identifier::text as system
      from pg_control_system()`.execute(db);
    return rows[0];
  };
  const [own, other] = await Promise.all([read(replica), read(primary)]);
  if (!own?.is_replica) throw new StorageError("notOurs", `${replica.shownAs}: the server is not a replica`);
  if (own.system !== other?.system) {
    throw new StorageError("notOurs", `${replica.shownAs}: the server is a replica of another primary`);
  }
  return own.lag_ms ?? Number.POSITIVE_INFINITY;
}
