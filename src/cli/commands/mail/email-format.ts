import type { EmailRecord } from "../../../contract/emails/emails.ts";
import { countOf } from "../../../terminal/plural.ts";
import { dayMs, hourMs, minuteMs } from "../../../contract/time.ts";

/** Formats the time until a timestamp: `now`, `in 12 min`, `in 5 h`, `in 3 days`. */
export function formatWait(untilMs: number, nowMs: number): string {
  const ms = untilMs - nowMs;
  if (ms <= 0) return "now";
  if (ms < hourMs) return `in ${Math.ceil(ms / minuteMs)} min`;
  if (ms < dayMs) return `in ${Math.round(ms / hourMs)} h`;
  return `in ${countOf(Math.round(ms / dayMs), "day")}`;
}

/** Formats a timestamp in UTC: `2026-03-15 12:00Z`. */
export function formatTime(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace("T", " ")}Z`;
}

/** The time at which an email was sent, or the date on which it is or was due. */
export function formatSentOrDue({ sent_at, due_at }: Pick<EmailRecord, "sent_at" | "due_at">): string {
  return sent_at === null ? `due ${due_at.slice(0, 10)}` : formatTime(sent_at);
}

export function describeRecord({ order_id, product_id, is_test }: EmailRecord): string {
  if (is_test) return "test";
  if (order_id === null) return "";
  return product_id === null ? order_id : `${order_id}, ${product_id}`;
}

/** Formats the name of a rule, or the response of a mail server, on one line. */
export function formatReason(reason: string | null): string {
  return (reason ?? "").replaceAll(/[_\s]+/g, " ").trim();
}
