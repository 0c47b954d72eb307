import { coreRateLimit } from "../contract/index.ts";

/** What is left of a store's window, and when that ends. */
export interface WindowState {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/**
 * Counts the core API's requests by store in windows of one second, over all tokens.
 * Source: spec "Limits". Assumed: the window is fixed to the clock's whole seconds, and a refused call takes nothing.
 */
export class RateWindow {
  readonly #clock: () => number;
  #startMs = 0;
  readonly #taken = new Map<number, number>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  take(storeId: number): WindowState {
    const { requests, windowMs } = coreRateLimit;
    const startMs = Math.floor(this.#clock() / windowMs) * windowMs;
    if (startMs !== this.#startMs) {
      this.#startMs = startMs;
      this.#taken.clear();
    }
    const taken = this.#taken.get(storeId) ?? 0;
    const allowed = taken < requests;
    if (allowed) this.#taken.set(storeId, taken + 1);
    return { allowed, remaining: allowed ? requests - taken - 1 : 0, resetAtMs: startMs + windowMs };
  }
}
