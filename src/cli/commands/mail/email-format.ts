import type { EmailRecord } from "../../../contract/emails/emails.ts";
import { countOf } from "../../../terminal/plural.ts";
import { dayMs, hourMs, minuteMs } from "../../../contract/time.ts";

/** How long it is to a time: `now`, `in 12 min`, `in 5 h`, `in 3 days`. */
export function wordWait(untilMs: number, nowMs: number): string {
  const ms = untilMs - nowMs;
  if (ms <= 0) return "now";
  if (ms < hourMs) return `in ${Math.ceil(ms / minuteMs)} min`;
  if (ms < dayMs) return `in ${Math.round(ms / hourMs)} h`;
  return `in ${countOf(Math.round(ms / dayMs), "day")}`;
}

/** When a mail that waits is due, the day (UTC) and how long it is until then; or what is being done with it. */
export function wordDue({ state, due_at }: Pick<EmailRecord, "state" | "due_at">, nowMs: number): string {
  if (state === "leased") return "next";
  if (state === "sending") return "being sent";
  const wait = wordWait(Date.parse(due_at), nowMs);
  return wait === "now" ? wait : `${due_at.slice(0, 10)}, ${wait}`;
}

/** A time of the service for a screen: `2026-03-15 12:00`, UTC. */
export function wordTime(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

/** When a mail was sent, or the day on which it was due where it was not. */
export function wordSent({ sent_at, due_at }: Pick<EmailRecord, "sent_at" | "due_at">): string {
  return sent_at === null ? `due ${due_at.slice(0, 10)}` : wordTime(sent_at);
}

/** What a mail is about, in a word or two. */
export function wordSubject({ order_id, product_id, is_test }: EmailRecord): string {
  if (is_test) return "a test";
  if (order_id === null) return "";
  return product_id === null ? order_id : `${order_id}, ${product_id}`;
}

/** A rule's name, or the words of whoever refused a mail, on one line. */
export function formatReason(reason: string | null): string {
  return (reason ?? "").replaceAll(/[_\s]+/g, " ").trim();
}
