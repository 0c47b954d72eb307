import type { OperationName } from "../contract/index.ts";
import { readDataVersion } from "../storage/data-version.ts";
import type { Database } from "../storage/database.ts";

/** Reads of a store's pages, whose answers depend on nothing but what is stored. */
const keptOperations: ReadonlySet<OperationName> = new Set([
  "products.promoted",
  "questions.bottomLine",
  "reviews.bottomLine",
  "reviews.siteWidget",
  "reviews.top",
  "reviews.widget",
]);

/** Answers that are kept; some 10 MB. */
const maxKept = 1_000;

interface Kept {
  readonly version: string;
  readonly answer: unknown;
}

/**
 * Keeps the answers of reads that shoppers' pages make over and over, until anything at all is written: here, or by
 * anybody else, which SQLite can tell for the price of a look at one number. On PostgreSQL nothing is kept.
 */
export class AnswerCache {
  readonly #database: Database;
  readonly #kept = new Map<string, Kept>();
  #writes = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** To be called after each write of this process, before its caller is answered. */
  noteWrite(): void {
    this.#writes += 1;
  }

  /** Gives the kept answer of a call, or reads and keeps it. */
  async read<T>(
    call: {
      readonly operation: OperationName;
      readonly accountId: number | undefined;
      readonly input: unknown;
    },
    read: () => Promise<T>,
  ): Promise<T> {
    const { operation, accountId, input } = call;
    if (!keptOperations.has(operation)) return read();
    const dataVersion = await readDataVersion(this.#database.db, this.#database.dialect);
    if (Number.isNaN(dataVersion)) return read();
    // Taken before the read: what is written meanwhile makes the answer one of the past.
    const version = `${dataVersion} ${this.#writes}`;
    const key = `${operation} ${accountId} ${JSON.stringify(input)}`;
    const kept = this.#kept.get(key);
    if (kept?.version === version) return kept.answer as T;
    const answer = await read();
    if (this.#kept.size >= maxKept) this.#kept.clear();
    this.#kept.set(key, { version, answer });
    return answer;
  }
}
