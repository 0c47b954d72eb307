import { setMaxListeners } from "node:events";
import { webhookSlots } from "../../contract/index.ts";
import { type DeliveryResult, deliveryResults } from "../../engine/webhooks/outcomes.ts";
import type { BegunDelivery, WebhookQueue } from "../../engine/webhooks/webhook-queue.ts";
import { type Job, type Round, sleepUntilAborted, type WorkerContext, withLeaseRenewal } from "../job.ts";
import type { WebhookPost } from "./webhook-request.ts";

export interface WebhookJobSettings extends WorkerContext {
  readonly queue: WebhookQueue;
  readonly post: WebhookPost;
  readonly leaseMs: number;
  /** How long requests in flight may continue after a stop, in milliseconds (default: 5,000). */
  readonly graceMs?: number | undefined;
}

/** Interval between checks for new deliveries while requests are in flight. */
const pollIntervalMs = 500;

const defaultGraceMs = 5_000;

/** Delivers events to webhooks: to several webhooks at once, but to each webhook one delivery at a time. */
export function createWebhookJob(settings: WebhookJobSettings): Job<DeliveryResult> {
  return {
    name: "webhooks",
    runDue: (stop) => {
      const renew = () => settings.queue.renew();
      return withLeaseRenewal(() => new DeliveryRound(settings, stop).run(), { ...settings, renew });
    },
    nextDueAtMs: () => settings.queue.nextDueAt(),
  };
}

class DeliveryRound {
  readonly #settings: WebhookJobSettings;
  readonly #stop: AbortSignal;
  readonly #abortRequests = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #counts: Record<DeliveryResult, number>;
  #failure: { readonly error: unknown } | undefined;

  constructor(settings: WebhookJobSettings, stop: AbortSignal) {
    this.#settings = settings;
    this.#stop = stop;
    // Every request adds a listener; by default, Node.js warns about a leak above ten.
    setMaxListeners(0, this.#abortRequests.signal);
    this.#counts = Object.fromEntries(deliveryResults.map((result) => [result, 0])) as Record<DeliveryResult, number>;
  }

  async run(): Promise<Round<DeliveryResult>> {
    const { sleep, graceMs = defaultGraceMs } = this.#settings;
    const ended = new AbortController();
    const onStop = () => {
      void sleepUntilAborted(sleep, graceMs, ended.signal).then(() => this.#abortRequests.abort());
    };
    this.#stop.addEventListener("abort", onStop, { once: true });
    try {
      for (;;) {
        await this.#beginDue().catch((error: unknown) => (this.#failure ??= { error }));
        if (this.#inFlight.size === 0) break;
        await this.#waitForChange();
      }
    } finally {
      this.#stop.removeEventListener("abort", onStop);
      ended.abort();
    }
    if (this.#failure) throw this.#failure.error;
    return { counts: this.#counts };
  }

  /** Begins as many deliveries as possible, unless the worker is stopping or the database failed. */
  async #beginDue(): Promise<void> {
    const { queue } = this.#settings;
    const limit = webhookSlots.perWorker - this.#inFlight.size;
    if (limit === 0 || this.#stop.aborted || this.#failure) return;
    for (const begun of await queue.begin(limit)) {
      const delivering: Promise<void> = this.#deliver(begun)
        .catch((error: unknown) => (this.#failure ??= { error }))
        .then(() => void this.#inFlight.delete(delivering));
      this.#inFlight.add(delivering);
    }
  }

  async #deliver(begun: BegunDelivery): Promise<void> {
    const { queue, post, log, onResult } = this.#settings;
    const outcome = await post(begun, this.#abortRequests.signal);
    const result = await queue.end(begun, outcome);
    this.#counts[result] += 1;
    onResult?.("webhooks", result, 1);
    const fields = {
      account: begun.appKey,
      delivery: begun.id,
      webhook: begun.webhookId,
      event_id: begun.eventId,
      attempt: begun.attempt,
      duration_ms: Math.round(outcome.durationMs),
      ...("status" in outcome && { status: outcome.status }),
      ...("problem" in outcome && { problem: outcome.problem }),
      ...("detail" in outcome && { detail: outcome.detail }),
    };
    if (result === "delivered") log.info(fields, "webhook delivered");
    else log.warn(fields, result === "deferred" ? "webhook delivery failed; will retry" : "webhook given up");
  }

  /** Waits until a request ends, or it is time to check for new deliveries. */
  async #waitForChange(): Promise<void> {
    const ended = new AbortController();
    await Promise.race([...this.#inFlight, sleepUntilAborted(this.#settings.sleep, pollIntervalMs, ended.signal)]);
    ended.abort();
  }
}
