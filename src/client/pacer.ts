import { ServiceError } from "../contract/index.ts";
import { abortable } from "../service/abortable.ts";
import type { CallOptions } from "../service/transport.ts";
import {
  addSuccess,
  addHold,
  addParticipant,
  addRefusal,
  addStart,
  moveStart,
  toRate,
  yieldMs,
  createPaceState,
  intervalMs,
  nextStartMs,
  updateTime,
  type PaceState,
  type Rate,
  sharedRate,
  MemoryPace,
  type PaceStore,
} from "./pace-state.ts";
import { serviceWaits } from "./service-limit.ts";
import { formatWait, type Sleep } from "./sleep.ts";

export interface PacerOptions {
  /** Maximum calls per second, for all pacers that share the store together; 0 disables pacing. */
  readonly ratePerSecond: number;
  /** The fraction of that rate that this pacer may use, above 0 up to 1 (default: 1). */
  readonly share?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: Sleep;
  /** Stores the state (default: memory, not shared). */
  readonly store?: PaceStore | undefined;
  /** Identifies this pacer among those that share the store. */
  readonly id?: string | undefined;
}

/** A call that may start. Until more is known, it counts as received by the service at its start. */
export interface PacedCall {
  /** To be called when there is a connection on which the request is sent. */
  sent(): void;
  /** To be called when there is a response. */
  answered(): void;
}

/** Shorter waits are not reported. */
const minReportedMs = 1_000;

/**
 * When a call reaches the service. `promptMs`: a smaller delay is ignored. `latestMs`: how much later than usual a call
 * may be. `minCalls` and `maxCalls`: how many of the last calls show what is usual.
 */
const arrival = { promptMs: 2, latestMs: 100, minCalls: 5, maxCalls: 20 } as const;

function heldTooLong(retryAfterMs: number): ServiceError {
  const hint = `calls of other processes were refused; try again in ${formatWait(retryAfterMs)}`;
  return new ServiceError("tooManyRequests", "the service is throttling calls (429)", { retryAfterMs, hint });
}

/** How often to check a shared store for changes, in milliseconds. */
const pollIntervalMs = 1_000;

/**
 * Pacers that take turns delay each other, so more of a delay is made up for. This does not add starts to any window.
 */
const sharedCatchUpMs = 150;

/**
 * Decides when calls may start: in the order in which they were made, and never above the rate in any window of one
 * second. The user of the class decides which responses slow it down. Pacers may share a store: each keeps to its own
 * rate, together they keep to the highest, and waiting pacers take turns.
 */
export class Pacer {
  readonly #options: PacerOptions;
  readonly #clock: () => number;
  readonly #ownRate: Rate;
  readonly #id: string;
  readonly #store: PaceStore;
  /** The starts of this pacer only. */
  readonly #own = createPaceState();
  /** How long the last calls took, in milliseconds. */
  readonly #recentMs: number[] = [];
  #waiting = 0;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(options: PacerOptions) {
    const { ratePerSecond, share = 1, clock, store = new MemoryPace(), id = "own" } = options;
    this.#options = options;
    this.#clock = clock;
    this.#ownRate = toRate(ratePerSecond * share);
    this.#store = store;
    this.#id = id;
  }

  /** Waits until a call may start, and records the start. */
  async acquire({ signal, onEvent }: CallOptions = {}): Promise<PacedCall> {
    signal?.throwIfAborted();
    const isReported = this.#reportWait(onEvent, this.#waiting);
    const turn = this.#lastTurn;
    let passOn = () => {};
    this.#lastTurn = new Promise((resolve) => {
      passOn = resolve;
    });
    this.#waiting += 1;
    try {
      await abortable(turn, signal);
      const startMs = await this.#waitForStart(signal, isReported ? undefined : onEvent);
      return this.#follow(startMs);
    } finally {
      this.#waiting -= 1;
      // A call that is aborted still waits for its turn before passing it on, so that the order is kept.
      void turn.then(passOn);
    }
  }

  /** Starts nothing for `ms` milliseconds. */
  hold(ms: number): void {
    const nowMs = this.#clock();
    this.#changeSoon((state) => addHold(state, nowMs + ms));
  }

  /** Starts nothing for `ms` milliseconds, then continues more slowly. For calls that the service refused with 429. */
  throttle(ms: number): void {
    const nowMs = this.#clock();
    this.#changeSoon((state) => addRefusal(state, nowMs, ms));
  }

  /** Increases the rate again after a successful response. */
  recover(): void {
    if (this.#store.seen.slowdown > 1) this.#changeSoon(addSuccess);
  }

  /**
   * Moves a start to when the call reached the service: after its connection was opened, and later if it took longer
   * than the fastest of the last calls.
   */
  #follow(startMs: number): PacedCall {
    let arrivedMs = startMs;
    const move = (toMs: number) => {
      if (this.#ownRate.perWindow === 0 || toMs - arrivedMs < arrival.promptMs) return;
      const fromMs = arrivedMs;
      arrivedMs = toMs;
      moveStart(this.#own, fromMs, toMs);
      this.#changeSoon((state) => moveStart(state, fromMs, toMs));
    };
    let sentMs = startMs;
    return {
      sent: () => {
        sentMs = this.#clock();
        move(sentMs);
      },
      answered: () => {
        const tookMs = this.#clock() - sentMs;
        const usualMs = this.#recentMs.length < arrival.minCalls ? 0 : Math.min(...this.#recentMs);
        move(sentMs + Math.min(arrival.latestMs, tookMs - usualMs));
        this.#recentMs.push(tookMs);
        if (this.#recentMs.length > arrival.maxCalls) this.#recentMs.shift();
      },
    };
  }

  #changeSoon(change: (state: PaceState) => void): void {
    this.#store.changeSoon((state) => {
      updateTime(state, this.#clock());
      change(state);
    });
  }

  /**
   * @param onEvent undefined if the wait has already been reported
   * @returns when the call started
   */
  async #waitForStart(signal: AbortSignal | undefined, onEvent: CallOptions["onEvent"]): Promise<number> {
    const { isShared } = this.#store;
    const sinceMs = this.#clock();
    for (let dueMs: number | undefined; ;) {
      const { startMs, nowMs } = await this.#store.use((state) => this.#tryToStart(state, dueMs), signal);
      if (startMs <= nowMs) return nowMs;
      // The refusals of other calls can extend a wait again and again.
      const heldMs = this.#store.seen.heldUntilMs - sinceMs;
      if (heldMs > serviceWaits.totalMs) throw heldTooLong(startMs - nowMs);
      const waitMs = Math.ceil(startMs - nowMs);
      if (isShared && dueMs === undefined) this.#reportWait(onEvent, 0);
      dueMs = startMs;
      await this.#options.sleep(isShared ? Math.min(waitMs, pollIntervalMs) : waitMs, signal);
    }
  }

  /** Starts a call if it may start now. Otherwise, `startMs` is when it may. */
  #tryToStart(state: PaceState, dueMs: number | undefined): { startMs: number; nowMs: number } {
    const nowMs = this.#clock();
    updateTime(state, nowMs);
    updateTime(this.#own, nowMs);
    const rate = sharedRate(state, this.#options.ratePerSecond);
    const earliestMs = this.#nextStartMs(state);
    const startMs = earliestMs + yieldMs(state, this.#id, earliestMs, rate);
    const isStart = startMs <= nowMs;
    const { isShared } = this.#store;
    if (isStart) {
      addStart(state, rate, { nowMs, dueMs: dueMs ?? nowMs, catchUpMs: isShared ? sharedCatchUpMs : undefined });
      // The start may have been delayed by the other pacers, for up to one interval.
      const own = { nowMs, dueMs: nextStartMs(this.#own, this.#ownRate), catchUpMs: intervalMs(rate, state.slowdown) };
      addStart(this.#own, this.#ownRate, own);
    }
    if (isShared) {
      addParticipant(state, this.#id, {
        ratePerSecond: this.#options.ratePerSecond,
        ...(isStart ? { wakesAtMs: null, startedMs: nowMs } : { wakesAtMs: Math.max(startMs, nowMs) }),
      });
    }
    return { startMs, nowMs };
  }

  #nextStartMs(state: PaceState): number {
    const rate = sharedRate(state, this.#options.ratePerSecond);
    return Math.max(nextStartMs(state, rate), nextStartMs(this.#own, this.#ownRate));
  }

  /**
   * @param ahead the number of calls that start first
   * @returns whether the wait is long enough to report
   */
  #reportWait(onEvent: CallOptions["onEvent"], ahead: number): boolean {
    const state = this.#store.seen;
    const nowMs = this.#clock();
    const nextMs = Math.max(nowMs, this.#nextStartMs(state));
    const ms = Math.ceil(nextMs + ahead * intervalMs(this.#ownRate, state.slowdown) - nowMs);
    if (ms < minReportedMs) return false;
    const isHeld = state.heldUntilMs - nowMs >= minReportedMs;
    onEvent?.({
      type: "wait",
      reason: isHeld ? "throttled" : "pace",
      ms,
      message: `${isHeld ? "rate limit of the service reached" : "pacing calls"}; next call in ${formatWait(ms)}`,
    });
    return true;
  }
}
