import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultRetryLimits, mayRepeat, planRetry } from "../../../src/client/http-transport.ts";
import { type Effect, type ErrorKind, errorKinds, ServiceError } from "../../../src/contract/index.ts";

const effects: readonly Effect[] = ["read", "repeatable", "once"];
const temporary: readonly ErrorKind[] = ["tooManyRequests", "internal", "unavailable", "timeout"];

function plan(error: ServiceError, more: Partial<Parameters<typeof planRetry>[0]> = {}) {
  return planRetry({ error, effect: "read", attempt: 1, spentMs: 0, random: () => 0.5, ...more }, defaultRetryLimits);
}

describe("mayRepeat", () => {
  const table = Object.keys(errorKinds).flatMap((kind) =>
    effects.flatMap((effect) =>
      [true, false].map((outcomeUnknown) => ({ kind: kind as ErrorKind, effect, outcomeUnknown })),
    ),
  );
  it.each(table)("$kind of a call with effect $effect, outcome unknown: $outcomeUnknown", (row) => {
    const { kind, effect, outcomeUnknown } = row;
    const error = new ServiceError(kind, "refused", { outcomeUnknown });
    expect(mayRepeat(error, effect)).toBe(temporary.includes(kind) && !(effect === "once" && outcomeUnknown));
  });
});

describe("planRetry", () => {
  it("doubles the bound of the wait with each try, up to 20 s", () => {
    const waits = [1, 2, 3, 4, 5].map((attempt) => plan(new ServiceError("timeout", "late"), { attempt })?.ms);
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000]);
    const limits = { maxAttempts: 100, maxRetryMs: 1e9 };
    const error = new ServiceError("timeout", "late");
    const late = planRetry({ error, effect: "read", attempt: 90, spentMs: 0, random: () => 0.999 }, limits);
    expect(late?.ms).toBe(19_980);
  });

  it("waits as long as the service asks, and at least a second after a 429", () => {
    expect(plan(new ServiceError("unavailable", "later", { retryAfterMs: 7_000 }))?.ms).toBe(7_000);
    expect(plan(new ServiceError("tooManyRequests", "slow down", { retryAfterMs: 3_000 }))?.ms).toBe(3_125);
    expect(plan(new ServiceError("tooManyRequests", "slow down"))).toEqual({
      reason: "throttled",
      ms: 1_125,
      message: "the service is throttling calls (429); retrying in 1.1 s",
      mayBeDone: false,
    });
  });

  it("describes the failure and the delay", () => {
    const error = new ServiceError("unavailable", "http://host: nothing answers there");
    expect(plan(error, { attempt: 4 })).toEqual({
      reason: "retry",
      ms: 2_000,
      message: "http://host: nothing answers there; retrying in 2 s",
      mayBeDone: false,
    });
  });

  it.each([
    [59_000, "59 s"],
    [185_000, "3 min 05 s"],
    [300_000, "5 min 00 s"],
  ])("describes a wait of %i ms that the service asks for as %s", (retryAfterMs, shown) => {
    const error = new ServiceError("unavailable", "down", { retryAfterMs });
    const limits = { maxAttempts: 6, maxRetryMs: 1e9 };
    const planned = planRetry({ error, effect: "read", attempt: 1, spentMs: 0, random: () => 0 }, limits);
    expect(planned).toMatchObject({ ms: retryAfterMs, message: `down; retrying in ${shown}` });
  });

  it("ends if the service asks to wait longer than 5 minutes, or again after two minutes", () => {
    const limits = { maxAttempts: 6, maxRetryMs: 120_000 };
    for (const kind of ["unavailable", "tooManyRequests"] as const) {
      const wait = (retryAfterMs: number, spentMs: number) => {
        const error = new ServiceError(kind, "later", { retryAfterMs });
        return planRetry({ error, effect: "read", attempt: 1, spentMs, random: () => 0 }, limits);
      };
      expect(wait(300_000, 0)).toBeDefined();
      expect(wait(300_001, 0)).toBeUndefined();
      expect(wait(300_000, 119_000)).toBeDefined();
      expect(wait(1_000, 120_000)).toBeUndefined();
    }
  });

  it("stops after six attempts, or if the next one would be too late", () => {
    const error = new ServiceError("unavailable", "down");
    expect(plan(error, { attempt: 5 })).toBeDefined();
    expect(plan(error, { attempt: 6 })).toBeUndefined();
    expect(plan(error, { spentMs: 119_000 })).toBeDefined();
    expect(plan(error, { spentMs: 119_900 })).toBeUndefined();
  });

  it("plans a finite delay within its limits for any failure", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...temporary),
        fc.integer({ min: 1, max: 5 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.nat(60_000), { nil: undefined }),
        (kind, attempt, random, retryAfterMs) => {
          const error = new ServiceError(kind, "x", retryAfterMs === undefined ? {} : { retryAfterMs });
          const ms = plan(error, { attempt, random: () => random })?.ms ?? 0;
          expect(ms).toBeGreaterThanOrEqual(Math.max(50, retryAfterMs ?? 0));
          expect(ms).toBeLessThanOrEqual(60_250);
        },
      ),
    );
  });
});
