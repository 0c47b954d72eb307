import type { AccountAdmin, HostContext, DatabaseStatus, Distribution, SealingKeyAdmin } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import type { EngineWork, HandlerContext } from "../engine/kernel/handler.ts";
import { commandAccounts, openEngine } from "./engine.ts";
import { findPoolSize } from "../config/database-settings.ts";
import { UserError, usageError } from "../config/user-error.ts";
import { toServiceError } from "../engine/kernel/storage-errors.ts";
import { inspectDatabase } from "../storage/inspect-database.ts";
import { missingDatabase, StorageError } from "../storage/storage-error.ts";
import {
  createNewKey,
  currentKeyOf,
  hasSealingVariable,
  readSealingKey,
  writeSealingKeys,
} from "../config/sealing-key.ts";
import { withFileLock } from "../config/with-file-lock.ts";

/**
 * Opens the accounts of an embedded database for its operator.
 * @throws UserError, ServiceError
 */
export async function openAccounts(
  host: HostContext,
  profile: LocalProfile,
  isRehearsed = false,
): Promise<AccountAdmin> {
  const admin = await import("../engine/accounts/administration.ts");
  const { createInvitation, listInvitations } = await import("../engine/accounts/invitations.ts");
  const { changeEmailAccess, readEmailAccess } = await import("../engine/emails/administration.ts");
  const { savePrivateWebhooks } = await import("../engine/webhooks/private-webhooks.ts");
  const { deleteAccount } = await import("../engine/accounts/deletion.ts");
  // The chosen account need not exist: it can also be given as an argument.
  const own = { ...profile, account: undefined };
  const { transport, appKey, remove } = await openEngine(host, own, { enforceLimits: false, ...commandAccounts });
  const { work } = transport;
  const { read } = work;
  const write = isRehearsed ? rollBack(work.write) : work.write;
  const writeTo = async <T>(key: string, task: (context: HandlerContext) => Promise<T>) =>
    write(await read((context) => admin.findAccountId(key, context)), task);
  return {
    ownAppKey: profile.account ?? appKey,
    list: async function* list() {
      let page = await read((context) => admin.listAccounts(context));
      while (page) {
        yield page.accounts;
        const { last } = page;
        page = await read((context) => admin.listAccounts(context, last));
      }
    },
    show: (key) =>
      read(async (context) => ({
        ...(await admin.describeAccount(key, context)),
        emailAccess: await readEmailAccess(key, context),
      })),
    emailAccess: (key) => read((context) => readEmailAccess(key, context)),
    changeEmailAccess: (key, change) => writeTo(key, (context) => changeEmailAccess(key, change, context)),
    setPrivateWebhooks: (key, isAllowed) => writeTo(key, (context) => savePrivateWebhooks(key, isAllowed, context)),
    create: (name) => write(undefined, (context) => admin.addAccount(name, context)),
    invitations: () => read(listInvitations),
    invite: (lifetimeMs) => write(undefined, (context) => createInvitation(lifetimeMs, context)),
    disable: (key) => admin.disableAccount(key, work),
    enable: (key) => admin.enableAccount(key, work),
    rotateSecret: (key) => writeTo(key, (context) => admin.rotateSecret(key, context)),
    revokeTokens: (key, token) => writeTo(key, (context) => admin.revokeTokens(key, token, context)),
    delete: (key, onDeleted) => deleteAccount(key, work, onDeleted),
    close: async () => {
      await transport.close();
      remove();
    },
  };
}

/** Makes writes whose changes are discarded. */
function rollBack(write: EngineWork["write"]): EngineWork["write"] {
  return async <T>(accountId: number | undefined, work: (context: HandlerContext) => Promise<T>): Promise<T> => {
    let done: { readonly result: T } | undefined;
    try {
      await write(accountId, async (context) => {
        done = { result: await work(context) };
        throw new Error("rolled back");
      });
    } catch (error) {
      if (done === undefined) throw error;
    }
    return (done as unknown as { readonly result: T }).result;
  };
}

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
  if ("facts" in inspection) {
    if (inspection.facts.tables > 0) return { shownAs, ...inspection.facts };
    throw toServiceError(missingDatabase(shownAs), shownAs);
  }
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

/**
 * Opens the sealing keys of this machine, and a database that is sealed with them.
 * @throws UserError, ServiceError
 */
export async function openSealingKeys(host: HostContext, profile: LocalProfile): Promise<SealingKeyAdmin> {
  const { env, paths, random } = host;
  const { countOutdated, resealAll } = await import("../engine/accounts/resealing.ts");
  const { isDkimKeyOutdated, resealDkimKey } = await import("./dkim.ts");
  const { transport } = await openEngine(host, profile, { enforceLimits: false, ...commandAccounts });
  const { work } = transport;
  const outdated = async () => (await work.read(countOutdated)) + Number(await isDkimKeyOutdated(host));
  const readKeys = async () => (await readSealingKey(env, paths.keyFile)) ?? Buffer.alloc(0);
  const inVariable = hasSealingVariable(env);
  const exclusively = <T>(change: () => Promise<T>) => withFileLock(`${paths.keyFile}.lock`, change);
  const addKey = async (): Promise<boolean> => {
    const keys = await readKeys();
    // An earlier rotation was interrupted, or began with another database.
    if ((await outdated()) > 0) return false;
    if (inVariable) {
      throw usageError(
        "everything is already sealed with the first key of STARPOST_KEY",
        "Set STARPOST_KEY to the new key, a comma, and the old key, for all processes. Then run the command again.",
      );
    }
    await writeSealingKeys(paths.keyFile, Buffer.concat([createNewKey(random), keys]));
    return true;
  };
  return {
    rotate: () =>
      exclusively(async () => {
        const isNewKey = await addKey();
        const found = await resealAll(work);
        const dkim = await resealDkimKey(host);
        return {
          isNewKey,
          resealed: found.resealed + dkim.resealed,
          unreadable: found.unreadable + dkim.unreadable,
        };
      }),
    outdated,
    retire: () =>
      exclusively(async () => {
        if (inVariable) throw usageError("the keys are in STARPOST_KEY", "Remove the old keys from the variable.");
        const keys = await readKeys();
        const current = currentKeyOf(keys);
        const retired = keys.length / current.length - 1;
        if (retired > 0) await writeSealingKeys(paths.keyFile, current);
        return retired;
      }),
    close: () => transport.close(),
  };
}
