/** Delays that double each time, up to a maximum. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#nextMs = firstMs;
  }

  /** Returns the next delay, in milliseconds. */
  next(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, this.#maxMs);
    return ms;
  }

  /** Whether no delay was taken since the start or the last `reset`. */
  get isFresh(): boolean {
    return this.#nextMs === this.#firstMs;
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
