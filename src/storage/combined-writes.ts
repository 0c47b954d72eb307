import { sql, type Transaction } from "kysely";
import { defer, markHarmless } from "./statement.ts";
import type { Tables } from "./tables.ts";

export type Work<T> = (transaction: Transaction<Tables>) => Promise<T>;

/** How a write is carried out together with other writes that wait, which is faster than one after another. */
export interface Combinable<T> {
  /** Only writes of an account with the same key are combined. */
  readonly key: string;
  /** Two writes with a common ID are not combined. */
  readonly ids: readonly string[];
  readonly input: unknown;
  /** @returns the results, in the order of the inputs */
  readonly workOnAll: (inputs: readonly unknown[], transaction: Transaction<Tables>) => Promise<readonly T[]>;
}

export interface Waiting {
  /** The account whose rows the write may change. */
  readonly accountId: number | undefined;
  readonly work: Work<unknown>;
  readonly combinable: Combinable<unknown> | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriteOptions<T> extends Partial<Pick<Waiting, "accountId">> {
  /** How the write may be combined with others that wait; if that fails, each is run by itself. */
  readonly combinable?: Combinable<T> | undefined;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Groups calls that can be combined. Calls of an account remain in order. */
export function groupCalls(calls: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = [];
  const lastGroups = new Map<number | undefined, { readonly group: Waiting[]; readonly ids: Set<string> }>();
  for (const call of calls) {
    const { combinable, accountId } = call;
    const last = lastGroups.get(accountId);
    const isSameKind = combinable !== undefined && last?.group[0]?.combinable?.key === combinable.key;
    if (last && isSameKind && !combinable.ids.some((id) => last.ids.has(id))) {
      last.group.push(call);
      for (const id of combinable.ids) last.ids.add(id);
    } else {
      const group = [call];
      groups.push(group);
      lastGroups.set(accountId, { group, ids: new Set(combinable?.ids) });
    }
  }
  return groups;
}

interface GroupOptions {
  /** Whether other writes are part of the transaction. */
  readonly isShared: boolean;
  /** Called before changes are rolled back. */
  readonly onRollback: () => void;
}

/** Runs writes that are combined, if there are several. Alone in a transaction, they need no savepoint. */
export async function runGroup(
  calls: readonly Waiting[],
  transaction: Transaction<Tables>,
  { isShared, onRollback }: GroupOptions,
): Promise<Outcome[]> {
  const [first] = calls;
  if (!first) return [];
  const work: Work<readonly unknown[]> =
    calls.length === 1 || !first.combinable
      ? async () => [await first.work(transaction)]
      : async () =>
          first.combinable?.workOnAll(
            calls.map(({ combinable }) => combinable?.input),
            transaction,
          ) ?? [];
  if (!isShared) return (await work(transaction)).map((value) => ({ value }));
  const outcome = await attempt(work, transaction, onRollback);
  if ("value" in outcome) return (outcome.value as unknown[]).map((value) => ({ value }));
  if (calls.length === 1) return [outcome];
  // If combined writes fail, one of them may be the cause.
  const outcomes: Outcome[] = [];
  for (const call of calls) outcomes.push(await attempt(call.work, transaction, onRollback));
  return outcomes;
}

const savepoint = sql`savepoint shared_call`;

async function attempt(
  work: Work<unknown>,
  transaction: Transaction<Tables>,
  onRollback: () => void,
): Promise<Outcome> {
  // A server receives it together with the first statement of the call.
  await transaction.executeQuery(markHarmless(defer(savepoint.compile(transaction))));
  try {
    const value = await work(transaction);
    // Fails if a deferred statement of the call has failed.
    await sql`release shared_call`.execute(transaction);
    return { value };
  } catch (error) {
    onRollback();
    try {
      await sql`rollback to shared_call`.execute(transaction);
      await sql`release shared_call`.execute(transaction);
    } catch {
      // The database has rolled back the transaction, as it does if the disk is full. All calls fail.
      throw error;
    }
    return { error };
  }
}
