import type { Paint } from "../../../terminal/colors.ts";
import { sanitizeText } from "../../../terminal/text-layout.ts";
import type { Heard } from "./feed.ts";
import { wordDuration } from "./webhook-format.ts";

/** @param isLast whether nothing newer of the same delivery is known: a delivery tells how it stands now, and not then */
export type WriteHeard = (heard: Heard, isLast: boolean) => void;

/** Writes a line for each thing that is heard, its time in UTC. */
export function createHeardLines(paint: Paint, write: (line: string) => void): WriteHeard {
  return (heard, isLast) => {
    const time = heard.event === "delivery" ? heard.delivery.created_at : heard.attempt.started_at;
    write(`${paint.dim(timeOfDay(time))}  ${wordHeard(heard, isLast, paint)}`);
  };
}

function wordHeard(heard: Heard, isLast: boolean, paint: Paint): string {
  const { id, event_name, url, webhook_id } = heard.delivery;
  const what = `#${id} ${event_name} → ${sanitizeText(url ?? `subscription ${webhook_id}, which has ended`)}`;
  if (heard.event === "delivery") return `${paint.bold("new")}        ${what}`;
  const { problem, status, duration_ms } = heard.attempt;
  const took = duration_ms === null ? "" : `, ${wordDuration(duration_ms)}`;
  if (problem === null) return `${paint.green("delivered")}  ${what}  ${status}${took}`;
  const { state, due_at } = isLast ? heard.delivery : { state: undefined, due_at: null };
  const next =
    state === "queued" && due_at !== null
      ? `; again at ${timeOfDay(due_at)}`
      : state === "failed"
        ? "; given up"
        : "";
  const mark = state === "failed" ? paint.red("failed   ") : paint.yellow("failed   ");
  return `${mark}  ${what}  ${sanitizeText(problem)}${took}${next}`;
}

function timeOfDay(time: string): string {
  return time.slice(11, 19);
}
