import { usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { createPaint, type Paint } from "../../../terminal/colors.ts";
import { toJson } from "../../../terminal/render.ts";
import { indentJson } from "../api/response.ts";
import { type Forwarded, Forwarder, type FeedEvent, WebhookFeed } from "./feed.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { readScreen } from "../../program/output/screen.ts";
import { listenForStop } from "../../program/stop-signals.ts";
import { sanitizeText } from "../../../terminal/safe-text.ts";
import { describeTarget, formatMs } from "./delivery-format.ts";

/** Assumed: polling every second is fast enough for a person, and its two calls stay within the rate limit. */
const pollIntervalMs = 1_000;

/** A delivery that is not attempted within this time suggests that no worker is running. */
const workerTimeoutMs = 10_000;

/** How many deliveries are forwarded at the same time. */
const maxForwards = 4;

interface ListenFlags {
  /** The age of the first deliveries, in milliseconds. */
  readonly since?: number | undefined;
  /** Where to send new deliveries, if anywhere. */
  readonly "forward-to"?: string | undefined;
  readonly "print-body"?: boolean | undefined;
}

/**
 * Shows deliveries and attempts by polling the delivery log, which works for local and remote services.
 * Assumed: a signal is the normal way to stop, so the exit status is then 0, as for a server.
 */
export async function listenToWebhooks(
  context: Context,
  { since: sinceMs, "forward-to": forwardTo, "print-body": printsBody = false }: ListenFlags,
): Promise<void> {
  const { io, messages, globals } = context;
  if (globals.format === "csv") {
    throw usageError("--format csv is not supported", "Use --format ndjson.");
  }
  const paint = await createPaint(readScreen(io).isColored);
  const write: WriteEvent = isForScripts(globals.format)
    ? (event: FeedEvent | Forwarded) => void io.stdout.write(toJson(io.redactor?.data(event) ?? event))
    : createLineWriter(paint, (line) => void io.stdout.write(`${line}\n`));
  const send =
    forwardTo === undefined
      ? undefined
      : (await io.loadApp()).openForwarder({ url: forwardTo, clock: io.clock, version: io.version });
  const signals = listenForStop(io, {});
  try {
    await context.withService(async (service) => {
      const feed = new WebhookFeed(service, signals.stop);
      await feed.start(sinceMs === undefined ? undefined : io.clock() - sinceMs);
      const { webhooks } = await service.webhooks.list({}, { signal: signals.stop });
      messages.warn(
        webhooks.length === 0
          ? "No webhooks found. To create one, run `starpost webhooks create <url>`."
          : `Listening to ${webhooks.map(({ url, event_name }) => `${event_name} → ${url}`).join(", ")}. Press Ctrl-C to stop.`,
      );
      messages.flush();
      const forwarder = send ? new Forwarder(service, send, signals.stop) : undefined;
      const printBody = (body: string | undefined) => {
        if (!printsBody || isForScripts(globals.format) || body === undefined) return;
        io.stdout.write(`${indentJson(io.redactor ? JSON.stringify(io.redactor.data(JSON.parse(body))) : body)}\n`);
      };
      // A receiver that does not respond must not delay the log.
      const forwards = new Set<Promise<void>>();
      const handle = async ({ event, delivery }: FeedEvent) => {
        if (event !== "delivery") return;
        if (!forwarder) {
          if (printsBody) printBody((await service.webhookDeliveries.get({ delivery_id: delivery.id })).delivery.body);
          return;
        }
        if (forwards.size >= maxForwards) await Promise.race(forwards);
        const forward: Promise<void> = forwarder
          .forward(delivery)
          .then((forwarded) => {
            write(forwarded, false);
            printBody(forwarded.body);
          })
          .finally(() => forwards.delete(forward));
        forwards.add(forward);
      };
      await follow(feed, context, signals.stop, write, handle);
      await Promise.all(forwards);
    });
  } catch (error) {
    if (!signals.stop.aborted) throw error;
  } finally {
    signals.release();
  }
}

/** @param handle called for each event after it was written */
async function follow(
  feed: WebhookFeed,
  { io, messages }: Context,
  stop: AbortSignal,
  write: WriteEvent,
  handle: (event: FeedEvent) => Promise<void>,
): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  let isDisconnected = false;
  let isWarned = false;
  // Stop when the reader closes the pipe, as `| head` does.
  while (!stop.aborted && !io.stdout.destroyed) {
    try {
      const events = await feed.next();
      const newest = new Map(events.map((event) => [event.delivery.id, event]));
      for (const event of events) {
        write(event, newest.get(event.delivery.id) === event);
        await handle(event);
      }
      if (isDisconnected) messages.warn("Reconnected to the service.");
      isDisconnected = false;
      const oldestMs = feed.oldestUnattemptedMs();
      if (!isWarned && oldestMs !== undefined && io.clock() - oldestMs > workerTimeoutMs) {
        isWarned = true;
        messages.warn(
          "Deliveries are queued, but no worker is sending them. To send them, run `starpost serve` or `starpost mail run` on the machine of the service.",
        );
        messages.flush();
      }
    } catch (error) {
      if (stop.aborted || !(error instanceof ServiceError) || !error.temporary) throw error;
      if (!isDisconnected) messages.warn(`${error.message}; retrying.`);
      isDisconnected = true;
    }
    messages.flush();
    await wait(pollIntervalMs, undefined, { signal: stop }).catch(() => {});
  }
}

/** @param isLast whether it is the newest event of its delivery; only then does the delivery's state belong to it */
type WriteEvent = (event: FeedEvent | Forwarded, isLast: boolean) => void;

/** Writes one line per event, starting with its time in UTC. */
function createLineWriter(paint: Paint, write: (line: string) => void): WriteEvent {
  return (event, isLast) => {
    const time = event.event === "attempt" ? event.attempt.started_at : event.delivery.created_at;
    write(`${paint.dim(formatTimeOfDay(time))}  ${describeEvent(event, isLast, paint)}`);
  };
}

function describeEvent(event: FeedEvent | Forwarded, isLast: boolean, paint: Paint): string {
  const { id, event_name } = event.delivery;
  const subject = `#${id} ${event_name} → ${sanitizeText(describeTarget(event.delivery))}`;
  if (event.event === "delivery") return `${paint.bold("new")}        ${subject}`;
  if (event.event === "forward") {
    const outcome = event.status === undefined ? sanitizeText(event.problem ?? "failed") : String(event.status);
    const isDone = event.problem === undefined && String(event.status).startsWith("2");
    const duration = event.duration_ms === undefined ? "" : `, ${formatMs(event.duration_ms)}`;
    return `${(isDone ? paint.green : paint.red)("forwarded")}  #${id} ${event_name}  ${outcome}${duration}`;
  }
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
