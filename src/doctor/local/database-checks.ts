import { statfs } from "node:fs/promises";
import { platform } from "node:os";
import type { LocalProfile } from "../../config/profile.ts";
import { describeHold } from "../../contract/emails/sending.ts";
import type { DatabaseFacts, DatabaseFailure } from "../../storage/inspect-database.ts";
import { formatBytes } from "../../terminal/plural.ts";
import { type Check, ok, problem, skipAll, skipped, warning } from "../check.ts";
import { formatMode } from "../folder-checks.ts";

export const fixes: Readonly<Record<DatabaseFailure["problem"], string>> = {
  busy: "Try again. If the error persists, find out which other process writes to the database.",
  unreachable: "Check that the PostgreSQL server is running and can be reached from this machine.",
  unsure: "Try again.",
  full: "Free up disk space, and check the health of the disk.",
  readOnly: "Allow writing to the database: check the file, its folder and file system, or the server.",
  damaged: "Restore the database from a backup.",
  notOurs: "Set STARPOST_DATABASE to another database.",
  cannotOpen: "Check the path or address in STARPOST_DATABASE, and your permissions.",
  deleted: "Stop all starpost processes, and restore the database from a backup.",
  bug: "This is a bug in starpost. Report it.",
};

/** An import can use up less than this quickly; bytes. */
const minFreeBytes = 200_000_000;

/** Reports that a database could not be inspected, and skips the checks that depend on it. */
export function reportFailure(failure: DatabaseFailure, fix = fixes[failure.problem]): Check[] {
  return [
    problem("database", failure.message, fix),
    ...skipAll(["database-integrity", "key", "credentials", "tokens"], "the database cannot be read"),
  ];
}

/** Checks the version, the schema, and (for SQLite) the free space next to the file. */
export async function checkDatabase(
  facts: DatabaseFacts,
  { shownAs }: Pick<LocalProfile, "shownAs">,
  folder: string | undefined,
): Promise<Check> {
  const name = "database";
  const { version, schema, newestSchema, schemaProblem, tables, bytes } = facts;
  const freeBytes = folder === undefined ? undefined : await findFreeBytes(folder);
  const free = freeBytes === undefined ? "" : `, ${formatBytes(freeBytes)} free`;
  const summary = `${shownAs}: ${version}, ${formatBytes(bytes)}${free}`;
  if (schema === null) {
    if (tables === 0) return ok(name, `${summary}; empty, tables are created on first use`);
    return problem(name, `${summary}; not a starpost database, it contains other tables`, fixes.notOurs);
  }
  if (schemaProblem) return problem(name, `${summary}; ${schemaProblem.problem}`, schemaProblem.fix);
  if (schema < newestSchema) {
    return warning(
      name,
      `${summary}; schema ${schema} will be migrated to ${newestSchema} on next use`,
      "If an older starpost still needs the database, back it up first.",
    );
  }
  if (freeBytes !== undefined && freeBytes < minFreeBytes) return warning(name, summary, fixes.full);
  return ok(name, `${summary}, schema ${schema} (latest)`);
}

export async function findFreeBytes(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found && found.bavail * found.bsize;
}

export function checkFileMode(path: string, mode: number): Check {
  const name = "database-file";
  if ((mode & 0o077) === 0 || platform() === "win32") return ok(name, "readable only by you");
  return problem(name, `other users can read ${path} (mode ${formatMode(mode)})`, `chmod 600 '${path}'`);
}

export function checkJournal({ hasWriteAheadLog, schema }: DatabaseFacts): Check {
  const name = "database-journal";
  if (hasWriteAheadLog === true) return ok(name, "write-ahead log enabled");
  if (schema === null) return skipped(name, "the write-ahead log is enabled on first use");
  return warning(
    name,
    "write-ahead log disabled; readers and writers block each other",
    "It is enabled on next use. If it does not stay enabled, the file system does not support it: move the database to a local disk.",
  );
}

export function checkDamage(damage: readonly string[] | undefined, { bytes }: DatabaseFacts, timeoutMs: number): Check {
  const name = "database-integrity";
  if (damage === undefined) {
    return skipped(
      name,
      `checking ${formatBytes(bytes)} did not finish in ${timeoutMs / 1_000} s; to allow more time, pass --timeout`,
    );
  }
  if (damage.length === 0) return ok(name, "SQLite quick check passed");
  return problem(name, `SQLite quick check failed: ${damage.join("; ")}`, fixes.damaged);
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
