import { type Endpoint, ServiceError, tooManyRequestsMessage } from "../../contract/index.ts";
import type { Caller } from "../../service/transport.ts";
import { CpuMeter } from "./cpu-meter.ts";

/** Calls of a kind that run at a time for an owner, while others call as well. Writes of an account are combined. */
interface Shares {
  readonly read: number;
  readonly write: number;
}

/** A file has one connection, so that more reads at a time would only wait for each other. */
export const shares = { file: { read: 1, write: 4 }, server: { read: 2, write: 4 } } as const;

/** Bulk calls of an account that wait; others are refused. */
const maxWaitingBulkCalls = 32;

/** How long others are expected to call again after their last call. */
const recentMs = 10_000;

/** Tokens that were valid, or app keys that exist, to keep in memory. */
const maxKnown = 10_000;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

type Kind = keyof Shares | "bulk";

/** The turn of a call. */
export interface Turn {
  /** Lets others run during `work`, which takes long but is not done by the thread of the event loop. */
  readonly outside: <T>(work: () => Promise<T>) => Promise<T>;
  /** @returns the CPU time that the call has taken, in milliseconds */
  readonly end: () => number;
}

/**
 * Lets owners of calls take turns: each store, the shoppers of each store, and all others. An owner who calls alone is not
 * limited. An account has one bulk call at a time.
 */
export class FairTurns {
  readonly #shares: Shares;
  readonly #lanes = new Map<string, Lane>();
  /** When owners last called; those that have called last come last. */
  readonly #called = new Map<string, number>();
  #known = new Set<string>();
  readonly #meter = new CpuMeter();

  constructor(given: Shares) {
    this.#shares = given;
  }

  /** Remembers the store of a caller, so that made-up ones get no turns of their own. */
  note({ appKey = "", utoken }: Caller, isStore: boolean): void {
    if (this.#known.size >= maxKnown) this.#known = new Set();
    this.#known.add(isStore ? `${appKey} ${utoken}` : appKey);
  }

  knows({ appKey = "", utoken }: Caller): boolean {
    return this.#known.has(utoken === undefined ? appKey : `${appKey} ${utoken}`);
  }

  /** Waits for the turn of a call. @throws ServiceError `tooManyRequests` if too many bulk calls of the account wait */
  async take(caller: Caller, { batch, effect }: Pick<Endpoint, "batch" | "effect">): Promise<Turn> {
    const owner = this.#ownerOf(caller);
    const kind = batch ? "bulk" : effect === "read" ? "read" : "write";
    let stop = await this.#enter(owner, kind);
    let cpuMs = 0;
    return {
      outside: async (work) => {
        cpuMs += stop();
        try {
          return await work();
        } finally {
          stop = await this.#enter(owner, kind);
        }
      },
      end: () => cpuMs + stop(),
    };
  }

  #ownerOf(caller: Caller): string {
    if (!this.knows(caller)) return "others";
    return `${caller.utoken === undefined ? "shoppers" : "store"} ${caller.appKey}`;
  }

  async #enter(owner: string, kind: Kind): Promise<() => number> {
    this.#called.delete(owner);
    this.#called.set(owner, performance.now());
    const name = `${kind} ${owner}`;
    const lane = this.#lanes.get(name) ?? { running: 0, waiting: [] };
    this.#lanes.set(name, lane);
    if (lane.waiting.length === 0 && lane.running < this.#limitOf(kind)) lane.running += 1;
    else {
      if (kind === "bulk" && lane.waiting.length >= maxWaitingBulkCalls) {
        throw new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: 1_000 });
      }
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    }
    const measure = this.#meter.start();
    return () => {
      lane.running -= 1;
      if (lane.waiting.length > 0) setImmediate(() => this.#startNext(lane, kind));
      else if (lane.running === 0) this.#lanes.delete(name);
      return measure();
    };
  }

  /** In another turn of the event loop, so that it can receive the calls of others in between. */
  #startNext(lane: Lane, kind: Kind): void {
    while (lane.running < this.#limitOf(kind)) {
      const start = lane.waiting.shift();
      if (!start) return;
      lane.running += 1;
      start();
    }
  }

  #limitOf(kind: Kind): number {
    if (kind === "bulk") return 1;
    const oldestMs = performance.now() - recentMs;
    for (const [owner, calledMs] of this.#called) {
      if (calledMs > oldestMs) break;
      this.#called.delete(owner);
    }
    return this.#called.size > 1 ? this.#shares[kind] : Infinity;
  }
}
