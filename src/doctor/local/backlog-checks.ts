import type { DatabaseFacts } from "../../storage/inspect-database.ts";
import { formatDuration } from "../../terminal/plural.ts";
import { type Check, ok, warning } from "../check.ts";

/** A worker sends what is due within seconds; after this time, in milliseconds, it is probably not running. */
const maxDelayMs = 15 * 60 * 1_000;

/** Checks how long the oldest email and the oldest webhook have been due. Omitted if the tables are of an older version. */
export function checkBacklog({ backlog }: Pick<DatabaseFacts, "backlog">, nowMs: number): Check[] {
  if (!backlog) return [];
  return [
    checkDelay("unsent-emails", "email", backlog.emailDueAtMs, nowMs),
    checkDelay("webhooks", "webhook", backlog.webhookDueAtMs, nowMs),
  ];
}

function checkDelay(name: string, item: string, dueAtMs: number | null, nowMs: number): Check {
  if (dueAtMs === null || dueAtMs > nowMs) return ok(name, `no ${item} is due`);
  const message = `the oldest ${item} has been due for ${formatDuration(nowMs - dueAtMs)}`;
  if (nowMs - dueAtMs <= maxDelayMs) return ok(name, message);
  const fix = "Check that a server or `starpost mail run` is running, and its log.";
  return warning(name, message, fix);
}
