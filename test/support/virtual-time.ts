import type { Sleep } from "../../src/client/sleep.ts";

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** A clock that advances only when everything waits for it, and then at once. */
export class VirtualTime {
  #nowMs: number;
  #sleepers: Sleeper[] = [];
  /** All requested delays in milliseconds. */
  readonly waits: number[] = [];
  /** The extra delay of each timer. */
  lateness: () => number = () => 0;

  constructor(nowMs = 0) {
    this.#nowMs = nowMs;
  }

  readonly clock = (): number => this.#nowMs;

  readonly sleep: Sleep = (ms, signal) => {
    this.waits.push(ms);
    return new Promise((resolve, reject) => {
      const sleeper = { wakeAtMs: this.#nowMs + ms + this.lateness(), wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason as Error);
      });
    });
  };

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** Advances time to `untilMs`, or until nothing waits any longer. */
  async run(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    for (;;) {
      await settle();
      const [next] = this.#sleepers.toSorted((one, other) => one.wakeAtMs - other.wakeAtMs);
      if (!next || next.wakeAtMs > untilMs) break;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.wakeAtMs);
      next.wake();
    }
    if (Number.isFinite(untilMs)) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }
}

/** Runs all pending callbacks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
