import type { Paint } from "../../../terminal/colors.ts";
import { sanitizeText } from "../../../terminal/text-layout.ts";
import { describeTarget, formatMs } from "./delivery-format.ts";
import type { FeedEvent } from "./feed.ts";

/** @param isLast whether it is the newest event of its delivery; only then does the delivery's state belong to it */
export type WriteEvent = (event: FeedEvent, isLast: boolean) => void;

/** Writes one line per event, starting with its time in UTC. */
export function createLineWriter(paint: Paint, write: (line: string) => void): WriteEvent {
  return (event, isLast) => {
    const time = event.event === "delivery" ? event.delivery.created_at : event.attempt.started_at;
    write(`${paint.dim(formatTimeOfDay(time))}  ${describeEvent(event, isLast, paint)}`);
  };
}

function describeEvent(event: FeedEvent, isLast: boolean, paint: Paint): string {
  const { id, event_name } = event.delivery;
  const subject = `#${id} ${event_name} → ${sanitizeText(describeTarget(event.delivery))}`;
  if (event.event === "delivery") return `${paint.bold("new")}        ${subject}`;
  const { problem, status, duration_ms } = event.attempt;
  const duration = duration_ms === null ? "" : `, ${formatMs(duration_ms)}`;
  if (problem === null) return `${paint.green("delivered")}  ${subject}  ${status}${duration}`;
  const { state, due_at } = isLast ? event.delivery : { state: undefined, due_at: null };
  const next =
    state === "queued" && due_at !== null
      ? `; retry at ${formatTimeOfDay(due_at)}`
      : state === "failed"
        ? "; no more retries"
        : "";
  const label = state === "failed" ? paint.red("failed   ") : paint.yellow("failed   ");
  return `${label}  ${subject}  ${sanitizeText(problem)}${duration}${next}`;
}

function formatTimeOfDay(timestamp: string): string {
  return timestamp.slice(11, 19);
}
