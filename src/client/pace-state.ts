/** Calls in a window; 0 calls is no pacing. */
export interface Rate {
  readonly perWindow: number;
  readonly windowMs: number;
}

/** One of those who keep a rate together, as the others see it. Times in milliseconds since the epoch. */
export interface Participant {
  /** Calls a second that it takes for the limit of all. */
  readonly ratePerSecond: number;
  readonly lastStartMs: number;
  /** When it looks again whether it may start; nothing while it waits for nothing. */
  readonly wakesAtMs: number | null;
  readonly seenMs: number;
}

/** What is known of past calls, and decides when the next may start. */
export interface PaceState {
  /** Times of the last starts, oldest first. */
  startsMs: number[];
  /** When the last start was due; the next is due one interval later. */
  dueMs: number;
  heldUntilMs: number;
  /** How much longer the intervals are than usual, because the service refused calls. */
  slowdown: number;
  /** The time of the last look. */
  seenMs: number;
  participants: Record<string, Participant>;
}

const windowMs = 1_000;

/**
 * The calls of a window are spread over this much more than the window, and never over less than the second: a service
 * that counts in windows of its own gets no call too many although calls travel for unequal times, and 99 % of its
 * limit is used.
 */
const spread = { usual: 1.01, least: 1.006 } as const;

/** A start that came late is made up for by this much, or every late timer would cost throughput. */
const usualCatchUpMs = 50;

/** After a 429 calls are slowed by the first factor, at most by the second; each answer takes the third off again. */
const slowing = { step: 1.5, most: 4, recovery: 0.95 } as const;

/** Who was not heard of for so long takes no part any more. */
const presentForMs = 3_000;

/** Who is due gets this long a start, or a part of the interval; milliseconds. */
const courtesy = { mostMs: 25, partOfInterval: 0.25 } as const;

/** Who does not come this long after it meant to is not waited for. */
const latestMs = 250;

const never = Number.NEGATIVE_INFINITY;

export function createPaceState(): PaceState {
  return { startsMs: [], dueMs: never, heldUntilMs: never, slowdown: 1, seenMs: never, participants: {} };
}

/** Assumed: a rate of 2.5 is 2 in any second, one of 0.5 is 1 in any two seconds. */
export function asRate(perSecond: number): Rate {
  return {
    perWindow: perSecond >= 1 ? Math.floor(perSecond) : Math.ceil(perSecond),
    windowMs: perSecond > 0 && perSecond < 1 ? windowMs / perSecond : windowMs,
  };
}

export function intervalMs({ perWindow, windowMs: lengthMs }: Rate, slowdown: number): number {
  return perWindow === 0 ? 0 : ((lengthMs * spread.usual) / perWindow) * slowdown;
}

export function nextStartMs(state: PaceState, rate: Rate): number {
  if (rate.perWindow === 0) return state.heldUntilMs;
  const oldestMs = state.startsMs.at(-rate.perWindow);
  const windowEndMs = oldestMs === undefined ? never : oldestMs + rate.windowMs * spread.least;
  return Math.max(state.heldUntilMs, windowEndMs, state.dueMs + intervalMs(rate, state.slowdown));
}

/** Counts a start; `dueMs` is when it should have been, and `catchUpMs` how much of a delay is made up for. */
export function addStart(
  state: PaceState,
  rate: Rate,
  at: { readonly nowMs: number; readonly dueMs: number; readonly catchUpMs?: number | undefined },
): void {
  if (rate.perWindow === 0) return;
  state.dueMs = Math.max(at.dueMs, at.nowMs - (at.catchUpMs ?? usualCatchUpMs));
  state.startsMs.push(at.nowMs);
  if (state.startsMs.length > rate.perWindow)
    state.startsMs.splice(0, state.startsMs.length - rate.perWindow);
}

export function addHold(state: PaceState, untilMs: number): void {
  state.heldUntilMs = Math.max(state.heldUntilMs, untilMs);
}

/** A refusal at `nowMs`: calls that were under way together are refused together, and count as one. */
export function addRefusal(state: PaceState, nowMs: number, forMs: number): void {
  if (nowMs >= state.heldUntilMs) state.slowdown = Math.min(slowing.most, state.slowdown * slowing.step);
  addHold(state, nowMs + forMs);
}

export function addAnswer(state: PaceState): void {
  state.slowdown = Math.max(1, state.slowdown * slowing.recovery);
}

/** A clock that is set back must not stop the calls for as long: all that is remembered is set back with it. */
export function noticeTime(state: PaceState, nowMs: number): void {
  const backMs = state.seenMs - nowMs;
  if (backMs > 0) {
    state.startsMs = state.startsMs.map((startMs) => startMs - backMs);
    state.dueMs -= backMs;
    state.heldUntilMs -= backMs;
    state.participants = {};
  }
  state.seenMs = nowMs;
}

/** The rate that all keep together: the highest of those who take part, so that a slow one does not slow the others. */
export function sharedRate(state: PaceState, ownPerSecond: number): Rate {
  const rates = Object.values(state.participants).map(({ ratePerSecond }) => ratePerSecond);
  return asRate(Math.max(ownPerSecond, ...rates));
}

/** Writes down what a participant does, and forgets those who are gone. */
export function addParticipant(
  state: PaceState,
  id: string,
  told: Pick<Participant, "ratePerSecond" | "wakesAtMs"> & { readonly startedMs?: number },
): void {
  const { seenMs } = state;
  const { ratePerSecond, wakesAtMs, startedMs } = told;
  const lastStartMs = startedMs ?? state.participants[id]?.lastStartMs ?? never;
  const present = Object.entries(state.participants).filter(
    ([other, { seenMs: heardMs }]) => other !== id && heardMs > seenMs - presentForMs,
  );
  state.participants = {
    ...Object.fromEntries(present),
    [id]: { ratePerSecond, wakesAtMs, lastStartMs, seenMs },
  };
}

/**
 * How long after `startMs` a participant lets another go first: one that waits and has started nothing for longer.
 * So those who wait take turns.
 */
export function courtesyMs(state: PaceState, id: string, startMs: number, rate: Rate): number {
  const own = state.participants[id]?.lastStartMs ?? never;
  const lengthMs = Math.min(courtesy.mostMs, intervalMs(rate, 1) * courtesy.partOfInterval);
  const latestWakeMs = Math.max(startMs, state.seenMs) + lengthMs;
  const isOvertaken = Object.entries(state.participants).some(
    ([other, { wakesAtMs, lastStartMs }]) =>
      other !== id &&
      wakesAtMs !== null &&
      lastStartMs < own &&
      wakesAtMs <= latestWakeMs &&
      wakesAtMs > state.seenMs - latestMs,
  );
  return isOvertaken ? lengthMs : 0;
}
