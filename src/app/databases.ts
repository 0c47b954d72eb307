import type { DatabaseStatus, Distribution, HostContext } from "./ports.ts";
import { findPoolSize } from "../config/database-settings.ts";
import type { LocalProfile } from "../config/profile.ts";
import { UserError } from "../config/user-error.ts";
import { toServiceError } from "../engine/kernel/storage-errors.ts";
import { inspectDatabase } from "../storage/inspect-database.ts";
import { StorageError } from "../storage/storage-error.ts";

/** How long to wait for a lock of the database, in milliseconds. */
const busyTimeoutMs = 5_000;

/**
 * Reads the state of a database without migrating it.
 * @throws ServiceError
 */
export async function readDatabaseStatus(
  { clock }: HostContext,
  { database, shownAs }: LocalProfile,
): Promise<DatabaseStatus> {
  const inspection = await inspectDatabase(database, { clock, busyTimeoutMs });
  if ("facts" in inspection) return { shownAs, ...inspection.facts };
  const { problem, message } = inspection.failure;
  if (problem === "bug") throw new Error(message);
  throw toServiceError(new StorageError(problem, message), shownAs);
}

/**
 * Prepares the distribution of a database over several servers. Nothing is changed until `distribute` is called.
 * @throws UserError if the server cannot distribute tables, ServiceError
 */
export async function openDistribution(
  { clock, env }: HostContext,
  { database: url, shownAs }: LocalProfile,
): Promise<Distribution> {
  const { distributeDatabase, planDistribution } = await import("../storage/postgres/distribute-database.ts");
  const convert = (error: unknown): never => {
    throw toServiceError(error, shownAs);
  };
  const plan = await planDistribution(url).catch(convert);
  if ("problem" in plan) {
    throw new UserError(
      "failed",
      `cannot distribute ${shownAs}: ${plan.problem}; nothing was changed`,
      "Use PostgreSQL with the Citus extension, and add citus to its shared_preload_libraries.",
    );
  }
  const distribute = () => distributeDatabase(url, { nowMs: clock(), poolSize: findPoolSize(env) }).catch(convert);
  return { ...plan, distribute };
}
