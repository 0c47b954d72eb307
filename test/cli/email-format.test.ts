import { expect, it } from "vitest";
import { formatReason, formatSentOrDue, formatWait } from "../../src/cli/commands/mail/email-format.ts";

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
])("formats %d ms as %s", (ms, text) => {
  expect(formatWait(nowMs + ms, nowMs)).toBe(text);
});

it("formats when an email was sent or is due", () => {
  const due_at = "2026-03-14T00:00:00.000Z";
  expect(formatSentOrDue({ due_at, sent_at: "2026-03-15T12:34:56.789Z" })).toBe("2026-03-15 12:34Z");
  expect(formatSentOrDue({ due_at, sent_at: null })).toBe("due 2026-03-14");
});

it("formats a reason on one line", () => {
  expect(formatReason("too_many_to_person")).toBe("too many to person");
  expect(formatReason("550 5.1.1\r\n  no such user")).toBe("550 5.1.1 no such user");
  expect(formatReason(null)).toBe("");
});
