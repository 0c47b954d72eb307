import type { OperationName } from "../../contract/index.ts";
import type { Database } from "../../storage/database.ts";

/** Reads made by store pages, whose responses depend only on stored data. */
const cachedOperations: ReadonlySet<OperationName> = new Set([
  "products.promoted",
  "questions.bottomLine",
  "reviews.bottomLine",
  "reviews.siteWidget",
  "reviews.top",
  "reviews.widget",
]);

/** Limits of the cache. Characters are counted as JSON; a page of the longest reviews has ten million. */
const limits = { responses: 1_000, characters: 10_000_000, charactersPerResponse: 500_000 } as const;

interface CachedResponse {
  readonly version: string;
  readonly response: unknown;
  readonly characters: number;
}

/**
 * Caches responses to the reads that shoppers' pages repeat, until anything is written by this or another process.
 * SQLite detects writes by other processes with a cheap version check. On PostgreSQL, nothing is cached.
 */
export class ResponseCache {
  readonly #database: Database;
  readonly #cached = new Map<string, CachedResponse>();
  #characters = 0;
  #writes = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Must be called after each write of this process, before its response is sent. */
  invalidate(): void {
    this.#writes += 1;
  }

  /** Returns the cached response of a call, or reads and caches it. */
  async read<T>(
    call: {
      readonly operation: OperationName;
      readonly accountId: number | undefined;
      readonly input: unknown;
    },
    read: () => Promise<T>,
  ): Promise<T> {
    const { operation, accountId, input } = call;
    if (!cachedOperations.has(operation)) return read();
    const dataVersion = this.#database.readVersion?.();
    if (dataVersion === undefined) return read();
    // Determined before the read, so that a concurrent write makes the cached response stale.
    const version = `${dataVersion} ${this.#writes}`;
    const key = `${operation} ${accountId} ${JSON.stringify(input)}`;
    const cached = this.#cached.get(key);
    if (cached?.version === version) return cached.response as T;
    const response = await read();
    this.#add(key, { version, response, characters: key.length + JSON.stringify(response).length });
    return response;
  }

  #add(key: string, entry: CachedResponse): void {
    this.#characters -= this.#cached.get(key)?.characters ?? 0;
    this.#cached.delete(key);
    if (entry.characters > limits.charactersPerResponse) return;
    if (this.#cached.size >= limits.responses || this.#characters + entry.characters > limits.characters) {
      this.#cached.clear();
      this.#characters = 0;
    }
    this.#cached.set(key, entry);
    this.#characters += entry.characters;
  }
}
