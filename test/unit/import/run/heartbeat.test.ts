import { expect, test } from "vitest";
import { Heartbeat } from "../../../../src/import/run/heartbeat.ts";
import type { JournalEntry } from "../../../../src/import/run/journal.ts";

function openHeartbeat() {
  const time = { ms: 10_000 };
  const lines: JournalEntry[] = [];
  const heartbeat = new Heartbeat({ append: (entry) => void lines.push(entry) }, () => time.ms);
  return { time, lines, heartbeat };
}

test("records requests, repeats, and waits by reason, once a second", () => {
  const { time, lines, heartbeat } = openHeartbeat();
  heartbeat.flush();
  heartbeat.sent();
  heartbeat.sent(true);
  heartbeat.waited("pace", 5);
  heartbeat.waited("pace", 6);
  time.ms += 999;
  heartbeat.waited("throttled", 70);
  time.ms += 1;
  heartbeat.waited("retry", 800);
  heartbeat.waited("retry", 8);
  heartbeat.flush();
  heartbeat.flush();
  expect(lines).toEqual([
    { t: "heartbeat", at: 11_000, ms: 1_000, seen: [2, 1, 1], waits: [11, 70, 0] },
    { t: "heartbeat", at: 11_000, ms: 0, seen: [0, 0, 0], waits: [0, 0, 808] },
  ]);
});

test("an interval without requests is measured, but not recorded", () => {
  const { time, lines, heartbeat } = openHeartbeat();
  time.ms += 5_000;
  heartbeat.sent();
  expect(lines).toEqual([]);
  time.ms += 1_000;
  heartbeat.sent();
  expect(lines).toEqual([{ t: "heartbeat", at: 16_000, ms: 1_000, seen: [1, 0, 0], waits: [0, 0, 0] }]);
});

test("is recorded less often in a long run", () => {
  const { time, lines, heartbeat } = openHeartbeat();
  time.ms += 400_000;
  heartbeat.sent();
  time.ms += 1_999;
  heartbeat.sent();
  expect(lines).toEqual([]);
  time.ms += 13;
  heartbeat.sent();
  expect(lines).toMatchObject([{ ms: 2_012, seen: [2, 0, 0] }]);
});
