import { expect, it } from "vitest";
import { wordDue, formatReason, wordSent, wordWait } from "../../src/cli/commands/mail/email-format.ts";

const nowMs = Date.UTC(2026, 2, 15, 12);
const minuteMs = 60_000;

it.each([
  [-1, "now"],
  [0, "now"],
  [1, "in 1 min"],
  [59 * minuteMs, "in 59 min"],
  [60 * minuteMs, "in 1 h"],
  [23 * 60 * minuteMs, "in 23 h"],
  [24 * 60 * minuteMs, "in 1 day"],
  [13.5 * 24 * 60 * minuteMs, "in 14 days"],
])("says %d ms as %s", (ms, words) => {
  expect(wordWait(nowMs + ms, nowMs)).toBe(words);
});

it("says when a mail is due, or what is being done with it", () => {
  const due = (state: Parameters<typeof wordDue>[0]["state"], due_at: string) =>
    wordDue({ state, due_at }, nowMs);
  expect(due("queued", "2026-03-18T12:00:00.000Z")).toBe("2026-03-18, in 3 days");
  expect(due("queued", "2026-03-14T12:00:00.000Z")).toBe("now");
  expect(due("leased", "2026-03-14T12:00:00.000Z")).toBe("next");
  expect(due("sending", "2026-03-14T12:00:00.000Z")).toBe("being sent");
});

it("says when a mail was sent, or was due, and why in words", () => {
  const due_at = "2026-03-14T00:00:00.000Z";
  expect(wordSent({ due_at, sent_at: "2026-03-15T12:34:56.789Z" })).toBe("2026-03-15 12:34");
  expect(wordSent({ due_at, sent_at: null })).toBe("due 2026-03-14");
  expect(formatReason("too_many_to_person")).toBe("too many to person");
  expect(formatReason("550 5.1.1\r\n  no such user")).toBe("550 5.1.1 no such user");
  expect(formatReason(null)).toBe("");
});
