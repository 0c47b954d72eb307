/** Calls per window; 0 disables pacing. */
export interface Rate {
  readonly perWindow: number;
  readonly windowMs: number;
}

/** One of the pacers that share a rate, as the others see it. Times in milliseconds since the epoch. */
export interface Participant {
  /** The limit for all pacers together, as this one is configured. */
  readonly ratePerSecond: number;
  readonly lastStartMs: number;
  /** When it next checks whether it may start a call; null if it is not waiting. */
  readonly wakesAtMs: number | null;
  readonly seenMs: number;
}

/** Past calls, from which the next start is computed. Times in milliseconds since the epoch. */
export interface PaceState {
  /** The most recent starts, oldest first. */
  startsMs: number[];
  /** When the last start was due. The next is due one interval later. */
  dueMs: number;
  heldUntilMs: number;
  /** The factor by which intervals are extended after the service refused calls. */
  slowdown: number;
  /** When the state was last used. */
  seenMs: number;
  participants: Record<string, Participant>;
}

const windowMs = 1_000;

/**
 * Calls are spread over slightly more than the window: normally by the first factor, and never by less than the second.
 * The service's windows differ from ours and latency varies, so this avoids exceeding the limit while using 99% of it.
 */
const spread = { normal: 1.01, min: 1.006 } as const;

/** The maximum delay of a start that the next one makes up for. Otherwise, every late timer would reduce throughput. */
const defaultCatchUpMs = 50;

/** Each 429 multiplies the slowdown by `step`, up to `max`; each successful response multiplies it by `recovery`. */
const slowing = { step: 1.5, max: 4, recovery: 0.95 } as const;

/** A participant that has not used the state for this long is removed. */
const participantTimeoutMs = 3_000;

/** How long to yield to another participant: a fraction of the interval, up to a maximum. */
const yielding = { maxMs: 25, fractionOfInterval: 0.25 } as const;

/** A participant that is later than this is not waited for. */
const maxLatenessMs = 250;

const never = Number.NEGATIVE_INFINITY;

export function createPaceState(): PaceState {
  return { startsMs: [], dueMs: never, heldUntilMs: never, slowdown: 1, seenMs: never, participants: {} };
}

/** Assumed: 2.5 calls per second means 2 in any second; 0.5 means 1 in any two seconds. */
export function toRate(perSecond: number): Rate {
  return {
    perWindow: perSecond >= 1 ? Math.floor(perSecond) : Math.ceil(perSecond),
    windowMs: perSecond > 0 && perSecond < 1 ? windowMs / perSecond : windowMs,
  };
}

export function intervalMs({ perWindow, windowMs: lengthMs }: Rate, slowdown: number): number {
  return perWindow === 0 ? 0 : ((lengthMs * spread.normal) / perWindow) * slowdown;
}

/** Computes when the next call may start. */
export function nextStartMs(state: PaceState, rate: Rate): number {
  if (rate.perWindow === 0) return state.heldUntilMs;
  const oldestMs = state.startsMs.at(-rate.perWindow);
  const windowEndMs = oldestMs === undefined ? never : oldestMs + rate.windowMs * spread.min;
  return Math.max(state.heldUntilMs, windowEndMs, state.dueMs + intervalMs(rate, state.slowdown));
}

/** Records a start. `dueMs` is when it was due; `catchUpMs` is the maximum delay that the next start makes up for. */
export function addStart(
  state: PaceState,
  rate: Rate,
  at: { readonly nowMs: number; readonly dueMs: number; readonly catchUpMs?: number | undefined },
): void {
  if (rate.perWindow === 0) return;
  state.dueMs = Math.max(at.dueMs, at.nowMs - (at.catchUpMs ?? defaultCatchUpMs));
  state.startsMs.push(at.nowMs);
  if (state.startsMs.length > rate.perWindow) state.startsMs.splice(0, state.startsMs.length - rate.perWindow);
}

/** Moves a start to when the call reached the service, which is later if it was delayed on its way. */
export function moveStart(state: PaceState, startMs: number, arrivedMs: number): void {
  const at = state.startsMs.lastIndexOf(startMs);
  if (at !== -1) state.startsMs = state.startsMs.with(at, arrivedMs).toSorted((a, b) => a - b);
}

export function addHold(state: PaceState, untilMs: number): void {
  state.heldUntilMs = Math.max(state.heldUntilMs, untilMs);
}

/** Records a 429. Concurrent calls are refused together, so during a hold, further refusals do not slow calls more. */
export function addRefusal(state: PaceState, nowMs: number, forMs: number): void {
  if (nowMs >= state.heldUntilMs) state.slowdown = Math.min(slowing.max, state.slowdown * slowing.step);
  addHold(state, nowMs + forMs);
}

export function addSuccess(state: PaceState): void {
  state.slowdown = Math.max(1, state.slowdown * slowing.recovery);
}

/** Updates the time of the state. If the clock was set back, shifts all times, so that calls do not stop for as long. */
export function updateTime(state: PaceState, nowMs: number): void {
  const backMs = state.seenMs - nowMs;
  if (backMs > 0) {
    state.startsMs = state.startsMs.map((startMs) => startMs - backMs);
    state.dueMs -= backMs;
    state.heldUntilMs -= backMs;
    state.participants = {};
  }
  state.seenMs = nowMs;
}

/** The rate for all participants together: the highest of theirs, so that a slow one does not slow down the others. */
export function sharedRate(state: PaceState, ownPerSecond: number): Rate {
  const rates = Object.values(state.participants).map(({ ratePerSecond }) => ratePerSecond);
  return toRate(Math.max(ownPerSecond, ...rates));
}

/** Updates a participant, and removes those that have timed out. */
export function addParticipant(
  state: PaceState,
  id: string,
  update: Pick<Participant, "ratePerSecond" | "wakesAtMs"> & { readonly startedMs?: number },
): void {
  const { seenMs } = state;
  const { ratePerSecond, wakesAtMs, startedMs } = update;
  const lastStartMs = startedMs ?? state.participants[id]?.lastStartMs ?? never;
  const present = Object.entries(state.participants).filter(
    ([other, { seenMs: lastSeenMs }]) => other !== id && lastSeenMs > seenMs - participantTimeoutMs,
  );
  state.participants = { ...Object.fromEntries(present), [id]: { ratePerSecond, wakesAtMs, lastStartMs, seenMs } };
}

/**
 * How long after `startMs` a participant yields to one that is waiting and whose last start was earlier. This makes
 * waiting participants take turns.
 */
export function yieldMs(state: PaceState, id: string, startMs: number, rate: Rate): number {
  const own = state.participants[id]?.lastStartMs ?? never;
  const lengthMs = Math.min(yielding.maxMs, intervalMs(rate, 1) * yielding.fractionOfInterval);
  const latestWakeMs = Math.max(startMs, state.seenMs) + lengthMs;
  const isOvertaken = Object.entries(state.participants).some(
    ([other, { wakesAtMs, lastStartMs }]) =>
      other !== id &&
      wakesAtMs !== null &&
      lastStartMs < own &&
      wakesAtMs <= latestWakeMs &&
      wakesAtMs > state.seenMs - maxLatenessMs,
  );
  return isOvertaken ? lengthMs : 0;
}

/** Stores the state of one or more pacers. */
export interface PaceStore {
  /** The state as of the last use; may be outdated. */
  readonly seen: PaceState;
  /** Whether other pacers, of this process or another, may use it, too. */
  readonly isShared: boolean;
  /**
   * Reads and changes the state exclusively.
   * @throws the signal's reason if it is aborted first
   */
  use<T>(change: (state: PaceState) => T, signal?: AbortSignal): Promise<T>;
  /** Changes the state immediately if possible; otherwise, before its next use by this process. */
  changeSoon(change: (state: PaceState) => void): void;
}

export class MemoryPace implements PaceStore {
  readonly seen = createPaceState();
  readonly isShared: boolean;

  constructor({ isShared = false }: { readonly isShared?: boolean } = {}) {
    this.isShared = isShared;
  }

  async use<T>(change: (state: PaceState) => T): Promise<T> {
    return change(this.seen);
  }

  changeSoon(change: (state: PaceState) => void): void {
    change(this.seen);
  }
}
