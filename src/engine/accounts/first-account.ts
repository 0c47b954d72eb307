import type { Kysely } from "kysely";
import type { Database } from "../../storage/database.ts";
import type { Tables } from "../../storage/tables.ts";
import { createKey } from "../kernel/credentials.ts";
import type { RandomBytes } from "../kernel/handler.ts";
import { saveSetting } from "./account-settings.ts";
import type { Sealer } from "../kernel/sealer.ts";
import { toServiceError } from "../kernel/storage-errors.ts";

/** An account's credentials, in plain text. */
export interface AccountKeys {
  readonly appKey: string;
  readonly secret: string;
}

interface CreateOptions {
  /** The delay of the bottom lines of all products, in seconds (default: the specification's). */
  readonly bottomLinesDelay?: number | undefined;
  /** Whether the account may send emails through a mail server at once (default: false). */
  readonly maySendEmail?: boolean | undefined;
  readonly nowMs: number;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
}

/**
 * Returns the credentials of the database's first account, creating it if the database has none. It is the operator's
 * own, so it may send emails.
 * Concurrent processes get the same account.
 * @throws ServiceError `storageFailed`, also if the secret was sealed with another key; `unavailable`
 */
export async function ensureFirstAccount(
  { db, dialect, shownAs }: Database,
  { clock, ...options }: { readonly clock: () => number } & Omit<CreateOptions, "nowMs" | "maySendEmail">,
): Promise<AccountKeys> {
  const read = async (from: Kysely<Tables>) => {
    const found = await from
      .selectFrom("accounts")
      .select(["app_key", "secret_sealed"])
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    return found && { appKey: found.app_key, secret: options.sealer.open(found.secret_sealed) };
  };
  try {
    const found = await read(db);
    if (found) return found;
    return await db.transaction().execute(async (transaction) => {
      await dialect.lockDatabase(transaction as unknown as Kysely<never>);
      // Another process may have created it before this one acquired the lock.
      const existing = await read(transaction);
      return existing ?? (await createAccount(transaction, { ...options, nowMs: clock(), maySendEmail: true }));
    });
  } catch (error) {
    throw toServiceError(error, shownAs);
  }
}

/** Creates an account with new credentials. */
export async function createAccount(
  db: Kysely<Tables>,
  { nowMs, random, sealer, bottomLinesDelay, maySendEmail = false }: CreateOptions,
): Promise<AccountKeys & { readonly id: number }> {
  const appKey = createKey(random);
  const secret = createKey(random);
  const { id } = await db
    .insertInto("accounts")
    .values({ app_key: appKey, secret_sealed: sealer.seal(secret), created_at: nowMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  await db.insertInto("account_versions").values({ account_id: id, version: 1 }).execute();
  if (bottomLinesDelay !== undefined) {
    const setting = { name: "bottom_lines_delay", value: bottomLinesDelay } as const;
    await saveSetting(setting, { transaction: db, nowMs }, id);
  }
  if (maySendEmail) await db.insertInto("email_permissions").values({ account_id: id, enabled_at: nowMs }).execute();
  return { id, appKey, secret };
}
