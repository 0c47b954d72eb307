import { endpointOf, type OperationName } from "../../contract/index.ts";
import type { Account } from "./handler.ts";

/** Limits of the cache. Characters are counted as JSON; a page of the longest reviews has ten million. */
const limits = { responses: 1_000, characters: 10_000_000, charactersPerResponse: 500_000 } as const;

interface CachedResponse {
  readonly version: number;
  readonly response: unknown;
  readonly characters: number;
}

/** Caches responses to the reads that shoppers' pages repeat, until the account changes, in any process. */
export class ResponseCache {
  readonly #cached = new Map<string, CachedResponse>();
  #characters = 0;

  /** Returns the cached response of a call, or reads and caches it. */
  async read<T>(
    call: {
      readonly operation: OperationName;
      readonly account: Account | undefined;
      readonly input: unknown;
    },
    read: () => Promise<T>,
  ): Promise<T> {
    const { operation, account, input } = call;
    // Determined before the read, so that a concurrent write makes the cached response stale.
    const version = account?.version;
    if (version === undefined || endpointOf(operation).caching?.byVersion !== true) return read();
    const key = `${operation} ${account?.id} ${JSON.stringify(input)}`;
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
