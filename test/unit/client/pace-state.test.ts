import { describe, expect, test } from "vitest";
import {
  addHold,
  addParticipant,
  addRefusal,
  addStart,
  addSuccess,
  createPaceState,
  intervalMs,
  nextStartMs,
  type PaceState,
  sharedRate,
  toRate,
  updateTime,
  yieldMs,
} from "../../../src/client/pace-state.ts";

const five = toRate(5);
const at = (nowMs: number) => ({ nowMs, dueMs: nowMs });

test.each([
  [0, 0, 1_000],
  [0.5, 1, 2_000],
  [0.25, 1, 4_000],
  [1, 1, 1_000],
  [2.5, 2, 1_000],
  [5, 5, 1_000],
])("%s calls per second are %i per window of %i ms", (perSecond, perWindow, windowMs) => {
  expect(toRate(perSecond)).toEqual({ perWindow, windowMs });
});

test("intervals spread calls over slightly more than the window", () => {
  expect([intervalMs(five, 1), intervalMs(five, 2), intervalMs(toRate(0), 2)]).toEqual([202, 404, 0]);
});

describe("the next start", () => {
  test("is at once for the first call, then after an interval, a window, and a hold", () => {
    const state = createPaceState();
    expect(nextStartMs(state, five)).toBe(Number.NEGATIVE_INFINITY);
    addStart(state, five, at(1_000));
    expect(nextStartMs(state, five)).toBe(1_202);
    addHold(state, 1_500);
    expect(nextStartMs(state, five)).toBe(1_500);
    addHold(state, 1_400);
    expect(nextStartMs(state, five)).toBe(1_500);
    const full: PaceState = { ...createPaceState(), startsMs: [0, 1, 2, 3, 4] };
    expect(nextStartMs(full, five)).toBe(1_006);
    expect(nextStartMs({ ...full, startsMs: [0, 1, 2, 3] }, five)).toBe(Number.NEGATIVE_INFINITY);
  });

  test("makes up for a delay, up to a maximum", () => {
    const dueAfter = (nowMs: number, dueMs: number, catchUpMs?: number) => {
      const state = createPaceState();
      addStart(state, five, { nowMs, dueMs, catchUpMs });
      return state.dueMs;
    };
    expect(dueAfter(1_030, 1_000)).toBe(1_000);
    expect(dueAfter(1_080, 1_000)).toBe(1_030);
    expect(dueAfter(1_080, 1_000, 0)).toBe(1_080);
    expect(dueAfter(1_000, 1_010)).toBe(1_010);
  });

  test("depends on no more calls than a window has, and on none without a rate", () => {
    const state = createPaceState();
    for (let nowMs = 1; nowMs <= 8; nowMs++) addStart(state, five, at(nowMs));
    expect(state.startsMs).toEqual([4, 5, 6, 7, 8]);
    const unpaced = createPaceState();
    addStart(unpaced, toRate(0), at(5));
    expect(unpaced).toEqual(createPaceState());
    addHold(unpaced, 9);
    expect(nextStartMs(unpaced, toRate(0))).toBe(9);
  });
});

test("refusals slow calls down once per hold, and successes speed them up again", () => {
  const state = createPaceState();
  addRefusal(state, 100, 50);
  addRefusal(state, 149, 10);
  expect([state.slowdown, state.heldUntilMs]).toEqual([1.5, 159]);
  addRefusal(state, 159, 1);
  expect([state.slowdown, state.heldUntilMs]).toEqual([2.25, 160]);
  for (let nowMs = 200; nowMs < 600; nowMs += 100) addRefusal(state, nowMs, 1);
  expect(state.slowdown).toBe(4);
  addSuccess(state);
  expect(state.slowdown).toBeCloseTo(3.8);
  for (let time = 0; time < 100; time++) addSuccess(state);
  expect(state.slowdown).toBe(1);
});

test("all times move if the clock was set back", () => {
  const state: PaceState = {
    ...createPaceState(),
    startsMs: [900, 950],
    dueMs: 980,
    heldUntilMs: 1_100,
    seenMs: 1_000,
  };
  addParticipant(state, "a", { ratePerSecond: 5, wakesAtMs: null });
  updateTime(state, 1_200);
  expect(state).toMatchObject({ startsMs: [900, 950], dueMs: 980, heldUntilMs: 1_100, seenMs: 1_200 });
  expect(Object.keys(state.participants)).toEqual(["a"]);
  updateTime(state, 1_200);
  expect(Object.keys(state.participants)).toEqual(["a"]);
  updateTime(state, 200);
  expect(state).toMatchObject({ startsMs: [-100, -50], dueMs: -20, heldUntilMs: 100, seenMs: 200, participants: {} });
});

describe("participants", () => {
  const waiting = { ratePerSecond: 5, wakesAtMs: 1_010 };

  test("share the highest rate, and leave after three seconds", () => {
    const state = createPaceState();
    state.seenMs = 1_000;
    addParticipant(state, "a", { ratePerSecond: 10, wakesAtMs: null, startedMs: 7 });
    state.seenMs = 3_999;
    addParticipant(state, "b", waiting);
    expect(Object.keys(state.participants)).toEqual(["a", "b"]);
    expect([sharedRate(state, 2), sharedRate(state, 20)]).toEqual([toRate(10), toRate(20)]);
    addParticipant(state, "a", waiting);
    expect(state.participants["a"]).toEqual({ ...waiting, lastStartMs: 7, seenMs: 3_999 });
    state.seenMs = 6_999;
    addParticipant(state, "b", waiting);
    expect(Object.keys(state.participants)).toEqual(["b"]);
    expect(state.participants["b"]?.lastStartMs).toBe(Number.NEGATIVE_INFINITY);
    expect(sharedRate(createPaceState(), 3)).toEqual(toRate(3));
  });

  test("yield to one that waits and has started less recently", () => {
    const yields = (own: number, other: number, wakesAtMs: number | null, rate = five) => {
      const state = createPaceState();
      state.seenMs = 1_000;
      addParticipant(state, "a", { ratePerSecond: 5, wakesAtMs: null, startedMs: own });
      addParticipant(state, "b", { ratePerSecond: 5, wakesAtMs, startedMs: other });
      return yieldMs(state, "a", 1_000, rate);
    };
    expect(yields(10, 5, 1_010)).toBe(25);
    expect(yields(5, 10, 1_010)).toBe(0);
    expect(yields(5, 5, 1_010)).toBe(0);
    expect(yields(10, 5, null)).toBe(0);
    expect(yields(10, 5, 1_025)).toBe(25);
    expect(yields(10, 5, 1_026)).toBe(0);
    expect(yields(10, 5, 751)).toBe(25);
    expect(yields(10, 5, 750)).toBe(0);
    expect(yields(10, 5, 1_010, toRate(50))).toBe(0);
    expect(yields(10, 5, 1_001, toRate(50))).toBeCloseTo(5.05);
    const alone = createPaceState();
    alone.seenMs = 1_000;
    addParticipant(alone, "a", { ...waiting, startedMs: 1 });
    expect(yieldMs(alone, "a", 1_000, five)).toBe(0);
    expect(yieldMs(alone, "c", 1_000, five)).toBe(0);
  });
});
