import { endpointOf } from "../../contract/index.ts";
import type { ImportBehavior } from "../kind.ts";
import type { Item } from "../item.ts";

export interface Chunk {
  /** From 0; the same items have the same number in every attempt at a run. */
  readonly n: number;
  readonly items: readonly Item[];
  /** First and last line, items, and rows: shows whether a resume divides the file into the same calls. */
  readonly extent: string;
}

/** The approximate maximum size of a request body, in characters. */
const maxChunkSize = 1024 * 1024;

/**
 * Divides items into calls, in order: by number, size, and batch key, and never with the same key twice in one call.
 */
export class Chunker {
  readonly #maxItems: number;
  #items: Item[] = [];
  #keys = new Set<string>();
  #size = 0;
  #n = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  /** @returns the chunk that is full without the item */
  add(item: Item): Chunk | undefined {
    const [first] = this.#items;
    const isFull =
      first !== undefined &&
      (this.#items.length >= this.#maxItems ||
        this.#size + item.size > maxChunkSize ||
        item.batchKey !== first.batchKey ||
        this.#keys.has(item.key));
    const full = isFull ? this.flush() : undefined;
    this.#items.push(item);
    this.#keys.add(item.key);
    this.#size += item.size;
    return full;
  }

  flush(): Chunk | undefined {
    if (this.#items.length === 0) return undefined;
    const [first, last] = [this.#items[0]?.rows[0], this.#items.at(-1)?.rows.at(-1)];
    const rows = this.#items.reduce((sum, item) => sum + item.rows.length, 0);
    const extent = `${first?.file}:${first?.line}-${last?.file}:${last?.line} ${this.#items.length}/${rows}`;
    const chunk = { n: this.#n++, items: this.#items, extent };
    this.#items = [];
    this.#keys = new Set();
    this.#size = 0;
    return chunk;
  }
}

/** How many items one call carries: what the kind says, or else the contract. */
export function callSizeOf({ itemsPerCall, operation }: ImportBehavior): {
  readonly recommended?: number | undefined;
  readonly max?: number | undefined;
} {
  return itemsPerCall ?? endpointOf(operation).batch ?? {};
}

/** How many items a large call carries, if the service accepts that many. */
const largeCallItems = 1_000;

/** How many items a large call of a kind carries. Returns undefined if the kind has one record per call. */
export function largeCallSizeOf(behavior: ImportBehavior): number | undefined {
  const { recommended, max } = callSizeOf(behavior);
  return recommended === undefined ? undefined : Math.min(largeCallItems, max ?? recommended);
}
