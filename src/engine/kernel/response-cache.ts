import type { OperationName } from "../../contract/index.ts";
import type { Database } from "../../storage/database.ts";

/** Reads of a store's pages, whose answers depend on nothing but what is stored. */
const keptOperations: ReadonlySet<OperationName> = new Set([
  "products.promoted",
  "questions.bottomLine",
  "reviews.bottomLine",
  "reviews.siteWidget",
  "reviews.top",
  "reviews.widget",
]);

/** What is kept at most: answers, and their characters as JSON; a page of the longest reviews has ten million. */
const maxKept = { answers: 1_000, characters: 10_000_000, charactersOfOne: 500_000 } as const;

interface Kept {
  readonly version: string;
  readonly answer: unknown;
  readonly characters: number;
}

/**
 * Keeps the answers of reads that shoppers' pages make over and over, until anything at all is written: here, or by
 * anybody else, which SQLite can tell for the price of a look at one number. On PostgreSQL nothing is kept.
 */
export class AnswerCache {
  readonly #database: Database;
  readonly #kept = new Map<string, Kept>();
  #characters = 0;
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
    const dataVersion = this.#database.readVersion?.();
    if (dataVersion === undefined) return read();
    // Taken before the read: what is written meanwhile makes the answer one of the past.
    const version = `${dataVersion} ${this.#writes}`;
    const key = `${operation} ${accountId} ${JSON.stringify(input)}`;
    const kept = this.#kept.get(key);
    if (kept?.version === version) return kept.answer as T;
    const answer = await read();
    this.#keep(key, { version, answer, characters: key.length + JSON.stringify(answer).length });
    return answer;
  }

  #keep(key: string, kept: Kept): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
    if (kept.characters > maxKept.charactersOfOne) return;
    if (this.#kept.size >= maxKept.answers || this.#characters + kept.characters > maxKept.characters) {
      this.#kept.clear();
      this.#characters = 0;
    }
    this.#kept.set(key, kept);
    this.#characters += kept.characters;
  }
}
