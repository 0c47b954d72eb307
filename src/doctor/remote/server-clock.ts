import type { IncomingHttpHeaders } from "node:http";
import { type Check, skipped } from "../check.ts";
import { judgeClock } from "./clock-check.ts";

/** A `Date` has whole seconds: the time may be any in its second. Source: RFC 9110, section 6.6.1. */
const secondMs = 1_000;

/** Compares the clocks by the `Date` of an answer, which was given at some time between request and answer. */
export function judgeAnswerClock(
  headers: IncomingHttpHeaders,
  { sentAtMs, answeredAtMs }: { readonly sentAtMs: number; readonly answeredAtMs: number },
): Check {
  const serviceMs = Date.parse(headers.date ?? "");
  if (Number.isNaN(serviceMs)) return skipped("clock", "the service does not tell its time");
  const age = Number(headers.age ?? 0);
  // What a cache kept says when it was made.
  const nowThereMs = serviceMs + secondMs / 2 + (age > 0 ? age * secondMs : 0);
  const doubtMs = secondMs / 2 + (answeredAtMs - sentAtMs) / 2;
  return judgeClock(nowThereMs - (sentAtMs + answeredAtMs) / 2, doubtMs);
}
