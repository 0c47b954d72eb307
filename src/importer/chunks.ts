import { createHash } from "node:crypto";
import type { Importing, Item } from "./kinds/kind.ts";

/** The items of one call. */
export interface Chunk {
  /** From 0; the same items have the same number in every attempt at a run. */
  readonly n: number;
  readonly items: readonly Item[];
  /** Tells whether a resume cut the same rows into the same calls. */
  readonly digest: string;
}

/** The most that one call's body may hold, about; characters. */
const maxChunkSize = 1024 * 1024;

/** Cuts items into calls, in order: by number, by size, by lane, and never the same key twice in one. */
export class Chunker {
  readonly #maxItems: number;
  #items: Item[] = [];
  #keys = new Set<string>();
  #size = 0;
  #n = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  /** @returns a chunk that is full without the item */
  add(item: Item): Chunk | undefined {
    const [first] = this.#items;
    const isFull =
      first !== undefined &&
      (this.#items.length >= this.#maxItems ||
        this.#size + item.size > maxChunkSize ||
        item.lane !== first.lane ||
        this.#keys.has(item.key));
    const full = isFull ? this.flush() : undefined;
    this.#items.push(item);
    this.#keys.add(item.key);
    this.#size += item.size;
    return full;
  }

  flush(): Chunk | undefined {
    if (this.#items.length === 0) return undefined;
    const chunk = { n: this.#n++, items: this.#items, digest: digestOf(this.#items) };
    this.#items = [];
    this.#keys = new Set();
    this.#size = 0;
    return chunk;
  }
}

function digestOf(items: readonly Item[]): string {
  const hash = createHash("sha1");
  for (const { key, rows } of items)
    hash.update(`${key}\0${rows[0]?.file}:${rows[0]?.line}:${rows.length}\n`);
  return hash.digest("base64url");
}

/** Whether two chunks write the same record differently: then their order matters. */
export function isConflicting(a: Chunk, b: Chunk, importing: Importing): boolean {
  const writesOf = (item: Item) => [...(importing.writes?.(item) ?? [])];
  const writes = new Map(a.items.flatMap(writesOf));
  return b.items.flatMap(writesOf).some(([id, value]) => {
    const other = writes.get(id);
    return other !== undefined && other !== value;
  });
}
