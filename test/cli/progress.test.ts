import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { describeProgress, ImportProgress } from "../../src/cli/commands/records/import-progress.ts";
import { ProgressMeter } from "../../src/cli/program/output/progress-meter.ts";
import type { ImportEvent } from "../../src/import/events.ts";
import { loadLayout } from "../../src/terminal/text-layout.ts";
import { canAnimate, createLineProgress, createSpinner, truncateLine } from "../../src/terminal/progress.ts";
import { capture } from "./support.ts";

type ProgressEvent = Extract<ImportEvent, { type: "progress" }>;

function progressOf(read: number, sent: number, more: Partial<ProgressEvent> = {}): ProgressEvent {
  return {
    type: "progress",
    rows: { read, accepted: read, rejected: 0, failed: 0 },
    calls: { sent, retried: 0, throttled: 0 },
    rowsTotal: 1_500,
    isReplay: false,
    ...more,
  };
}

describe("the status line of an import", () => {
  test("shows counts, speed, and remaining time", () => {
    const event = progressOf(500, 3, { rows: { read: 500, accepted: 480, rejected: 20, failed: 0 } });
    expect(describeProgress(event, { rows: 500, calls: 3 }, undefined)).toBe(
      "500 of about 1,500 rows · 500/s · 2.0 s left · 480 accepted · 20 rejected · 3 calls",
    );
  });

  test("omits unknown values", () => {
    const event = progressOf(500, 3, { rowsTotal: undefined });
    expect(describeProgress(event, undefined, undefined)).toBe("500 rows · 500 accepted · 0 rejected · 3 calls");
  });

  test("names the rate limit if it determines the speed, and then estimates from calls", () => {
    const pace = { ratePerSecond: 5, source: "service limit" };
    const held = describeProgress(progressOf(500, 10), { rows: 245, calls: 4.9 }, pace);
    // 1,000 rows are 20 calls of 50.
    expect(held).toContain("4.0 s left");
    expect(held).toContain("5 calls/s (service limit)");
    expect(describeProgress(progressOf(500, 10), { rows: 50, calls: 1 }, pace)).not.toContain("limit");
  });

  test("shows no remaining time while stalled", () => {
    expect(describeProgress(progressOf(500, 3), { rows: 0, calls: 0 }, undefined)).not.toContain("left");
  });

  test("shows a wait while it lasts", () => {
    let nowMs = 0;
    const progress = new ImportProgress(() => nowMs);
    progress.add(progressOf(10, 1));
    progress.add({ type: "wait", message: "next call in 3 s", ms: 3_000 });
    nowMs = 2_999;
    expect(progress.format()).toMatch(/ · next call in 3 s$/);
    nowMs = 3_000;
    expect(progress.format()).not.toContain("next call");
  });

  test("estimates a resumed run from its own speed", () => {
    let nowMs = 0;
    const progress = new ImportProgress(() => nowMs);
    for (; nowMs < 1_000; nowMs += 100) progress.add(progressOf(nowMs, 40, { isReplay: true }));
    expect(progress.format()).toBe("reading previous progress: 900 of about 1,500 rows");
    for (let read = 900; nowMs < 3_000; nowMs += 100) progress.add(progressOf((read += 1), 41));
    // 10 rows per second, not the 1,000 per second of the replay.
    expect(progress.format()).toMatch(/^920 of about 1,500 rows · (9|10)(\.\d)?\/s · (58|59|1 min)/);
  });
});

describe("speed", () => {
  test("is the average of the last seconds, and drops while stalled", () => {
    const meter = new ProgressMeter();
    for (let s = 0; s <= 60; s++) meter.add({ atMs: s * 1_000, rows: s * 1_000, calls: s });
    for (let s = 1; s <= 30; s++) meter.add({ atMs: (60 + s) * 1_000, rows: 60_000 + s * 10, calls: 60 });
    expect(meter.speed(90_000)?.rows).toBeCloseTo(10, 0);
    expect(meter.speed(120_000)?.rows).toBeLessThan(5);
  });

  test("is known for rare events as well", () => {
    const meter = new ProgressMeter();
    for (let at = 0; at <= 5; at++) meter.add({ atMs: at * 40_000, rows: at * 100, calls: at });
    expect(meter.speed(200_000)?.rows).toBeCloseTo(2.5, 1);
  });

  test("restarts with a new run", () => {
    const meter = new ProgressMeter();
    meter.add({ atMs: 0, rows: 5_000, calls: 5 });
    meter.add({ atMs: 1_000, rows: 10, calls: 1 });
    expect(meter.speed(1_000)).toBeUndefined();
  });
});

describe("without a terminal", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("prints a line every ten seconds, even without progress", () => {
    const { stream, text } = capture();
    const progress = createLineProgress(stream, Date.now);
    progress.show(() => "5 rows");
    for (let s = 0; s < 15; s++) {
      progress.show(() => `${s} rows`);
      vi.advanceTimersByTime(1_000);
    }
    vi.advanceTimersByTime(16_000);
    progress.stop();
    vi.advanceTimersByTime(60_000);
    expect(text()).toBe("9 rows\n14 rows\nno progress for 16 s · 14 rows\n");
  });

  test("reports a service that never responds", () => {
    const { stream, text } = capture();
    const progress = createLineProgress(stream, Date.now);
    vi.advanceTimersByTime(10_000);
    progress.stop();
    expect(text()).toBe("no progress for 10 s\n");
  });

  test("continues after a prompt", () => {
    const { stream, text } = capture();
    const progress = createLineProgress(stream, Date.now);
    progress.stop();
    progress.show(() => "1 row");
    vi.advanceTimersByTime(10_000);
    progress.stop();
    expect(text()).toContain("1 row");
  });
});

describe("on a terminal", () => {
  test("is animated only if the terminal width is known", () => {
    const animates = (like: object) => canAnimate(Object.assign(capture().stream, like));
    expect(animates({ isTTY: true, columns: 80 })).toBe(true);
    expect(animates({ isTTY: true, columns: 0 })).toBe(false);
    expect(animates({})).toBe(false);
  });

  test("is never wider than the terminal, in any script", async () => {
    const layout = await loadLayout();
    for (const line of ["1,000 of about 20,000 rows · 90/s · 3 min 20 s left", "見て".repeat(30), "👩‍👩‍👧‍👦é".repeat(20)]) {
      for (let columns = 1; columns < 100; columns += 7) {
        const cut = truncateLine(line, columns, layout);
        expect(layout.widthOf(cut)).toBeLessThanOrEqual(Math.max(1, columns - 5));
        expect(cut.isWellFormed()).toBe(true);
      }
    }
  });

  test("is overwritten, and erased at the end", async () => {
    const { stream, text } = capture();
    const terminal = Object.assign(stream, {
      isTTY: true,
      columns: 20,
      cursorTo: () => true,
      clearLine: () => true,
      moveCursor: () => true,
    });
    const progress = await createSpinner(terminal, Date.now, false);
    progress.show(() => "1,000 of about 20,000 rows · 90/s");
    progress.stop();
    expect(text()).toContain("1,000 of about…");
    expect(text()).not.toContain("20,000");
    // oxlint-disable-next-line no-control-regex -- Colors are off.
    expect(text()).not.toMatch(/\u001b\[\d+m/);
  });
});

test.each([
  [80, "1,200 of 9,000 rows · 13% · 0:12 left"],
  [36, "1,200 of 9,000 rows · 13%"],
  [28, "1,200 of 9,000 rows"],
  [12, "1,200…"],
])("at %i columns, drops the last figures first", (columns, shown) => {
  expect(truncateLine("1,200 of 9,000 rows · 13% · 0:12 left", columns)).toBe(shown);
});
