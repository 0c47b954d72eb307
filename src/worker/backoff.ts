/** Waits that grow: each is twice as long as the one before, up to a bound. */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  /** How long to wait now, milliseconds. */
  next(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, this.#longestMs);
    return ms;
  }

  /** Whether there was nothing to wait for since the beginning, or since `reset`. */
  get isFresh(): boolean {
    return this.#nextMs === this.#firstMs;
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
