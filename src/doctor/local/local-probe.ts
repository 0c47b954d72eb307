import { stat, statfs } from "node:fs/promises";
import { platform } from "node:os";
import { dirname } from "node:path";
import { type Check, failed, ok, problem, skipped, warning } from "../check.ts";
import type { ProbeSettings } from "../../app/ports.ts";
import type { LocalProfile } from "../../config/profile.ts";
import { codeOf } from "../../config/user-error.ts";
import { readSealingKey } from "../../config/sealing-key.ts";
import { utokenLimits } from "../../contract/index.ts";
import { createSealer } from "../../engine/kernel/sealer.ts";
import { readDatabaseAddress } from "../../storage/address.ts";
import {
  type DatabaseFacts,
  type DatabaseRefusal,
  lookAtDatabase,
} from "../../storage/sqlite/inspect-database.ts";
import { formatBytes } from "../../terminal/plural.ts";
import { judgeClock } from "../remote/clock-check.ts";
import { probeFile } from "./file-probe.ts";
import { judgeServerWriter, judgeWriter, watchWriter } from "./writer-check.ts";
import { judgePace } from "../remote/pace-check.ts";

const hints: Readonly<Record<DatabaseRefusal["problem"], string>> = {
  busy: "Try again; if it lasts, see which other process writes to it.",
  unreachable: "See that the PostgreSQL server runs and can be reached from here.",
  unsure: "Try again.",
  full: "Make room on the disk, and see whether it is failing.",
  readOnly: "Let the database be written: the file, its folder and the file system, or the server.",
  damaged: "Restore the database from a backup.",
  notOurs: "Name another database in STARPOST_DATABASE.",
  cannotOpen: "See that the path or address in STARPOST_DATABASE is right, and that you may open it.",
  bug: "This is a fault of starpost itself.",
};

/**
 * Looks at an account of the embedded engine: at its database, its key and its credentials.
 * @param program what looks at a file, in a process of its own
 */
export async function probeLocal(
  settings: ProbeSettings,
  profile: LocalProfile,
  program: URL,
): Promise<Check[]> {
  const address = readDatabaseAddress(profile.database);
  return address.dialect === "sqlite"
    ? probeSqlite(settings, profile, { path: address.path, program })
    : probeServer(settings, profile);
}

async function probeSqlite(
  settings: ProbeSettings,
  profile: LocalProfile,
  { path, program }: { readonly path: string; readonly program: URL },
): Promise<Check[]> {
  const elsewhere = [
    skipped("reachability", "the account is in a file of this machine: no service is called"),
    skipped("clock", "no other clock is involved"),
  ];
  const found = await stat(path).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (found instanceof Error) {
    if (codeOf(found) !== "ENOENT") {
      const refusal = { problem: "cannotOpen", message: `${path}: ${found.message}` } as const;
      return [...elsewhere, ...refused(refusal)];
    }
    return [
      ...elsewhere,
      ok("database", `${path} is not there yet: the first use makes it`),
      ...(await unmade(settings)),
    ];
  }
  const [{ look, damage }, writer] = await Promise.all([
    probeFile(path, { program, timeoutMs: settings.timeoutMs }),
    watchWriter(path, settings),
  ]);
  if (!look) {
    const message = `${path} could not be read in ${settings.timeoutMs / 1_000} s`;
    return [
      ...elsewhere,
      ...refused({ problem: "unreachable", message }, "See whether its disk or network folder answers."),
    ];
  }
  const held = judgeWriter(writer, "refusal" in look && look.refusal.problem === "busy");
  if ("refusal" in look) return [...elsewhere, ...refused(look.refusal), held];
  const open = (found.mode & 0o077) === 0 || platform() === "win32";
  return [
    ...elsewhere,
    judgeDatabase(look.facts, profile, await freeBytes(dirname(path))),
    open
      ? ok("database-file", "nobody else may read it")
      : problem(
          "database-file",
          `others may read ${path} (mode ${modeOf(found.mode)})`,
          `chmod 600 '${path}'`,
        ),
    judgeJournal(look.facts),
    judgeDamage(damage, look.facts, settings),
    held,
    ...(await judgeAccount(settings, look.facts)),
    await judgePace(settings, profile.database, look.facts.account?.appKey),
  ];
}

async function probeServer(settings: ProbeSettings, profile: LocalProfile): Promise<Check[]> {
  const beganMs = settings.clock();
  const look = await lookAtDatabase(profile.database, { clock: settings.clock, busyTimeoutMs: 1_000 });
  if ("refusal" in look) {
    const { problem: why, message } = look.refusal;
    if (why !== "unreachable") {
      return [
        ok("reachability", `${profile.shownAs} answers`),
        skipped("clock", "it was not read"),
        ...refused(look.refusal),
      ];
    }
    const notRead = "the server of the database cannot be reached";
    return [
      problem("reachability", message, hints[why]),
      ...["clock", "database", "key", "credentials", "tokens"].map((name) => skipped(name, notRead)),
    ];
  }
  const { facts } = look;
  return [
    ok("reachability", `${profile.shownAs} answers; looked at in ${settings.clock() - beganMs} ms`),
    judgeClock(facts.clockAheadMs ?? 0, 0),
    judgeDatabase(facts, profile, undefined),
    skipped("database-integrity", "the server keeps watch over its own files"),
    judgeServerWriter(facts.writer ?? undefined),
    ...(await judgeAccount(settings, facts)),
    await judgePace(settings, profile.database, facts.account?.appKey),
  ];
}

function refused({ problem: why, message }: DatabaseRefusal, fix = hints[why]): Check[] {
  const notRead = "the database could not be read";
  return [
    problem("database", message, fix),
    ...["database-integrity", "key", "credentials", "tokens"].map((name) => skipped(name, notRead)),
  ];
}

/** What is there before the first use. */
async function unmade({ env, paths }: ProbeSettings): Promise<Check[]> {
  const none = "there is no account yet";
  const key = await readSealingKey(env, paths.keyFile).then(
    (found) => ok("key", found ? "there already" : "not there yet: the first use makes it"),
    (error: unknown) => failed("key", error, "Put the key file right."),
  );
  return [
    skipped("database-integrity", "there is no database yet"),
    key,
    skipped("credentials", none),
    skipped("tokens", none),
  ];
}

/** Less than this is soon used up by an import; bytes. */
const littleRoom = 200_000_000;

function judgeDatabase(facts: DatabaseFacts, { shownAs }: LocalProfile, free: number | undefined): Check {
  const { version, schema, newestSchema, tables, bytes } = facts;
  const room = free === undefined ? "" : `, ${formatBytes(free)} free beside it`;
  const about = `${shownAs}: ${version}, ${formatBytes(bytes)}${room}`;
  if (schema === null) {
    if (tables === 0) return ok("database", `${about}; it is empty, and the first use makes its tables`);
    return problem(
      "database",
      `${about}; it holds other tables: it is not a starpost database`,
      hints.notOurs,
    );
  }
  if (schema > newestSchema) {
    const newer = `it was made by a newer starpost (schema ${schema}; this one knows ${newestSchema})`;
    return problem("database", `${about}; ${newer}`, "Update starpost.");
  }
  if (schema < newestSchema) {
    const older = `its schema is ${schema}, and the next use brings it to ${newestSchema}`;
    return warning(
      "database",
      `${about}; ${older}`,
      "Keep a copy first, if an older starpost is to open it again.",
    );
  }
  if (free !== undefined && free < littleRoom) return warning("database", about, "Make room on its disk.");
  return ok("database", `${about}, schema ${schema} (the newest)`);
}

function judgeJournal({ hasWriteAheadLog, schema }: DatabaseFacts): Check {
  if (hasWriteAheadLog === true) return ok("database-journal", "a write-ahead log: readers wait for nobody");
  if (schema === null) return skipped("database-journal", "the first use sets it");
  return warning(
    "database-journal",
    "no write-ahead log: readers and writers wait for each other",
    "The next use sets one; where it does not stay, the file system cannot keep it: move the database to a disk of this machine.",
  );
}

function judgeDamage(
  damage: readonly string[] | undefined,
  { bytes }: DatabaseFacts,
  { timeoutMs }: ProbeSettings,
): Check {
  const name = "database-integrity";
  if (damage === undefined) {
    const unread = `${formatBytes(bytes)} could not be read through in ${timeoutMs / 1_000} s; nothing wrong was found by then`;
    return skipped(name, `${unread} (a longer --timeout reads on)`);
  }
  if (damage.length === 0) return ok(name, "SQLite's quick check finds nothing wrong");
  return problem(name, `SQLite's quick check says: ${damage.join("; ")}`, hints.damaged);
}

async function judgeAccount({ env, paths }: ProbeSettings, { account }: DatabaseFacts): Promise<Check[]> {
  if (!account) {
    const none = "there is no account yet: the first use makes it";
    return [skipped("key", none), skipped("credentials", none), skipped("tokens", none)];
  }
  const { liveTokens, appKey, secretSealed } = account;
  const most = utokenLimits.perAccount;
  const used = `${liveTokens} of ${most} in use`;
  const tokens =
    liveTokens < most
      ? ok("tokens", used)
      : warning(
          "tokens",
          `${used}: each new one ends the oldest`,
          "Let the processes of a machine share its config folder, where the token is kept.",
        );
  try {
    const key = await readSealingKey(env, paths.keyFile);
    if (!key) {
      const missing = problem(
        "key",
        `the key of the database is missing: ${paths.keyFile} is not there`,
        "Put the key file back from a backup, or set STARPOST_KEY to the key that the database was made with.",
      );
      return [missing, skipped("credentials", "without the key the secret cannot be read"), tokens];
    }
    createSealer(key).open(secretSealed);
    return [
      ok("key", "it opens the account's secret"),
      ok("credentials", `app key ${appKey}; its secret can be read, and tokens be had`),
      tokens,
    ];
  } catch (error) {
    const wrong = failed("key", error, "Put the key file back from a backup.");
    return [wrong, skipped("credentials", "without the key the secret cannot be read"), tokens];
  }
}

async function freeBytes(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found && found.bavail * found.bsize;
}

function modeOf(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
