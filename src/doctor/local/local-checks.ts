import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { LocalProfile } from "../../config/profile.ts";
import { unknownAccount } from "../../config/profile-name.ts";
import { readSealingKey } from "../../config/sealing-key.ts";
import { codeOf } from "../../config/user-error.ts";
import { utokenLimits } from "../../contract/index.ts";
import { createSealer } from "../../engine/kernel/sealer.ts";
import { parseDatabaseAddress } from "../../storage/address.ts";
import {
  type DatabaseFacts,
  type DatabaseFailure,
  inspectDatabase,
  listLostNodes,
} from "../../storage/inspect-database.ts";
import { type Check, type DoctorContext, failed, ok, problem, skipAll, skipped, warning } from "../check.ts";
import { checkClock, checkPacing, checkRecordedTimes, checkWebhooks } from "../service-checks.ts";
import {
  checkDamage,
  checkDatabase,
  checkFileModes,
  checkHeldEmails,
  checkPostalAddress,
  checkJournal,
  checkNodes,
  findFreeBytes,
  fixOf,
  reportFailure,
  checkBacklog,
  checkCoupons,
  checkConnections,
  checkReader,
  checkGrowth,
  checkBackups,
} from "./database-checks.ts";
import { probeDatabaseFile } from "./database-file-probe.ts";
import { checkLock, checkServerLock, observeLock } from "./lock-check.ts";

/** How long to wait for a lock of the database, in milliseconds. */
const busyTimeoutMs = 1_000;

/** Checks an account of the embedded engine: its database, sealing key, and credentials. Changes nothing. */
export async function checkLocalAccount(context: DoctorContext, profile: LocalProfile): Promise<Check[]> {
  const address = parseDatabaseAddress(profile.database);
  if (!address.isFile) return checkServerAccount(context, profile);
  return [
    skipped("reachability", "not needed for a database on this machine or network"),
    ...(await checkFileAccount(context, profile, address.location)),
  ];
}

async function checkFileAccount(context: DoctorContext, profile: LocalProfile, path: string): Promise<Check[]> {
  const { clock, timeoutMs } = context;
  const found = await stat(path).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (found instanceof Error) {
    if (codeOf(found) === "ENOENT") return [checkRecordedTimes({}, clock()), ...(await checkNewAccount(context, path))];
    return reportFileFailure({ problem: "cannotOpen", message: `${path}: ${found.message}` });
  }
  const program = await context.findDatabaseProbe();
  const [{ inspection, damage }, lockUsage] = await Promise.all([
    probeDatabaseFile(path, { program, timeoutMs, account: profile.account }),
    observeLock(path, clock),
  ]);
  if (!inspection) {
    const message = `${path} could not be read in ${timeoutMs / 1_000} s`;
    return reportFileFailure({
      problem: "unreachable",
      message,
      hint: "check that the disk or network drive responds",
    });
  }
  if ("failure" in inspection) {
    const { failure } = inspection;
    return [...reportFileFailure(failure), checkLock(lockUsage, failure.problem === "busy")];
  }
  const { facts } = inspection;
  const recorded = { "the newest change of the database file": found.mtimeMs, "the newest order": facts.newestOrderMs };
  return [
    checkRecordedTimes(recorded, clock()),
    await checkDatabase(facts, profile, dirname(path)),
    await checkFileModes(path),
    checkJournal(facts),
    checkDamage(damage, facts, timeoutMs),
    checkLock(lockUsage, false),
    ...(await checkAccount(context, profile, facts)),
    ...(await checkContent(context, profile, facts)),
    await checkGrowth(context, profile, { bytes: found.size, freeBytes: await findFreeBytes(dirname(path)) }),
  ];
}

function reportFileFailure(failure: DatabaseFailure): Check[] {
  return [skipped("clock", "the database cannot be read"), ...reportFailure(failure)];
}

/** Before the first use, there is no database and no account. */
async function checkNewAccount({ env, paths }: DoctorContext, path: string): Promise<Check[]> {
  const key = await readSealingKey(env, paths.keyFile).then(
    (found) => ok("key", found ? "exists" : "does not exist yet; it is created with the database"),
    (error: unknown) => failed("key", error, "Correct the key file."),
  );
  return [
    ok("database", `${path} does not exist yet; \`starpost init\`, \`starpost serve\`, or an import creates it`),
    skipped("database-integrity", "the database does not exist yet"),
    key,
    ...skipAll(["credentials", "tokens"], "the account does not exist yet"),
  ];
}

async function checkServerAccount(context: DoctorContext, profile: LocalProfile): Promise<Check[]> {
  const { clock } = context;
  const startedMs = clock();
  const inspection = await inspectDatabase(profile.database, { clock, busyTimeoutMs, appKey: profile.account });
  if ("failure" in inspection) {
    const { failure } = inspection;
    if (failure.problem === "unreachable") {
      return [
        problem("reachability", failure.message, fixOf(failure)),
        ...skipAll(["clock", "database", "key", "credentials", "tokens"], "the database server cannot be reached"),
      ];
    }
    return [
      ok("reachability", `${profile.shownAs} responds`),
      skipped("clock", "the database cannot be read"),
      ...reportFailure(failure),
    ];
  }
  const { facts } = inspection;
  return [
    ok("reachability", `${profile.shownAs} responded in ${clock() - startedMs} ms`),
    checkServerClock(facts, clock()),
    await checkDatabase(facts, profile, undefined),
    skipped("database-integrity", "not applicable to PostgreSQL"),
    checkServerLock(facts.writer ?? undefined),
    ...checkNodes(facts),
    ...(await checkAccount(context, profile, facts)),
    ...(await checkContent(context, profile, facts, async () => [
      ...checkConnections(facts, context.env),
      ...(await checkReader(context, profile.database)),
    ])),
    await checkGrowth(context, profile, { bytes: facts.bytes, freeBytes: undefined }),
  ];
}

/** The newest order can be of a server whose clock is ahead of that of the database. */
function checkServerClock({ clockAheadMs, newestOrderMs }: DatabaseFacts, nowMs: number): Check {
  const now = checkClock(clockAheadMs ?? 0, 0);
  const earlier = checkRecordedTimes({ "the newest order": newestOrderMs }, nowMs);
  return now.status === "ok" && "fix" in earlier ? earlier : now;
}

/** @param checkServer checks of a server, which follow that of the pacing */
async function checkContent(
  context: DoctorContext,
  profile: LocalProfile,
  facts: DatabaseFacts,
  checkServer: () => Promise<Check[]> = async () => [],
): Promise<Check[]> {
  const nowMs = context.clock();
  return [
    await checkPacing(context, profile.database, facts.account?.appKey),
    ...(await checkServer()),
    ...checkHeldEmails(facts),
    ...checkPostalAddress(facts),
    ...checkBacklog(facts, nowMs),
    ...(facts.webhooks ? [checkWebhooks(facts.webhooks, nowMs)] : []),
    ...checkCoupons(facts),
    await checkBackups(context, profile, typeof facts.newestOrderMs === "number"),
  ];
}

/** Checks that the sealing key decrypts the account's secret, and how many tokens are valid. */
async function checkAccount(
  { env, paths }: DoctorContext,
  profile: LocalProfile,
  facts: DatabaseFacts,
): Promise<Check[]> {
  const { account } = facts;
  if (listLostNodes(facts).length > 0) {
    return skipAll(["key", "credentials", "tokens"], "a server of the cluster cannot be reached");
  }
  if (!account && profile.account !== undefined) {
    const { message, hint = "" } = unknownAccount(profile.account, profile.shownAs);
    return [problem("credentials", message, hint), ...skipAll(["key", "tokens"], "the account does not exist")];
  }
  if (!account) {
    return skipAll(["key", "credentials", "tokens"], "the account does not exist yet");
  }
  const { appKey, secretSealed } = account;
  const credentials = skipped("credentials", "the secret cannot be decrypted without the key");
  const tokens = checkTokens(account.validTokens);
  try {
    const key = await readSealingKey(env, paths.keyFile);
    if (!key) {
      const missing = problem(
        "key",
        `${paths.keyFile} does not exist, but the database was created with a key`,
        "Restore the key file from a backup, or set STARPOST_KEY to the original key.",
      );
      return [missing, credentials, tokens];
    }
    createSealer(key).open(secretSealed);
    return [
      ok("key", "decrypts the account's secret"),
      ok("credentials", `app key ${appKey}, secret readable`),
      tokens,
    ];
  } catch (error) {
    return [failed("key", error, "Restore the key file from a backup."), credentials, tokens];
  }
}

function checkTokens(validTokens: number): Check {
  const max = utokenLimits.perAccount;
  const usage = `${validTokens} of ${max} in use`;
  if (validTokens < max) return ok("tokens", usage);
  return warning(
    "tokens",
    `${usage}; each new token revokes the oldest`,
    "Let all processes on a machine share its config folder, where tokens are cached.",
  );
}
