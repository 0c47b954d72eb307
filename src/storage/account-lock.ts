import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "./dialect.ts";
import { createStatement, markHarmless } from "./statement.ts";
import type { Tables } from "./tables.ts";

const countTransaction = createStatement<{ accountId: number }, { readonly version: number }>(
  (slot) => sql`
    update account_versions set version = version + 1 where account_id = ${slot("accountId")} returning version`,
  // Without a transaction, it only makes caches stale.
  markHarmless,
);

interface LockContext {
  readonly transaction: Kysely<Tables>;
  readonly dialect: StorageDialect;
  /** The end of the last transaction of this process: the version is returned only after it, so that its failure is known. */
  readonly after?: Promise<unknown> | undefined;
}

const locks = new WeakMap<Kysely<Tables>, Map<number, Promise<number>>>();

/**
 * Locks an account until the end of the transaction, so that no other one changes its rows. A server receives the
 * statement without a wait; if it fails, so do all later statements of the transaction. The first call counts.
 * @returns the account's version, which is higher than in any earlier transaction; NaN if there is no such account
 */
export function lockAccount(accountId: number, { transaction, dialect, after }: LockContext): Promise<number> {
  let held = locks.get(transaction);
  if (!held) locks.set(transaction, (held = new Map<number, Promise<number>>()));
  let locked = held.get(accountId);
  if (!locked) {
    const counted = countTransaction(transaction, dialect, { accountId });
    locked = counted.then(async ({ rows }) => {
      await after;
      return rows[0]?.version ?? Number.NaN;
    });
    locked.catch(() => {});
    held.set(accountId, locked);
  }
  return locked;
}
