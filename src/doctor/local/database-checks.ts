import { stat, statfs } from "node:fs/promises";
import type { LocalProfile } from "../../config/profile.ts";
import { storageHints } from "../../storage/storage-error.ts";
import { describeHold } from "../../contract/emails/sending.ts";
import {
  type DatabaseFacts,
  type DatabaseFailure,
  inspectDatabase,
  listLostNodes,
} from "../../storage/inspect-database.ts";
import { countOf, formatBytes, formatDuration } from "../../terminal/plural.ts";
import { type Check, ok, problem, skipAll, skipped, warning, failed, type DoctorContext } from "../check.ts";
import { formatMode, isAccessibleToOthers, quoteAll } from "../folder-checks.ts";
import { findPoolSize, findReader, maxReaderLagMs } from "../../config/database-settings.ts";
import type { Environment } from "../../config/environment.ts";
import { defaultPoolSize, type DialectFacts } from "../../storage/dialect.ts";
import { readRecords } from "../../backup/records.ts";
import { dayMs } from "../../contract/time.ts";
import { codeOf } from "../../config/user-error.ts";

/** An import can use up less than this quickly; bytes. */
const minFreeBytes = 200_000_000;

/** What to do about a failure, as a sentence. */
export function fixOf({ problem: kind, hint }: Omit<DatabaseFailure, "message">): string {
  const advice = hint ?? (kind === "bug" ? "this is a bug in starpost; report it" : storageHints[kind]);
  return `${advice.charAt(0).toUpperCase()}${advice.slice(1)}${advice.endsWith(".") ? "" : "."}`;
}

/** Reports that a database could not be inspected, and skips the checks that depend on it. */
export function reportFailure(failure: DatabaseFailure): Check[] {
  return [
    problem("database", failure.message, fixOf(failure)),
    ...skipAll(["database-integrity", "key", "credentials", "tokens"], "the database cannot be read"),
  ];
}

/** Checks the version, the schema, and (for SQLite) the free space next to the file. */
export async function checkDatabase(
  facts: DatabaseFacts,
  { shownAs }: Pick<LocalProfile, "shownAs">,
  folder: string | undefined,
): Promise<Check> {
  const { version, schema, newestSchema, schemaProblem, tables, bytes } = facts;
  const freeBytes = folder === undefined ? undefined : await findFreeBytes(folder);
  const free = freeBytes === undefined ? "" : `, ${formatBytes(freeBytes)} free`;
  const summary = `${shownAs}: ${version}, ${formatBytes(bytes)}${free}`;
  if (schema === null) {
    if (tables === 0)
      return ok(
        "database",
        `${summary}; empty, \`starpost init\`, \`starpost serve\`, or an import creates the tables`,
      );
    return problem(
      "database",
      `${summary}; not a starpost database, it contains other tables`,
      fixOf({ problem: "notOurs" }),
    );
  }
  if (schemaProblem) return problem("database", `${summary}; ${schemaProblem.problem}`, schemaProblem.fix);
  if (schema < newestSchema) {
    return warning(
      "database",
      `${summary}; schema ${schema} will be migrated to ${newestSchema} on next use`,
      "If an older starpost still needs the database, back it up first.",
    );
  }
  if (freeBytes !== undefined && freeBytes < minFreeBytes)
    return warning("database", summary, fixOf({ problem: "full" }));
  return ok("database", `${summary}, schema ${schema} (latest)`);
}

export async function findFreeBytes(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found && found.bavail * found.bsize;
}

/** Checks the modes of a database file and its write-ahead log. */
export async function checkFileModes(path: string): Promise<Check> {
  const files = [path, `${path}-wal`, `${path}-shm`];
  const modes = await Promise.all(files.map(async (file) => (await stat(file).catch(() => undefined))?.mode ?? 0));
  const exposed = files.flatMap((file, at) => {
    const mode = modes[at] ?? 0;
    return isAccessibleToOthers(mode) ? [{ file, shown: `${file} (mode ${formatMode(mode)})` }] : [];
  });
  if (exposed.length === 0) return ok("database-file", "readable only by you");
  const message = `other users can read ${exposed.map(({ shown }) => shown).join(", ")}`;
  return problem("database-file", message, `chmod 600 ${quoteAll(exposed.map(({ file }) => file))}`);
}

export function checkJournal({ hasWriteAheadLog, schema }: DatabaseFacts): Check {
  if (hasWriteAheadLog === true) return ok("database-journal", "write-ahead log enabled");
  if (schema === null) return skipped("database-journal", "the write-ahead log is enabled on first use");
  return warning(
    "database-journal",
    "write-ahead log disabled; readers and writers block each other",
    "It is enabled on next use. If it does not stay enabled, the file system does not support it: move the database to a local disk.",
  );
}

export function checkDamage(damage: readonly string[] | undefined, { bytes }: DatabaseFacts, timeoutMs: number): Check {
  if (damage === undefined) {
    return skipped(
      "database-integrity",
      `checking ${formatBytes(bytes)} did not finish in ${timeoutMs / 1_000} s; to allow more time, pass --timeout`,
    );
  }
  if (damage.length === 0) return ok("database-integrity", "SQLite quick check passed");
  return problem(
    "database-integrity",
    `SQLite quick check failed: ${damage.join("; ")}`,
    fixOf({ problem: "damaged" }),
  );
}

/** Reports emails that their accounts may not send yet. Omits the check if no email is held. */
export function checkHeldEmails({ heldEmails }: DatabaseFacts): Check[] {
  const counts = Object.entries(heldEmails).flatMap(([reason, emails]) => {
    const description = describeHold(reason);
    return description === undefined ? [] : [`${emails} because ${description}`];
  });
  if (counts.length === 0) return [];
  const fix = "For each account in the log of the worker, run `starpost account email-status <app_key>`.";
  return [warning("held-emails", `held emails: ${counts.join("; ")}`, fix)];
}

/** Warns about emails without the postal address of the store, which many countries require. Omitted without emails. */
export function checkPostalAddress({ lacksPostalAddress = false }: DatabaseFacts): Check[] {
  if (!lacksPostalAddress) return [];
  const fix = "Run `starpost account brand set --postal-address <text>`.";
  return [warning("postal-address", "emails do not contain the postal address of the store", fix)];
}

/** A worker sends what is due within seconds; after this time, in milliseconds, it is probably not running. */
const maxDelayMs = 15 * 60 * 1_000;

/** Checks how long the oldest email and the oldest webhook have been due. Omitted if the tables are of an older version. */
export function checkBacklog({ backlog }: Pick<DatabaseFacts, "backlog">, nowMs: number): Check[] {
  if (!backlog) return [];
  return [
    checkDelay("unsent-emails", "email", backlog.emailDueAtMs, nowMs),
    checkDelay("webhooks", "webhook", backlog.webhookDueAtMs, nowMs),
  ];
}

function checkDelay(name: string, item: string, dueAtMs: number | null, nowMs: number): Check {
  if (dueAtMs === null || dueAtMs > nowMs) return ok(name, `no ${item} is due`);
  const message = `the oldest ${item} has been due for ${formatDuration(nowMs - dueAtMs)}`;
  if (nowMs - dueAtMs <= maxDelayMs) return ok(name, message);
  const fix = "Check that a server or `starpost mail run` is running, and its log.";
  return warning(name, message, fix);
}

/** Checks that no more codes are issued in a week than are left. Omits the check if no codes are issued. */
export function checkCoupons({ coupons = [] }: Pick<DatabaseFacts, "coupons">): Check[] {
  if (coupons.length === 0) return [];
  const low = coupons.filter(({ left, issuedLately }) => left <= issuedLately);
  if (low.length === 0) return [ok("coupons", "enough coupon codes are left")];
  const counts = low.map(({ appKey, action, left, issuedLately }) => {
    return `${left} left of ${action} in account ${appKey}, ${issuedLately} issued in 7 days`;
  });
  return [warning("coupons", `coupon codes run out: ${counts.join("; ")}`, "Run `starpost coupons import`.")];
}

/** Compares the connection pool of a process with what the PostgreSQL server has left. */
export function checkConnections({ connections }: Pick<DialectFacts, "connections">, env: Environment): Check[] {
  if (!connections) return [];
  const { max, used, own, limitOf } = connections;
  try {
    const pool = findPoolSize(env) ?? defaultPoolSize;
    const use = `${used} of ${max} of the ${limitOf} in use, ${own} by starpost; each process opens up to ${pool} (STARPOST_DATABASE_POOL)`;
    const limit = limitOf === "server" ? "max_connections" : "the connection limit";
    const fix = `Raise ${limit} of the ${limitOf}, lower STARPOST_DATABASE_POOL, or use a connection pooler.`;
    if (pool > max) return [problem("connections", use, fix)];
    // The connections of starpost may be those of the process that needs the most.
    const stillNeeded = Math.max(1, pool - own);
    return [max - used < stillNeeded ? warning("connections", use, fix) : ok("connections", use)];
  } catch (error) {
    return [failed("connections", error, "Correct the variable.")];
  }
}

/** Checks that the servers of a cluster can be reached. Omits the check without a cluster. */
export function checkNodes({ cluster }: Pick<DialectFacts, "cluster">): Check[] {
  if (!cluster) return [];
  const lost = listLostNodes({ cluster });
  const all = countOf(cluster.nodes.length, "server");
  if (lost.length === 0) return [ok("nodes", `${all} of the cluster can be reached`)];
  const message = `the coordinator cannot reach ${lost.join(", ")}: calls for the accounts there fail`;
  return [problem("nodes", message, "Check that PostgreSQL is running there, and the network between the servers.")];
}

const readerFix =
  "Until then, servers read from the primary. Set STARPOST_DATABASE_READER to a streaming replica, or unset it.";

/** Checks the replica in `STARPOST_DATABASE_READER`. Omits the check without one. */
export async function checkReader({ env, clock }: DoctorContext, database: string): Promise<Check[]> {
  try {
    const address = findReader(env, database);
    if (!address) return [];
    const inspection = await inspectDatabase(address.location, { clock, busyTimeoutMs: 1_000 });
    if ("failure" in inspection) {
      return [warning("reader", inspection.failure.message, fixOf(inspection.failure))];
    }
    const { replication, schema, newestSchema } = inspection.facts;
    const { shownAs } = address;
    if (!replication?.isReplica) return [warning("reader", `${shownAs} is not a replica`, readerFix)];
    if (schema !== newestSchema)
      return [warning("reader", `${shownAs} has schema ${schema}, not ${newestSchema}`, readerFix)];
    const { lagMs } = replication;
    const lag = lagMs === null ? "an unknown time" : `${(lagMs / 1_000).toFixed(1)} s`;
    const text = `${shownAs} is ${lag} behind its primary`;
    return [lagMs === null || lagMs > maxReaderLagMs ? warning("reader", text, readerFix) : ok("reader", text)];
  } catch (error) {
    return [failed("reader", error, readerFix)];
  }
}

/** Backups record the size of the database. The growth is measured from the oldest of this period, in milliseconds. */
const period = { min: dayMs, max: 30 * dayMs } as const;

/** Less time than this until the disk is full is a warning, in days. */
const minDaysLeft = 30;

/**
 * Estimates when the disk is full, from the sizes that backups recorded.
 * @param freeBytes undefined if the disk is that of a server
 */
export async function checkGrowth(
  { paths, clock }: Pick<DoctorContext, "paths" | "clock">,
  { shownAs }: Pick<LocalProfile, "shownAs">,
  { bytes, freeBytes }: { readonly bytes: number; readonly freeBytes: number | undefined },
): Promise<Check> {
  const nowMs = clock();
  const { backups } = await readRecords(paths);
  const ages = backups.flatMap(({ database, database_size: size, created_at }) =>
    database === shownAs && size !== undefined ? [{ size, ageMs: nowMs - Date.parse(created_at) }] : [],
  );
  const base = ages.find(({ ageMs }) => ageMs >= period.min && ageMs <= period.max);
  if (!base)
    return skipped("database-growth", "measured from the newest 30 days of backups; none is at least a day old");
  const days = base.ageMs / dayMs;
  const perDay = (bytes - base.size) / days;
  const measured = `in the last ${days.toFixed(1)} days`;
  if (perDay <= 0) return ok("database-growth", `did not grow ${measured}`);
  const growth = `grew by ${formatBytes(Math.round(perDay))} per day ${measured}`;
  if (freeBytes === undefined) return ok("database-growth", `${growth}; the server does not report its free space`);
  const daysLeft = Math.floor(freeBytes / perDay);
  const fullOn = new Date(nowMs + daysLeft * dayMs);
  // A later day is of no use, and may not be a valid date.
  if (daysLeft > 3_650) return ok("database-growth", `${growth}; at this rate, the disk is not full for ten years`);
  const message = `${growth}; at this rate, the disk is full in ${daysLeft} days (${fullOn.toISOString().slice(0, 10)})`;
  if (daysLeft >= minDaysLeft) return ok("database-growth", message);
  return warning(
    "database-growth",
    message,
    "Add disk space. `account set --retain-emails` and `starpost imports purge` free some.",
  );
}

/** An older backup is reported if there is no schedule, in milliseconds. */
const maxAgeMs = 7 * 24 * 60 * 60 * 1_000;

const makeBackup = "Run `starpost backup create`.";

/** Checks the age of the newest backup of the database that was made on this machine, and the schedule. */
export async function checkBackups(
  { paths, clock }: Pick<DoctorContext, "paths" | "clock">,
  { shownAs }: Pick<LocalProfile, "shownAs">,
  hasContent: boolean,
): Promise<Check> {
  const { backups, schedules } = await readRecords(paths);
  const last = backups.findLast(({ database }) => database === shownAs);
  const schedule = schedules[shownAs];
  if (schedule?.error) {
    const message = `the scheduled backup failed at ${schedule.tried_at}: ${schedule.error}`;
    return warning("backup", message, "Correct the cause; the server tries again. Or run `starpost backup create`.");
  }
  if (!last) {
    const none = "no backup was made with starpost on this machine";
    return hasContent ? warning("backup", none, makeBackup) : skipped("backup", none);
  }
  const ageMs = clock() - Date.parse(last.created_at);
  const found = await stat(last.file).catch((error: unknown) => error as Error);
  const isGone = found instanceof Error && codeOf(found) === "ENOENT";
  const message = `the newest backup is ${formatDuration(ageMs)} old: ${last.file}${isGone ? " (moved or deleted)" : ""}`;
  // A file in a folder of another user is as private as that folder.
  if (!(found instanceof Error) && isAccessibleToOthers(found.mode)) {
    const exposed = `other users can read ${last.file} (mode ${formatMode(found.mode)})`;
    return problem("backup", exposed, `chmod 600 '${last.file}'`);
  }
  const limitMs = schedule ? 2 * schedule.every_ms : maxAgeMs;
  if (ageMs <= limitMs) return ok("backup", message);
  const fix = schedule ? "Check that the server with --backup-every is running." : makeBackup;
  return warning("backup", message, fix);
}
