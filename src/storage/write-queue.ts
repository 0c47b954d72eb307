import { setImmediate } from "node:timers/promises";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Tables } from "./tables.ts";

const maxCallsPerCommit = 16;

type Work<T> = (transaction: Transaction<Tables>) => Promise<T>;

interface Waiting {
  readonly work: Work<unknown>;
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

  run<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as Waiting["resolve"], reject });
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await this.#commit(this.#waiting.splice(0, maxCallsPerCommit));
      // Lets calls that arrived in the meantime enter the queue, so that they share the next commit.
      await setImmediate();
    }
    this.#isRunning = false;
  }

  async #commit(calls: readonly Waiting[]): Promise<void> {
    const outcomes: Outcome[] = [];
    try {
      await this.#db.transaction().execute(async (transaction) => {
        const isShared = calls.length > 1;
        for (const { work } of calls) {
          outcomes.push(isShared ? await attempt(work, transaction) : { value: await work(transaction) });
        }
      });
    } catch (error) {
      for (const { reject } of calls) reject(error);
      return;
    }
    for (const [at, outcome] of outcomes.entries()) {
      if ("value" in outcome) calls[at]?.resolve(outcome.value);
      else calls[at]?.reject(outcome.error);
    }
  }
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
