import { findReader, maxReaderLagMs } from "../../config/database-settings.ts";
import { inspectDatabase } from "../../storage/inspect-database.ts";
import { type Check, type DoctorContext, failed, ok, warning } from "../check.ts";
import { fixes } from "./database-checks.ts";

const name = "reader";
const fix =
  "Until then, servers read from the primary. Set STARPOST_DATABASE_READER to a streaming replica, or unset it.";

/** Checks the replica in `STARPOST_DATABASE_READER`. Omits the check without one. */
export async function checkReader({ env, clock }: DoctorContext, database: string): Promise<Check[]> {
  try {
    const address = findReader(env, database);
    if (!address) return [];
    const inspection = await inspectDatabase(address.location, { clock, busyTimeoutMs: 1_000 });
    if ("failure" in inspection) {
      return [warning(name, inspection.failure.message, fixes[inspection.failure.problem])];
    }
    const { replication, schema, newestSchema } = inspection.facts;
    const { shownAs } = address;
    if (!replication?.isReplica) return [warning(name, `${shownAs} is not a replica`, fix)];
    if (schema !== newestSchema) return [warning(name, `${shownAs} has schema ${schema}, not ${newestSchema}`, fix)];
    const { lagMs } = replication;
    const lag = lagMs === null ? "an unknown time" : `${(lagMs / 1_000).toFixed(1)} s`;
    const text = `${shownAs} is ${lag} behind its primary`;
    return [lagMs === null || lagMs > maxReaderLagMs ? warning(name, text, fix) : ok(name, text)];
  } catch (error) {
    return [failed(name, error, fix)];
  }
}
