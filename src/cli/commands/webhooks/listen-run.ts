import { UserError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { createPaint } from "../../../terminal/colors.ts";
import { toJson } from "../../../terminal/render.ts";
import { withService } from "../../program/with-service.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { readScreen } from "../../program/output/screen.ts";
import { listenForStop } from "../../program/stop-signals.ts";
import { type Heard, WebhookFeed } from "./feed.ts";
import { createHeardLines, type WriteHeard } from "./received.ts";

/** Between two looks. Assumed: a second is live enough for a person, and two calls in it leave room in a service's limit. */
const lookEveryMs = 1_000;

/** What waits for longer than this, and was never sent, is waited for in vain. */
const unattendedAfterMs = 10_000;

/**
 * Shows deliveries and their attempts as the log of the service has them, so that it works wherever the service is.
 * Assumed: a signal is how it is ended, and its status is then 0, as that of a server.
 */
export async function listenToWebhooks(
  context: Context,
  { sinceMs }: { readonly sinceMs?: number | undefined },
): Promise<void> {
  const { io, messages, globals } = context;
  if (globals.format === "csv") {
    throw new UserError("usage", "what is heard cannot be had as CSV", "Give --format ndjson, or none.");
  }
  const paint = await createPaint(readScreen(io).isColored);
  const write: WriteHeard = isForScripts(globals.format)
    ? (heard: Heard) => void io.stdout.write(toJson(heard))
    : createHeardLines(paint, (line) => void io.stdout.write(`${line}\n`));
  const signals = listenForStop(io, () => {});
  try {
    await withService(context, async (service) => {
      const feed = new WebhookFeed(service, signals.stop);
      await feed.begin(sinceMs === undefined ? undefined : io.clock() - sinceMs);
      const { webhooks } = await service.webhooks.list({}, { signal: signals.stop });
      messages.warn(
        webhooks.length === 0
          ? "No address is subscribed, and nothing will be heard until one is: starpost webhooks create <url>"
          : `Listening to ${webhooks.map(({ url, event_name }) => `${event_name} → ${url}`).join(", ")}. Ctrl-C ends it.`,
      );
      messages.flush();
      await follow(feed, { context, stop: signals.stop, write });
    });
  } catch (error) {
    if (!signals.stop.aborted) throw error;
  } finally {
    signals.release();
  }
}

interface Following {
  readonly context: Context;
  readonly stop: AbortSignal;
  readonly write: WriteHeard;
}

async function follow(feed: WebhookFeed, { context, stop, write }: Following): Promise<void> {
  const { io, messages } = context;
  const { setTimeout: wait } = await import("node:timers/promises");
  let isLost = false;
  let isUnattended = false;
  // A reader that has gone, as `| head` does, hears nothing any more.
  while (!stop.aborted && !io.stdout.destroyed) {
    try {
      const news = await feed.next();
      const lasts = new Map(news.map((heard) => [heard.delivery.id, heard]));
      for (const heard of news) write(heard, lasts.get(heard.delivery.id) === heard);
      if (isLost) messages.warn("The service answers again.");
      isLost = false;
      const waits = feed.waitsSinceMs();
      if (!isUnattended && waits !== undefined && io.clock() - waits > unattendedAfterMs) {
        isUnattended = true;
        messages.warn(
          "Something waits, and nobody sends it: `starpost serve` or `starpost mail run` does, where the service runs.",
        );
        messages.flush();
      }
    } catch (error) {
      if (stop.aborted || !(error instanceof ServiceError) || !error.temporary) throw error;
      if (!isLost) messages.warn(`${error.message}; it is tried again until it answers.`);
      isLost = true;
    }
    messages.flush();
    await wait(lookEveryMs, undefined, { signal: stop }).catch(() => {});
  }
}
