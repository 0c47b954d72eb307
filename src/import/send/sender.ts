import { setImmediate } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import { ServiceError } from "../../contract/index.ts";
import type { RunTally } from "../run/tally.ts";
import { CallHistory } from "./call-history.ts";
import type { Chunk } from "./chunks.ts";
import { deliver, type Delivery, type DeliveryDeps } from "./delivery.ts";
import type { Item, RowError } from "../item.ts";
import { findOutcome } from "../run/journal.ts";
import type { KeyStore } from "../run/key-store.ts";
import { type CallWrites, isConflicting, OverlappingWrites, writesOf } from "./overlapping-writes.ts";
import { ImportError } from "../import-error.ts";
import { collectOutcomes, mergeOutcomes, outcomeCodes } from "../outcome.ts";
import type { CallCounts } from "../summary.ts";

/** Where chunks go: to the service, with tally and journal, or nowhere (dry run). */
export interface Sender {
  /** Takes a chunk; waits if too many calls are in flight, or if the order of two calls matters. */
  submit(chunk: Chunk): Promise<void>;
  /** Waits for the calls in flight. */
  drain(): Promise<void>;
  /** Why sending has ended. */
  readonly failure: unknown;
}

/** Accepts everything and sends nothing. */
export function createDrySender(tally: RunTally): Sender {
  return {
    submit: async ({ items }) => tally.settle(items, new Map()),
    drain: async () => {},
    failure: undefined,
  };
}

export interface SendingDeps extends Omit<DeliveryDeps, "history" | "onKeyHonored"> {
  readonly concurrency: number;
  readonly keepsOrder: boolean;
  readonly tally: RunTally;
  readonly keys: KeyStore | undefined;
}

/** How long chunks may be submitted before responses are handled, in milliseconds. */
const maxTurnMs = 2;

/** Sends chunks, several concurrently, and records each in the journal before it is sent and after it is answered. */
export class JournaledSender implements Sender {
  readonly #deps: SendingDeps;
  readonly #limit: LimitFunction;
  /** The chunks in flight, and when they end; never rejected. */
  readonly #inFlight = new Map<Chunk, Promise<void>>();
  readonly #writes = new WeakMap<Chunk, CallWrites>();
  /**
   * On a resume: the last chunk that an earlier attempt sent, and the writes of chunks sent after chunks that follow
   * them.
   */
  readonly #lastSent: number;
  readonly #overlappingWrites: OverlappingWrites;
  /** Chunks that are being sent in parts: later chunks may arrive before them. */
  readonly #split = new Set<Chunk>();
  readonly #history: CallHistory;
  #honorsKeys: boolean;
  /** When pending responses were last handled. */
  #handledMs = Number.NEGATIVE_INFINITY;
  failure: unknown;

  constructor(deps: SendingDeps) {
    this.#deps = deps;
    this.#limit = pLimit(deps.concurrency);
    this.#lastSent = deps.settled.lastSent;
    this.#honorsKeys = deps.settled.honorsKeys;
    this.#overlappingWrites = new OverlappingWrites(deps.behavior);
    this.#history = new CallHistory({
      maxItems: deps.settled.maxItems,
      hasTaken: deps.settled.done.size > 0,
      onSmaller: (maxItems, error) => this.#reportSmaller(maxItems, error),
    });
  }

  async submit(chunk: Chunk): Promise<void> {
    const { settled, tally, behavior } = this.#deps;
    const problems = findOutcome(settled, chunk);
    // A chunk that was sent before a repeated one must be repeated too if it wrote the same records.
    const sentAt = settled.sentAt.get(chunk.n) ?? -1;
    const isOvertaken =
      settled.reopened.has(chunk.n) || (!this.#deps.isOnce && this.#overlappingWrites.overlap(chunk, sentAt));
    if (problems && !isOvertaken) {
      if (settled.late.has(chunk.n)) this.#overlappingWrites.note(chunk, sentAt);
      tally.settle(chunk.items, problems, behavior.itemName.one, settled.done.get(chunk.n)?.outcomes);
      return;
    }
    if (this.#isStored(chunk)) {
      this.#settleStored(chunk);
      return;
    }
    // Under its key, a call that was overtaken would not be carried out again.
    const isKeyed = !(isOvertaken && settled.sentAt.has(chunk.n));
    await new Promise<void>((begin, fail) => {
      const run = async () => {
        await this.#waitForConflicts(chunk);
        const end = this.failure === undefined ? this.#start(chunk, isKeyed) : undefined;
        begin();
        await end;
      };
      this.#limit(run).catch(fail);
    });
    await this.#handleResponses();
  }

  async drain(): Promise<void> {
    await Promise.all(this.#inFlight.values());
  }

  /** @returns when the call ends, in any way */
  #start(chunk: Chunk, isKeyed: boolean): Promise<void> {
    if (chunk.n < this.#lastSent) this.#overlappingWrites.note(chunk, Number.POSITIVE_INFINITY);
    const end = this.#send(chunk, isKeyed)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .then(() => void this.#inFlight.delete(chunk));
    this.#inFlight.set(chunk, end);
    return end;
  }

  /** Lets pending responses be handled, unless that was done just before. */
  async #handleResponses(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#handledMs < maxTurnMs) return;
    await setImmediate();
    this.#handledMs = performance.now();
  }

  /**
   * Whether the service held all items of a chunk before the run, or another run stored them before this one sent them.
   * Notes which records the others replace.
   */
  #isStored({ n, items }: Chunk): boolean {
    const { keys, behavior, settled } = this.#deps;
    if (keys === undefined) return false;
    const isUnsent = !settled.extents.has(n);
    let isStored = true;
    for (const item of items) {
      const found = keys.find(item);
      const isSame = found?.values && (behavior.isStored?.(item, found.values) ?? true);
      if (found?.id !== undefined && isSame !== true) item.replaces = found.id;
      const isByOthers = isUnsent && (item.doubleKeys ?? []).some((key) => keys.isHeld(key));
      isStored &&= isSame === true || (isByOthers && !found);
    }
    return isStored;
  }

  #settleStored(chunk: Chunk): void {
    const { tally, journal, clock, behavior } = this.#deps;
    const outcomes = { codes: outcomeCodes.unchanged.repeat(chunk.items.length) };
    tally.settle(chunk.items, new Map(), behavior.itemName.one, outcomes);
    journal.append({
      t: "done",
      n: chunk.n,
      outcomes,
      problems: [],
      calls: { sent: 0, retried: 0, throttled: 0 },
      at: clock(),
      totals: tally.totals,
    });
  }

  /** Waits for the calls in flight that must end before a chunk is sent. */
  async #waitForConflicts(chunk: Chunk): Promise<void> {
    const findOther = () => {
      const overtakable = this.#deps.keepsOrder ? this.#split : this.#inFlight.keys();
      return [...overtakable].find((other) => isConflicting(this.#writesOf(other), this.#writesOf(chunk)));
    };
    for (let other = findOther(); other !== undefined; other = findOther()) await this.#inFlight.get(other);
  }

  /** Computed once, because a chunk is compared with all those in flight. */
  #writesOf(chunk: Chunk): CallWrites {
    const writes = this.#writes.get(chunk) ?? writesOf(chunk, this.#deps.behavior);
    this.#writes.set(chunk, writes);
    return writes;
  }

  async #send(chunk: Chunk, isKeyed: boolean): Promise<void> {
    const { settled } = this.#deps;
    const state: Delivery = {
      chunk,
      isKeyed,
      isParted: settled.parted.has(chunk.n),
      calls: { sent: 0, retried: 0, throttled: 0 },
      isTouched: settled.unknown.has(chunk.n),
      lostKeys: new Set(),
      outcomes: new Map(),
      dropped: [],
      onSplit: () => this.#split.add(chunk),
    };
    try {
      const problems = await deliver(state, {
        ...this.#deps,
        history: this.#history,
        onKeyHonored: () => this.#noteKeys(),
      });
      if (state.refusal && this.#history.taken === 0 && problems.size === chunk.items.length) {
        this.#refuse(state, state.refusal);
      } else this.#settle(state, problems);
    } catch (error) {
      this.#leaveUnanswered(state, error);
      throw error;
    } finally {
      this.#split.delete(chunk);
    }
  }

  #settle({ chunk, calls, outcomes: byItem, dropped }: Delivery, problems: ReadonlyMap<Item, RowError>): void {
    const { tally, journal, clock, behavior, settled } = this.#deps;
    this.#addCalls(calls);
    const found = new Map(
      chunk.items.flatMap((item, at) => {
        const problem = problems.get(item);
        return problem ? [[at, problem] as const] : [];
      }),
    );
    for (const { item, problem } of dropped) {
      const row = item.rows[problem.row ?? 0];
      if (row) tally.dropValue(row, problem.field, problem.reason);
    }
    const own = collectOutcomes(chunk.items, byItem);
    const earlier = settled.done.get(chunk.n);
    const outcomes = earlier ? mergeOutcomes(earlier.outcomes, own) : own;
    tally.settle(chunk.items, found, behavior.itemName.one, outcomes);
    journal.append({
      t: "done",
      n: chunk.n,
      outcomes,
      problems: [...found].map(([at, { field, code, reason, row }]) => [at, field, code, reason, row]),
      calls,
      at: clock(),
      totals: tally.totals,
    });
  }

  /** Every item of a call was refused, and the service has accepted nothing of the run yet: the cause is unknown. */
  #refuse({ chunk, calls }: Delivery, refusal: ServiceError): void {
    const { tally, journal, clock } = this.#deps;
    this.#addCalls(calls);
    const reason = `the service rejected the call: ${refusal.message}`;
    tally.fail(chunk.items, reason);
    journal.append({ t: "refused", n: chunk.n, reason, calls, at: clock(), totals: tally.totals });
  }

  /** Records a call that was not carried out, or whose outcome is unknown. */
  #leaveUnanswered({ chunk, calls, isTouched }: Delivery, error: unknown): void {
    const { journal, abort } = this.#deps;
    this.#addCalls(calls);
    const isRefused = error instanceof ServiceError || error instanceof ImportError;
    journal.append({
      t: "unanswered",
      n: chunk.n,
      sure: isRefused && !isTouched && !abort.aborted,
      calls,
    });
  }

  /** Recorded once, so that a resume can repeat calls under their keys. */
  #noteKeys(): void {
    if (this.#honorsKeys) return;
    this.#honorsKeys = true;
    this.#deps.journal.append({ t: "keys" });
  }

  /** Reported once for each size that was too large. */
  #reportSmaller(maxItems: number, error: ServiceError): void {
    const { behavior, journal, report } = this.#deps;
    journal.append({ t: "smaller", maxItems });
    const { one, many } = behavior.itemName;
    const most = maxItems === 1 ? `1 ${one}` : `${maxItems} ${many}`;
    const message = `calls are too large for the service (${error.message}); from now on they contain at most ${most}`;
    report({ type: "notice", message });
  }

  #addCalls(calls: CallCounts): void {
    const { tally } = this.#deps;
    tally.calls.sent += calls.sent;
    tally.calls.retried += calls.retried;
    tally.calls.throttled += calls.throttled;
  }
}
