import { describe, expect, test } from "vitest";
import { createPaceState } from "../../../src/client/pace-state.ts";
import { parsePaceState } from "../../../src/client/shared-pace.ts";

const nowMs = 1_000_000;
const participant = { ratePerSecond: 5, lastStartMs: 1, wakesAtMs: null, seenMs: 2 };
const stored = {
  startsMs: [1, 2],
  dueMs: 3,
  heldUntilMs: 4,
  slowdown: 1.5,
  seenMs: nowMs,
  participants: { a: participant },
};
const parse = (state: unknown) => parsePaceState(JSON.stringify(state), nowMs);

describe("the shared state of pacers", () => {
  test("is read as it was written", () => {
    expect(parse(stored)).toEqual(stored);
    expect(parse(createPaceState())).toEqual(createPaceState());
  });

  test("older than a minute only holds calls", () => {
    expect(parse({ ...stored, seenMs: nowMs - 60_000 })).toEqual({ ...stored, seenMs: nowMs - 60_000 });
    expect(parse({ ...stored, seenMs: nowMs - 60_001 })).toEqual({ ...createPaceState(), heldUntilMs: 4 });
  });

  test.each(["", "null", "{", "[]", "5"])("that cannot be read is new: %j", (text) => {
    expect(parsePaceState(text, nowMs)).toEqual(createPaceState());
  });

  test("ignores invalid parts", () => {
    const { dueMs, slowdown } = createPaceState();
    const participants = {
      a: participant,
      b: null,
      c: 5,
      d: { ratePerSecond: 5 },
      e: { seenMs: 5 },
      f: { ratePerSecond: "5", seenMs: 5 },
    };
    const invalid = { ...stored, startsMs: [1, "2", null, 3], dueMs: "3", slowdown: null, participants };
    expect(parse(invalid)).toEqual({ ...stored, startsMs: [1, 3], dueMs, slowdown, participants: { a: participant } });
    expect(parse({ ...stored, startsMs: 5, participants: undefined })).toEqual({
      ...stored,
      startsMs: [],
      participants: {},
    });
  });
});
