import { expect, it } from "vitest";
import type { JournalEntry, Totals } from "../../../../src/import/run/journal.ts";
import { Heartbeat } from "../../../../src/import/run/heartbeat.ts";
import { maxIntervals, readTimeline } from "../../../../src/import/report/run-report.ts";

const start = Date.parse("2026-01-31T12:00:00.000Z");

function totalsOf(read: number): Totals {
  return {
    rows: { read, accepted: read, rejected: 0, failed: 0 },
    items: { sent: read, accepted: read, rejected: 0, created: read, changed: 0, unchanged: 0 },
    calls: { sent: read / 100, retried: 0, throttled: 0 },
  };
}

function doneAt(at: number, n: number, read: number): JournalEntry {
  const calls = { sent: 1, retried: 0, throttled: 0 };
  return { t: "done", n, problems: [], calls, at: start + at, totals: totalsOf(read) };
}

/** A run that was killed after 300 rows and resumed an hour later: it skips these rows and sends 300 more. */
const resumed: readonly JournalEntry[] = [
  { t: "start", at: start },
  doneAt(500, 0, 100),
  doneAt(1_500, 1, 200),
  { t: "heartbeat", at: start + 1_500, ms: 1_500, seen: [3, 1, 0], waits: [0, 0, 700] },
  doneAt(2_500, 2, 300),
  { t: "start", at: start + 3_600_000 },
  doneAt(3_600_500, 3, 400),
  { t: "heartbeat", at: start + 3_601_500, ms: 1_000, seen: [2, 0, 1], waits: [900, 2_000, 0] },
  doneAt(3_601_500, 5, 600),
  { t: "totals", at: start + 3_602_000, totals: totalsOf(600) },
];

it("counts each row and call once over all attempts", () => {
  const { points, attempts, hasHeartbeats, intervalMs } = readTimeline(resumed);
  const sum = (of: (point: (typeof points)[number]) => number) => points.reduce((all, point) => all + of(point), 0);
  expect(hasHeartbeats).toBe(true);
  expect(intervalMs).toBe(1_000);
  expect(sum(({ rows }) => rows)).toBe(600);
  expect(sum(({ calls }) => calls)).toBe(5);
  expect(sum(({ retried }) => retried ?? 0)).toBe(1);
  expect(sum(({ throttled }) => throttled ?? 0)).toBe(1);
  expect(sum(({ waits }) => (waits?.pace ?? 0) + (waits?.throttled ?? 0) + (waits?.retry ?? 0))).toBe(3_600);
  expect(attempts).toEqual([
    { from: start, to: start + 2_500, rows: 300, isEnded: false },
    { from: start + 3_600_000, to: start + 3_602_000, rows: 300, isEnded: true },
  ]);
  // Excludes the hour between the attempts.
  expect(points.length).toBe(6);
});

it("counts what a heartbeat saw in the interval before it", () => {
  const heartbeat = (at: number, ms: number): JournalEntry => ({
    t: "heartbeat",
    at: start + at,
    ms,
    seen: [3, 2, 1],
    waits: [10, 20, 30],
  });
  const entries = [
    { t: "start", at: start } as const,
    heartbeat(1_400, 1_000),
    heartbeat(1_900, 1_000),
    heartbeat(3_100, 9_000),
  ];
  const points = readTimeline([...entries, { t: "totals", at: start + 3_500, totals: totalsOf(0) }]).points;
  const none = { rows: 0, calls: 0, retried: 0, throttled: 0, waits: { pace: 0, throttled: 0, retry: 0 } };
  const one = { ...none, calls: 3, retried: 2, throttled: 1, waits: { pace: 10, throttled: 20, retry: 30 } };
  expect(points).toEqual([
    { ...one, at: start },
    { ...one, at: start + 1_000 },
    { ...one, at: start + 2_000 },
    { ...none, at: start + 3_000 },
  ]);
  const twice = readTimeline([...entries, heartbeat(1_950, 1_000)]).points[1];
  expect(twice).toMatchObject({ calls: 6, retried: 4, throttled: 2, waits: { pace: 20, throttled: 40, retry: 60 } });
});

it("orders intervals by time, also those that begin before the attempt that saw them", () => {
  const heartbeat = (at: number): JournalEntry => ({
    t: "heartbeat",
    at,
    ms: 1_000,
    seen: [1, 0, 0],
    waits: [0, 0, 0],
  });
  const later = start + 3_600_000;
  const { points } = readTimeline([
    { t: "start", at: start },
    heartbeat(start + 100),
    { t: "start", at: later },
    heartbeat(later + 100),
  ]);
  expect(points.map(({ at, calls }) => [at - start, calls])).toEqual([
    [-1_000, 1],
    [0, 0],
    [3_599_000, 1],
    [3_600_000, 0],
  ]);
});

it("includes the interval in which it ends", () => {
  const ended: JournalEntry[] = [
    { t: "start", at: start },
    { t: "unanswered", n: 0, sure: true, calls: { sent: 1, retried: 0, throttled: 0 } },
    { t: "send", n: 0, items: 1, extent: "", at: start + 2_000 },
  ];
  expect(readTimeline(ended)).toMatchObject({
    intervalMs: 1_000,
    points: [0, 1_000, 2_000].map((at) => ({ at: start + at, rows: 0, calls: 0 })),
    attempts: [{ from: start, to: start + 2_000, rows: 0, isEnded: false }],
  });
});

it("includes intervals without progress", () => {
  const hung = [{ t: "start", at: start } as const, doneAt(10_000, 0, 100)];
  expect(readTimeline(hung).points.map(({ rows }) => rows)).toEqual([...Array<number>(10).fill(0), 100]);
});

it("marks values that older versions did not record as unknown, and counts calls by their responses", () => {
  const { points, hasHeartbeats } = readTimeline(resumed.filter(({ t }) => t !== "heartbeat"));
  expect(hasHeartbeats).toBe(false);
  expect(points.reduce((sum, { calls }) => sum + calls, 0)).toBe(5);
  expect(points.every(({ retried, throttled, waits }) => retried === null && throttled === null && !waits)).toBe(true);
});

it("limits the number of intervals for any duration and number of attempts", () => {
  for (const hours of [0.01, 1, 55, 2_000]) {
    for (const attempts of [1, 7]) {
      const lengthMs = (hours * 3_600_000) / attempts;
      const entries = Array.from({ length: attempts }, (_, at): JournalEntry[] => {
        const from = at * lengthMs * 3;
        return [{ t: "start", at: start + from }, doneAt(from + lengthMs, at, (at + 1) * 100)];
      }).flat();
      expect(readTimeline(entries).points.length).toBeLessThanOrEqual(maxIntervals + attempts * 2);
    }
  }
});

it("is empty for a run that never started", () => {
  expect(readTimeline([])).toMatchObject({ points: [], attempts: [], hasHeartbeats: false });
});

it("records at most one line per second, and fewer for long runs", () => {
  const lines: JournalEntry[] = [];
  let nowMs = start;
  const heartbeat = new Heartbeat({ append: (entry) => void lines.push(entry) }, () => nowMs);
  for (const end = start + 55 * 3_600_000; nowMs < end; nowMs += 2_000) heartbeat.sent();
  heartbeat.waited("throttled", 3_000);
  heartbeat.sent(true);
  heartbeat.flush();
  heartbeat.flush();
  expect(lines.length).toBeLessThan(2_000);
  const seen = lines.flatMap((line) => (line.t === "heartbeat" ? [line.seen] : []));
  expect(seen.reduce((sum, [sent]) => sum + sent, 0)).toBe((55 * 3_600) / 2 + 1);
  expect(seen.at(-1)?.slice(1)).toEqual([1, 1]);
});
