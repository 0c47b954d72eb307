import { setImmediate } from "node:timers/promises";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Tables } from "./tables.ts";

const maxCallsPerCommit = 64;

/** After this time in a transaction, the next waiting write gets its own, so that reads can run in between. */
const maxTransactionMs = 20;

type Work<T> = (transaction: Transaction<Tables>) => Promise<T>;

/** How a write is carried out together with other writes that wait, which is faster than one after another. */
export interface Combinable<T> {
  /** Only writes with the same key are combined. */
  readonly key: string;
  /** Two writes with the same ID are not combined. */
  readonly id: string;
  readonly input: unknown;
  /** @returns the results, in the order of the inputs */
  readonly workOnAll: (inputs: readonly unknown[], transaction: Transaction<Tables>) => Promise<readonly T[]>;
}

interface Waiting {
  readonly work: Work<unknown>;
  readonly combinable: Combinable<unknown> | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs writes one after another, in call order. Writes that wait during a commit share the next commit, and with it the
 * wait for the disk. Each promise is settled after its commit. If a write fails, only its own changes are rolled back.
 */
export class WriteQueue {
  readonly #db: Kysely<Tables>;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** @param combinable how the write may be combined with others that wait; if that fails, each is run with `work` */
  run<T>(work: Work<T>, combinable?: Combinable<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, combinable, resolve: resolve as Waiting["resolve"], reject });
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await this.#commit(groupCalls(this.#waiting.splice(0, maxCallsPerCommit)));
      // Lets calls that arrived in the meantime enter the queue, so that they share the next commit.
      await setImmediate();
    }
    this.#isRunning = false;
  }

  async #commit(groups: Waiting[][]): Promise<void> {
    const started: Waiting[] = [];
    const outcomes: Outcome[] = [];
    try {
      await this.#db.transaction().execute(async (transaction) => {
        const isShared = groups.length > 1 || (groups[0]?.length ?? 0) > 1;
        const startedMs = performance.now();
        while (groups.length > 0 && (started.length === 0 || performance.now() - startedMs < maxTransactionMs)) {
          const group = groups.shift() ?? [];
          started.push(...group);
          outcomes.push(...(await runGroup(group, transaction, isShared)));
        }
      });
    } catch (error) {
      // Without a transaction, none of them can be carried out.
      const failed = started.length === 0 ? groups.splice(0).flat() : started;
      for (const { reject } of failed) reject(error);
      this.#waiting.unshift(...groups.flat());
      return;
    }
    this.#waiting.unshift(...groups.flat());
    for (const [at, outcome] of outcomes.entries()) {
      if ("value" in outcome) started[at]?.resolve(outcome.value);
      else started[at]?.reject(outcome.error);
    }
  }
}

/** Groups consecutive calls that can be combined. */
function groupCalls(calls: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = [];
  let ids = new Set<string>();
  let key: string | undefined;
  for (const call of calls) {
    const { combinable } = call;
    const group = groups.at(-1);
    if (group && combinable && combinable.key === key && !ids.has(combinable.id)) group.push(call);
    else {
      groups.push([call]);
      ids = new Set();
    }
    key = combinable?.key;
    if (combinable) ids.add(combinable.id);
  }
  return groups;
}

async function runGroup(
  calls: readonly Waiting[],
  transaction: Transaction<Tables>,
  isShared: boolean,
): Promise<Outcome[]> {
  const [first] = calls;
  if (!first) return [];
  if (!isShared) return [{ value: await first.work(transaction) }];
  if (calls.length > 1) {
    const inputs = calls.map(({ combinable }) => combinable?.input);
    const combined = await attempt(async () => first.combinable?.workOnAll(inputs, transaction), transaction);
    if ("value" in combined) return (combined.value as unknown[]).map((value) => ({ value }));
  }
  // If a combined write failed, one of its calls may be the cause.
  const outcomes: Outcome[] = [];
  for (const { work } of calls) outcomes.push(await attempt(work, transaction));
  return outcomes;
}

async function attempt(work: Work<unknown>, transaction: Transaction<Tables>): Promise<Outcome> {
  await sql`savepoint shared_call`.execute(transaction);
  try {
    const value = await work(transaction);
    await sql`release shared_call`.execute(transaction);
    return { value };
  } catch (error) {
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
