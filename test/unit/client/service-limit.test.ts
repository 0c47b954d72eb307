import { describe, expect, it } from "vitest";
import { readRetryAfterMs, readServiceLimit } from "../../../src/client/service-limit.ts";

const nowMs = Date.UTC(2026, 0, 1, 12, 0, 0, 250);
const nowSeconds = Math.floor(nowMs / 1_000);
const limitHeaders = (remaining: string, reset: string, date?: string) => ({
  "ratelimit-remaining": remaining,
  "ratelimit-reset": reset,
  ...(date && { date }),
});

describe("readServiceLimit", () => {
  it("reads the remaining calls and the time until the window ends", () => {
    expect(readServiceLimit(limitHeaders("0", `${nowSeconds + 1}`), nowMs)).toEqual({
      remaining: 0,
      resetAtSeconds: nowSeconds + 1,
      resetInMs: 750,
    });
  });

  it("reads the time relative to the service's clock", () => {
    const date = new Date(nowMs + 3_600_000).toUTCString();
    const limit = readServiceLimit(limitHeaders("0", `${nowSeconds + 3_601}`, date), nowMs);
    expect(limit?.resetInMs).toBe(1_000);
  });

  it("treats a past reset as now, and limits a distant one to a minute", () => {
    expect(readServiceLimit(limitHeaders("0", "1"), nowMs)?.resetInMs).toBe(0);
    expect(readServiceLimit(limitHeaders("0", "999999999999"), nowMs)?.resetInMs).toBe(60_000);
  });

  it.each(["", "soon", "-1", "1e9", "Infinity", "9".repeat(30)])("ignores the reset %j", (reset) => {
    expect(readServiceLimit(limitHeaders("0", reset), nowMs)).toBeUndefined();
  });
});

describe("readServiceLimit without one of its headers", () => {
  it.each([
    [{ "ratelimit-reset": "5" }],
    [{ "ratelimit-remaining": "5" }],
    [{ "ratelimit-remaining": "x", "ratelimit-reset": "5" }],
    [{}],
  ])("is undefined for %j", (headers) => {
    expect(readServiceLimit(headers, nowMs)).toBeUndefined();
  });
});

describe("readRetryAfterMs", () => {
  it.each([
    ["2", 2_000],
    ["0.5", 500],
    ["86400", 86_400_000],
    ["99999999", 99_999_999_000],
    ["9".repeat(400), 36_525 * 86_400_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 36_525 * 86_400_000],
    ["-5", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
    ["1e9", undefined],
    [new Date(nowMs + 5_750).toUTCString(), 5_750],
    [new Date(nowMs - 5_000).toUTCString(), 0],
    ["soon", undefined],
    ["", undefined],
  ])("reads %j", (header, ms) => {
    expect(readRetryAfterMs({ "retry-after": header }, nowMs)).toBe(ms);
  });
});
