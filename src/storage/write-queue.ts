import { setImmediate } from "node:timers/promises";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Tables } from "./tables.ts";

const maxCallsPerCommit = 128;

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

interface WriteQueueOptions {
  /**
   * Whether the next transaction starts while the last one is being committed. Only if the database makes the next one
   * wait for that, as a server with a lock does.
   */
  readonly overlapsCommits?: boolean;
}

/**
 * Runs writes one after another, in call order. Writes that wait during a commit share the next commit, and with it the
 * wait for the disk. Each promise is settled after its commit. If a write fails, only its own changes are rolled back.
 */
export class WriteQueue {
  readonly #db: Kysely<Tables>;
  readonly #overlapsCommits: boolean;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Whether the last transaction took so long that the next write gets its own, without a savepoint. */
  #isSlow = false;
  #lastCommit: Promise<void> = Promise.resolve();

  constructor(db: Kysely<Tables>, { overlapsCommits = false }: WriteQueueOptions = {}) {
    this.#db = db;
    this.#overlapsCommits = overlapsCommits;
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
      const groups = groupCalls(this.#waiting.splice(0, maxCallsPerCommit));
      if (this.#isSlow) this.#waiting.unshift(...groups.splice(1).flat());
      let startCommit = () => {};
      const worked = new Promise<void>((resolve) => {
        startCommit = resolve;
      });
      const commit = this.#commit(groups, startCommit);
      await (this.#overlapsCommits ? Promise.race([worked, commit]) : commit);
      // At most two transactions exist at a time.
      await this.#lastCommit;
      this.#lastCommit = commit;
      // Lets calls that arrived in the meantime enter the queue, so that they share the next commit.
      await setImmediate();
    }
    this.#isRunning = false;
  }

  /** @param onWorked called when only the commit is left, and the calls that are not part of it wait again */
  async #commit(groups: Waiting[][], onWorked: () => void): Promise<void> {
    const started: Waiting[] = [];
    const outcomes: Outcome[] = [];
    try {
      await this.#db.transaction().execute(async (transaction) => {
        const isShared = groups.length > 1 || (groups[0]?.length ?? 0) > 1;
        const startedMs = performance.now();
        while (groups.length > 0 && (started.length === 0 || performance.now() - startedMs < maxTransactionMs)) {
          const group = groups[0] ?? [];
          const onStart = () => void (groups[0] === group && started.push(...(groups.shift() ?? [])));
          outcomes.push(...(await runGroup(group, transaction, { isShared, onStart })));
        }
        this.#isSlow = performance.now() - startedMs >= maxTransactionMs;
        this.#waiting.unshift(...groups.splice(0).flat());
        onWorked();
      });
    } catch (error) {
      // Without a transaction, none of them can be carried out.
      const failed = started.length === 0 ? groups.splice(0).flat() : started;
      for (const { reject } of failed) reject(error);
      this.#waiting.unshift(...groups.splice(0).flat());
      // If the database is locked, all that wait fail together, instead of one after another.
      this.#isSlow = false;
      return;
    }
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

interface GroupOptions {
  readonly isShared: boolean;
  /** Called when the database has begun the transaction; again if calls are run one by one. */
  readonly onStart: () => void;
}

async function runGroup(
  calls: readonly Waiting[],
  transaction: Transaction<Tables>,
  { isShared, onStart }: GroupOptions,
): Promise<Outcome[]> {
  const [first] = calls;
  if (!first) return [];
  if (!isShared) {
    onStart();
    return [{ value: await first.work(transaction) }];
  }
  const inSavepoint = (work: Work<unknown>) => attempt(work, transaction, onStart);
  if (calls.length > 1) {
    const inputs = calls.map(({ combinable }) => combinable?.input);
    const combined = await inSavepoint(async () => first.combinable?.workOnAll(inputs, transaction));
    if ("value" in combined) return (combined.value as unknown[]).map((value) => ({ value }));
  }
  // If a combined write failed, one of its calls may be the cause.
  const outcomes: Outcome[] = [];
  for (const { work } of calls) outcomes.push(await inSavepoint(work));
  return outcomes;
}

async function attempt(work: Work<unknown>, transaction: Transaction<Tables>, onStart: () => void): Promise<Outcome> {
  await sql`savepoint shared_call`.execute(transaction);
  onStart();
  try {
    const value = await work(transaction);
    // Fails if a deferred statement of the call has failed.
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
