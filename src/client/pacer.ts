import { abortable } from "../service/abortable.ts";
import type { CallOptions } from "../service/transport.ts";
import {
  addAnswer,
  addHold,
  addParticipant,
  addRefusal,
  addStart,
  asRate,
  courtesyMs,
  createPaceState,
  intervalMs,
  nextStartMs,
  noticeTime,
  type PaceState,
  type Rate,
  sharedRate,
} from "./pace-state.ts";
import { MemoryPace, type PaceStore } from "./pace-store.ts";
import { formatSeconds, type Sleep } from "./sleep.ts";

export interface PacerOptions {
  /** Most calls started in any second, by all that share the store together; 0 is no pacing. */
  readonly ratePerSecond: number;
  /** The part of that rate which this pacer takes at most, above 0 up to 1; all of it where absent. */
  readonly share?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: Sleep;
  /** Where the pace is kept; in this pacer alone where absent. */
  readonly store?: PaceStore | undefined;
  /** Tells this pacer from others that share the store. */
  readonly id?: string | undefined;
}

/** Waits from here on are told. */
const toldFromMs = 1_000;

/** What others change is looked for this often, in milliseconds. */
const lookEveryMs = 1_000;

/**
 * Where several take turns, one that is late delays all: more of it is made up for. No window of a second has more
 * starts for that.
 */
const sharedCatchUpMs = 150;

/**
 * Decides when calls start: in the order in which they ask, never more than the rate in any window of one second.
 * It knows times and counts only; which answers slow it down is its user's matter. Several may share a store: their
 * calls together keep to the highest rate among them, each keeps to its own, and those who wait take turns.
 */
export class Pacer {
  readonly #clock: () => number;
  readonly #sleep: Sleep;
  readonly #ratePerSecond: number;
  readonly #ownRate: Rate;
  readonly #id: string;
  readonly #store: PaceStore;
  /** The starts of this pacer alone. */
  readonly #own = createPaceState();
  #waiting = 0;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor({
    ratePerSecond,
    share = 1,
    clock,
    sleep,
    store = new MemoryPace(),
    id = "own",
  }: PacerOptions) {
    this.#clock = clock;
    this.#sleep = sleep;
    this.#ratePerSecond = ratePerSecond;
    this.#ownRate = asRate(ratePerSecond * share);
    this.#store = store;
    this.#id = id;
  }

  /** Waits until a call may start; the start is then counted. */
  async acquire({ signal, onEvent }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    const isTold = this.#tell(onEvent);
    const turn = this.#lastTurn;
    let passOn = () => {};
    this.#lastTurn = new Promise((resolve) => {
      passOn = resolve;
    });
    this.#waiting += 1;
    try {
      await abortable(turn, signal);
      await this.#waitForStart(signal, isTold ? undefined : onEvent);
    } finally {
      this.#waiting -= 1;
      // One that gives up passes its turn on when it comes to it, so that none overtakes.
      void turn.then(passOn);
    }
  }

  /** Starts nothing for `ms` milliseconds. */
  hold(ms: number): void {
    const nowMs = this.#clock();
    this.#changeSoon((state) => addHold(state, nowMs + ms));
  }

  /** Starts nothing for `ms` milliseconds and goes on more slowly, because the service had too many. */
  throttle(ms: number): void {
    const nowMs = this.#clock();
    this.#changeSoon((state) => addRefusal(state, nowMs, ms));
  }

  /** Goes back towards the full rate, because the service answered. */
  recover(): void {
    if (this.#store.seen.slowdown > 1) this.#changeSoon(addAnswer);
  }

  #changeSoon(change: (state: PaceState) => void): void {
    this.#store.changeSoon((state) => {
      noticeTime(state, this.#clock());
      change(state);
    });
  }

  /** @param onEvent where the caller knows nothing yet of a wait that others may have caused */
  async #waitForStart(signal: AbortSignal | undefined, onEvent: CallOptions["onEvent"]): Promise<void> {
    const { isShared } = this.#store;
    for (let dueMs: number | undefined; ;) {
      const { startMs, nowMs } = await this.#store.use((state) => this.#tryToStart(state, dueMs), signal);
      if (startMs <= nowMs) return;
      const waitMs = Math.ceil(startMs - nowMs);
      if (isShared && dueMs === undefined && onEvent) this.#tell(onEvent);
      dueMs = startMs;
      await this.#sleep(isShared ? Math.min(waitMs, lookEveryMs) : waitMs, signal);
    }
  }

  /** Starts where that is allowed now; `startMs` is else when it will be. */
  #tryToStart(state: PaceState, dueMs: number | undefined): { startMs: number; nowMs: number } {
    const nowMs = this.#clock();
    noticeTime(state, nowMs);
    noticeTime(this.#own, nowMs);
    const rate = sharedRate(state, this.#ratePerSecond);
    const dueSoonestMs = this.#nextStartMs(state);
    const startMs = dueSoonestMs + courtesyMs(state, this.#id, dueSoonestMs, rate);
    const isStart = startMs <= nowMs;
    const { isShared } = this.#store;
    if (isStart) {
      addStart(state, rate, {
        nowMs,
        dueMs: dueMs ?? nowMs,
        catchUpMs: isShared ? sharedCatchUpMs : undefined,
      });
      this.#addOwnStart(nowMs, intervalMs(rate, state.slowdown));
    }
    if (isShared) {
      addParticipant(state, this.#id, {
        ratePerSecond: this.#ratePerSecond,
        ...(isStart ? { wakesAtMs: null, startedMs: nowMs } : { wakesAtMs: Math.max(startMs, nowMs) }),
      });
    }
    return { startMs, nowMs };
  }

  /** A start of its own may have had to wait for the next that all have. */
  #addOwnStart(nowMs: number, catchUpMs: number): void {
    const dueMs = nextStartMs(this.#own, this.#ownRate);
    addStart(this.#own, this.#ownRate, { nowMs, dueMs, catchUpMs });
  }

  #nextStartMs(state: PaceState): number {
    const rate = sharedRate(state, this.#ratePerSecond);
    return Math.max(nextStartMs(state, rate), nextStartMs(this.#own, this.#ownRate));
  }

  /** @returns whether there was a wait to tell of */
  #tell(onEvent: CallOptions["onEvent"]): boolean {
    const state = this.#store.seen;
    const nowMs = this.#clock();
    const nextMs = Math.max(nowMs, this.#nextStartMs(state));
    const ms = Math.ceil(nextMs + this.#waiting * intervalMs(this.#ownRate, state.slowdown) - nowMs);
    if (ms < toldFromMs) return false;
    const isHeld = state.heldUntilMs - nowMs >= toldFromMs;
    onEvent?.({
      type: "wait",
      reason: isHeld ? "throttled" : "pace",
      ms,
      message: `${isHeld ? "the service's limit is reached" : "keeping to the rate"}; next call in ${formatSeconds(ms)}`,
    });
    return true;
  }
}
