/**
 * A token to take from a bucket. A bucket is stored as its level: the time at which a bucket that is filled steadily would
 * be full again. Taking a token adds a time to the level; a level that is too high for that is one of an empty bucket.
 */
export interface Token {
  /** The bucket. */
  readonly key: string;
  /** The lowest level: that of a full bucket. */
  readonly fullLevel: number;
  /** The highest level. */
  readonly emptyLevel: number;
  /** What a token adds to the level. */
  readonly cost: number;
  /**
   * For buckets that are filled at once: the time in between. A higher level is one of the next period, which a process has
   * begun whose clock is ahead.
   */
  readonly period: number;
  /** Replaces a level that only a wrong clock can have caused. */
  readonly replacement: number;
}

export interface TakenToken {
  readonly isTaken: boolean;
  /** The level after that. */
  readonly level: number;
}

/** Keeps the levels of buckets. */
export interface TokenStore {
  /**
   * Takes tokens from different buckets. If one of them is empty, the others are taken anyway.
   * @returns the tokens in the same order
   */
  take(tokens: readonly Token[]): Promise<readonly TakenToken[]>;
}

/** The maximum number of buckets in a generation. */
const maxBuckets = 25_000;

/**
 * Keeps levels in the memory of the process. There are two generations: when the newer one is too large, it becomes the
 * older one, whose buckets are dropped, and thus full. Bucket by bucket, dropping the oldest would take time proportional to
 * their number.
 */
export class MemoryTokenStore implements TokenStore {
  #newer = new Map<string, number>();
  #older = new Map<string, number>();

  async take(tokens: readonly Token[]): Promise<readonly TakenToken[]> {
    return tokens.map((token) => this.#takeOne(token));
  }

  #takeOne({ key, fullLevel, emptyLevel, cost, period, replacement }: Token): TakenToken {
    const held = this.#newer.get(key) ?? this.#older.get(key) ?? 0;
    const before = held > emptyLevel + period ? replacement : Math.max(held, fullLevel);
    const isTaken = before + cost <= (before > emptyLevel ? emptyLevel + period : emptyLevel);
    const level = isTaken ? before + cost : before;
    this.#newer.set(key, level);
    if (this.#newer.size >= maxBuckets) [this.#older, this.#newer] = [this.#newer, new Map()];
    return { isTaken, level };
  }
}
