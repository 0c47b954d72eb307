import { abortable } from "../service/abortable.ts";
import type { CallOptions } from "../service/transport.ts";
import { showSeconds, type Sleep } from "./sleep.ts";

export interface PacerOptions {
  /** Most calls started in any second; 0 is no pacing. */
  readonly ratePerSecond: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: Sleep;
}

const windowMs = 1_000;

/**
 * The calls of a window are spread over this much more than the window, and never over less than the second: a service
 * that counts in windows of its own gets no call too many although calls travel for unequal times, and 99 % of its
 * limit is used.
 */
const spread = { usual: 1.01, least: 1.006 } as const;

/** A start that came late is made up for by this much, or every late timer would cost throughput. */
const catchUpMs = 50;

/** After a 429 calls are slowed by the first factor, at most by the second; each answer takes the third off again. */
const slowing = { step: 1.5, most: 4, recovery: 0.95 } as const;

/** Waits from here on are told. */
const toldFromMs = 1_000;

/**
 * Decides when calls start: in the order in which they ask, never more than the rate in any window of one second.
 * It knows times and counts only; which answers slow it down is its user's matter.
 * Assumed: a rate of 2.5 is 2 in any second, one of 0.5 is 1 in any two seconds.
 */
export class Pacer {
  readonly #clock: () => number;
  readonly #sleep: Sleep;
  /** Calls in a window; 0 is no pacing. */
  readonly #perWindow: number;
  readonly #windowMs: number;
  /** Times of the last starts, oldest first, at most a window's worth. */
  #startsMs: number[] = [];
  /** When the last start was due; the next is due one interval later. */
  #dueMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #slowdown = 1;
  #seenMs = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor({ ratePerSecond, clock, sleep }: PacerOptions) {
    this.#clock = clock;
    this.#sleep = sleep;
    this.#perWindow = ratePerSecond >= 1 ? Math.floor(ratePerSecond) : Math.ceil(ratePerSecond);
    this.#windowMs = ratePerSecond > 0 && ratePerSecond < 1 ? windowMs / ratePerSecond : windowMs;
  }

  /** Waits until a call may start; the start is then counted. */
  async acquire({ signal, onEvent }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.#tell(onEvent);
    const turn = this.#lastTurn;
    let passOn = () => {};
    this.#lastTurn = new Promise((resolve) => {
      passOn = resolve;
    });
    this.#waiting += 1;
    try {
      await abortable(turn, signal);
      await this.#waitForStart(signal);
    } finally {
      this.#waiting -= 1;
      // One that gives up passes its turn on when it comes to it, so that none overtakes.
      void turn.then(passOn);
    }
  }

  /** Starts nothing for `ms` milliseconds. */
  hold(ms: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#now() + ms);
  }

  /** Starts nothing for `ms` milliseconds and goes on more slowly, because the service had too many. */
  throttle(ms: number): void {
    // Calls that were under way together are refused together, and count as one refusal.
    if (this.#now() >= this.#heldUntilMs) {
      this.#slowdown = Math.min(slowing.most, this.#slowdown * slowing.step);
    }
    this.hold(ms);
  }

  /** Goes back towards the full rate, because the service answered. */
  recover(): void {
    this.#slowdown = Math.max(1, this.#slowdown * slowing.recovery);
  }

  async #waitForStart(signal: AbortSignal | undefined): Promise<void> {
    for (let dueMs: number | undefined; ;) {
      const nowMs = this.#now();
      const startMs = this.#nextStartMs();
      if (startMs <= nowMs) {
        this.#start(nowMs, dueMs ?? nowMs);
        return;
      }
      dueMs = startMs;
      await this.#sleep(Math.ceil(startMs - nowMs), signal);
    }
  }

  #intervalMs(): number {
    return this.#perWindow === 0 ? 0 : ((this.#windowMs * spread.usual) / this.#perWindow) * this.#slowdown;
  }

  #nextStartMs(): number {
    if (this.#perWindow === 0) return this.#heldUntilMs;
    const oldestMs = this.#startsMs.length < this.#perWindow ? undefined : this.#startsMs[0];
    const windowEndMs =
      oldestMs === undefined ? Number.NEGATIVE_INFINITY : oldestMs + this.#windowMs * spread.least;
    return Math.max(this.#heldUntilMs, windowEndMs, this.#dueMs + this.#intervalMs());
  }

  #start(nowMs: number, dueMs: number): void {
    if (this.#perWindow === 0) return;
    this.#dueMs = Math.max(dueMs, nowMs - catchUpMs);
    this.#startsMs.push(nowMs);
    if (this.#startsMs.length > this.#perWindow) this.#startsMs.shift();
  }

  /** A clock that is set back must not stop the calls for as long: all that is remembered is set back with it. */
  #now(): number {
    const nowMs = this.#clock();
    const backMs = this.#seenMs - nowMs;
    if (backMs > 0) {
      this.#startsMs = this.#startsMs.map((startMs) => startMs - backMs);
      this.#dueMs -= backMs;
      this.#heldUntilMs -= backMs;
    }
    this.#seenMs = nowMs;
    return nowMs;
  }

  #tell(onEvent: CallOptions["onEvent"]): void {
    const nowMs = this.#now();
    const nextMs = Math.max(nowMs, this.#nextStartMs());
    const ms = Math.ceil(nextMs + this.#waiting * this.#intervalMs() - nowMs);
    if (ms < toldFromMs) return;
    const isHeld = this.#heldUntilMs - nowMs >= toldFromMs;
    onEvent?.({
      type: "wait",
      reason: isHeld ? "throttled" : "pace",
      ms,
      message: `${isHeld ? "the service's limit is reached" : "keeping to the rate"}; next call in ${showSeconds(ms)}`,
    });
  }
}
