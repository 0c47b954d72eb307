import { type Endpoint, ServiceError, tooManyRequestsMessage } from "../contract/index.ts";
import type { Caller } from "../service/transport.ts";
import { CpuMeter } from "./cpu-meter.ts";

/** Calls of a kind that run at a time for an owner while others call as well. Writes share the wait for the disk. */
const shares = { read: 1, write: 3 } as const;

/** Each time that no other owner has called for so long, one more call of a kind may run, so that no capacity is unused. */
const growthMs = 50;

/** Bulk calls of an account that wait; others are refused. */
const maxWaitingBulkCalls = 32;

/** The interval between starts for an owner whose calls queue, while calls of an owner run that has none waiting. */
const heldMs = 5;

/**
 * While stores call, the next call without a token starts after the event loop has been idle, relative to the time that it
 * was busy since the last one, so that little waits for calls of stores to be received; or after so long.
 */
const rests = { share: 0.5, maxMs: 10 } as const;

/** How long others are expected to call again after their last call. */
const recentMs = 10_000;

/** Tokens that were valid, or app keys that exist, to keep in memory. */
const maxKnown = 10_000;

const kinds = ["read", "write", "bulk"] as const;
type Kind = (typeof kinds)[number];

/** The calls of an owner of one kind. */
interface Lane {
  running: number;
  /** When its last call started that had to wait. */
  startedMs: number;
  readonly waiting: (() => void)[];
}

interface Owner {
  readonly isStore: boolean;
  readonly lanes: Readonly<Record<Kind, Lane>>;
  /** When a call arrived or ended. */
  calledMs: number;
}

/** The turn of a call. */
export interface Turn {
  /** Lets others run during `work`, which takes long but is not done by the thread of the event loop. */
  readonly outside: <T>(work: () => Promise<T>) => Promise<T>;
  /** @returns the CPU time that the call has taken, in milliseconds */
  readonly end: () => number;
}

/** What a call is, as far as turns depend on it. */
export type CallKind = Pick<Endpoint, "batch" | "effect">;

/**
 * Lets owners of calls take turns: each store, the shoppers of each store, and all others. In each turn of the event loop,
 * the calls of one owner start: of the one whose last call started the longest ago. An owner who calls alone is not limited.
 * An account has one bulk call at a time.
 */
export class FairTurns {
  /** Those whose last call arrived last come last. */
  readonly #owners = new Map<string, Owner>();
  /** The owners of tokens that were valid, and of app keys that exist. */
  readonly #known = new Map<string, string>();
  readonly #meter = new CpuMeter();
  /** The last start of a call without a token. */
  #lastStart = { loop: performance.eventLoopUtilization(), atMs: 0 };
  #isStarting = false;
  #isTimed = false;

  /** Remembers the account of a caller, so that made-up ones get no turns of their own. */
  note(caller: Caller, appKey: string, hasToken: boolean): void {
    if (keyOf(caller) === "" || (!hasToken && caller.utoken !== undefined)) return;
    const [oldest] = this.#known.size >= maxKnown ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(keyOf(caller), `${hasToken ? "store" : "shoppers"} ${appKey}`);
  }

  /** Waits for the turn of a call. @throws ServiceError `tooManyRequests` if too many bulk calls of the account wait */
  async take(caller: Caller, { batch, effect }: CallKind): Promise<Turn> {
    const known = this.#known.get(keyOf(caller));
    const name = known ?? "others";
    // Strangers cannot use up the places of a store that calls for the first time.
    const kind = batch && known !== undefined ? "bulk" : effect === "read" ? "read" : "write";
    let stop = await this.#enter(name, kind);
    let cpuMs = 0;
    return {
      outside: async (work) => {
        cpuMs += stop();
        try {
          return await work();
        } finally {
          stop = await this.#enter(name, kind);
        }
      },
      end: () => cpuMs + stop(),
    };
  }

  async #enter(name: string, kind: Kind): Promise<() => number> {
    const owner = this.#callOf(name);
    const lane = owner.lanes[kind];
    this.#forgetIdle();
    const isFree = lane.waiting.length === 0 && (kind !== "bulk" || lane.running === 0);
    if (this.#owners.size === 1 && isFree) lane.running += 1;
    else {
      if (kind === "bulk" && lane.waiting.length >= maxWaitingBulkCalls) {
        throw new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: 1_000 });
      }
      await new Promise<void>((resolve) => {
        lane.waiting.push(resolve);
        this.#startSoon();
      });
    }
    const measure = this.#meter.start();
    return () => {
      lane.running -= 1;
      owner.calledMs = performance.now();
      this.#startSoon();
      return measure();
    };
  }

  #callOf(name: string): Owner {
    const owner = this.#owners.get(name) ?? createOwner(name);
    owner.calledMs = performance.now();
    this.#owners.delete(name);
    this.#owners.set(name, owner);
    return owner;
  }

  #forgetIdle(): void {
    const oldestMs = performance.now() - recentMs;
    for (const [name, owner] of this.#owners) {
      if (owner.calledMs > oldestMs) break;
      if (isIdle(owner)) this.#owners.delete(name);
    }
  }

  /** The calls of a kind that an owner may have running. @param isContended whether others have calls */
  #shareOf(owner: Owner, kind: Kind, isContended: boolean): number {
    if (kind === "bulk") return 1;
    if (isContended) return shares[kind];
    const others = [...this.#owners.values()].filter((other) => other !== owner);
    const unusedMs = performance.now() - Math.max(...others.map(({ calledMs }) => calledMs));
    return shares[kind] + Math.floor(unusedMs / growthMs);
  }

  /** After the event loop has received calls of others. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.#startNext();
    });
  }

  #startLater(delayMs: number): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(() => {
      this.#isTimed = false;
      this.#startSoon();
    }, delayMs);
  }

  /** Whether the next call without a token may start. */
  #hasRested(): boolean {
    if (![...this.#owners.values()].some(({ isStore }) => isStore)) return true;
    const { idle, active } = performance.eventLoopUtilization(this.#lastStart.loop);
    return idle >= rests.share * active || performance.now() - this.#lastStart.atMs >= rests.maxMs;
  }

  #startNext(): void {
    let next: { readonly owner: Owner; readonly kind: Kind; readonly free: number } | undefined;
    let waiting = 0;
    // Those that wait are not idle themselves.
    const busy = [...this.#owners.values()].filter((owner) => !isIdle(owner));
    const isHolding = busy.some(runsWithoutQueue);
    const isResting = !this.#hasRested();
    for (const owner of busy) {
      for (const kind of kinds) {
        const lane = owner.lanes[kind];
        const free = lane.waiting.length === 0 ? 0 : this.#shareOf(owner, kind, busy.length > 1) - lane.running;
        if (free <= 0) continue;
        if (isHolding && lane.waiting.length > 1 && performance.now() - lane.startedMs < heldMs) {
          this.#startLater(heldMs);
          continue;
        }
        if (isResting && !owner.isStore) {
          this.#startLater(1);
          continue;
        }
        waiting += 1;
        if (!next || comesBefore(owner, kind, next)) next = { owner, kind, free };
      }
    }
    if (!next) return;
    const { owner, kind, free } = next;
    const { [kind]: lane } = owner.lanes;
    lane.startedMs = performance.now();
    if (!owner.isStore) this.#lastStart = { loop: performance.eventLoopUtilization(), atMs: lane.startedMs };
    // Writes that start together can share a transaction.
    for (const start of lane.waiting.splice(0, kind === "write" ? free : 1)) {
      lane.running += 1;
      start();
    }
    if (waiting > 1 || lane.waiting.length > 0) this.#startSoon();
  }
}

function createOwner(name: string): Owner {
  const lane = (): Lane => ({ running: 0, startedMs: 0, waiting: [] });
  return { isStore: name.startsWith("store "), lanes: { read: lane(), write: lane(), bulk: lane() }, calledMs: 0 };
}

/** Whether the last call of an owner started earlier, or, of the same owner, the last call of a kind. */
function comesBefore(owner: Owner, kind: Kind, other: { readonly owner: Owner; readonly kind: Kind }): boolean {
  if (owner === other.owner) return owner.lanes[kind].startedMs < owner.lanes[other.kind].startedMs;
  const startedMs = ({ lanes }: Owner) => Math.max(...kinds.map((one) => lanes[one].startedMs));
  return startedMs(owner) < startedMs(other.owner);
}

/** Whether calls of an owner run other than bulk calls, and none waits. */
function runsWithoutQueue({ lanes }: Owner): boolean {
  return lanes.read.running + lanes.write.running > 0 && kinds.every((kind) => lanes[kind].waiting.length === 0);
}

function isIdle({ lanes }: Owner): boolean {
  return kinds.every((kind) => lanes[kind].running === 0 && lanes[kind].waiting.length === 0);
}

function keyOf({ appKey = "", utoken }: Caller): string {
  return utoken === undefined ? appKey : `${appKey} ${utoken}`;
}
