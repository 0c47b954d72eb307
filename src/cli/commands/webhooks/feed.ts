import type { WebhookAttempt, WebhookDelivery } from "../../../contract/webhooks/webhooks.ts";
import type { Service } from "../../../service/service.ts";
import type { CallOptions } from "../../../service/transport.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { WebhookEvent } from "../../../contract/index.ts";
import type { ForwardOutcome, ForwardWebhook } from "../../../service/webhook-forwarding.ts";

/** A new delivery, or the outcome of an attempt to deliver it. */
export type FeedEvent =
  | { readonly event: "delivery"; readonly delivery: WebhookDelivery }
  | { readonly event: "attempt"; readonly attempt: WebhookAttempt; readonly delivery: WebhookDelivery };

type Attempt = WebhookAttempt & { readonly delivery: WebhookDelivery };

/** The number of records read per request. */
const pageSize = 100;

/** Reads new deliveries and attempts from the delivery log of the service. */
export class WebhookFeed {
  readonly #service: Service["webhookDeliveries"];
  readonly #signal: AbortSignal;
  /** Calls are not retried, because the feed is polled again soon. */
  readonly #once: CallOptions;
  #nextDelivery = 0;
  #nextAttempt = 0;
  /** Attempts in progress when they were read; each is reported once it has ended. */
  readonly #inProgress = new Set<number>();
  /** The creation times of deliveries that have not been attempted. */
  readonly #unattempted = new Map<number, number>();

  constructor({ webhookDeliveries }: Pick<Service, "webhookDeliveries">, signal: AbortSignal) {
    this.#service = webhookDeliveries;
    this.#signal = signal;
    this.#once = { signal, maxAttempts: 1 };
  }

  /** Skips existing records, or only those created before a time in milliseconds. */
  async start(sinceMs: number | undefined): Promise<void> {
    const isOld = (time: string) => sinceMs === undefined || Date.parse(time) < sinceMs;
    const options = { signal: this.#signal };
    const count = sinceMs === undefined ? 1 : undefined;
    const page = { count: count ?? 1_000 };
    const { deliveries } = await this.#service.list(page, options);
    this.#nextDelivery = firstNew(deliveries, ({ created_at }) => isOld(created_at));
    const { attempts } = await this.#service.attempts(page, options);
    this.#nextAttempt = firstNew(attempts, ({ started_at }) => isOld(started_at));
    for (const { id, duration_ms, problem } of attempts) {
      if (id < this.#nextAttempt && duration_ms === null && problem === null) this.#inProgress.add(id);
    }
  }

  /** The new events, in the order of the log. */
  async next(): Promise<FeedEvent[]> {
    return [...(await this.#readDeliveries()), ...(await this.#readAttempts())];
  }

  /** The creation time of the oldest delivery that has not been attempted, if any. */
  oldestUnattemptedMs(): number | undefined {
    return this.#unattempted.size === 0 ? undefined : Math.min(...this.#unattempted.values());
  }

  async #readDeliveries(): Promise<FeedEvent[]> {
    const events: FeedEvent[] = [];
    for (;;) {
      const page = { since_id: this.#nextDelivery, count: pageSize };
      const { deliveries } = await this.#service.list(page, this.#once);
      for (const delivery of deliveries) {
        events.push({ event: "delivery", delivery });
        if (delivery.state === "queued" && delivery.attempts === 0) {
          this.#unattempted.set(delivery.id, Date.parse(delivery.created_at));
        }
      }
      this.#nextDelivery = (deliveries.at(-1)?.id ?? this.#nextDelivery - 1) + 1;
      if (deliveries.length < pageSize) return events;
    }
  }

  async #readAttempts(): Promise<FeedEvent[]> {
    const events: FeedEvent[] = [];
    for (let sinceId = Math.min(this.#nextAttempt, ...this.#inProgress); ;) {
      const page = { since_id: sinceId, count: pageSize };
      const { attempts } = await this.#service.attempts(page, this.#once);
      for (const found of attempts.filter((one) => this.#hasNewlyEnded(one))) {
        const { delivery, ...attempt } = found;
        events.push({ event: "attempt", attempt, delivery });
      }
      sinceId = (attempts.at(-1)?.id ?? sinceId - 1) + 1;
      this.#nextAttempt = Math.max(this.#nextAttempt, sinceId);
      if (attempts.length < pageSize) return events;
    }
  }

  #hasNewlyEnded({ id, delivery_id, duration_ms, problem }: Attempt): boolean {
    this.#unattempted.delete(delivery_id);
    const wasInProgress = this.#inProgress.has(id);
    if (id < this.#nextAttempt && !wasInProgress) return false;
    // An attempt whose worker was lost has a problem but no duration.
    const hasEnded = duration_ms !== null || problem !== null;
    if (hasEnded) this.#inProgress.delete(id);
    else this.#inProgress.add(id);
    return hasEnded;
  }
}

/** The first new ID in a list ordered from newest to oldest. */
function firstNew<T extends { readonly id: number }>(listed: readonly T[], isOld: (one: T) => boolean): number {
  const newestOld = listed.find(isOld);
  return newestOld === undefined ? (listed.at(-1)?.id ?? 0) : newestOld.id + 1;
}

/** A delivery that was forwarded, or why it was not. */
export interface Forwarded extends Partial<Omit<ForwardOutcome, "durationMs">> {
  readonly event: "forward";
  readonly duration_ms?: number;
  readonly delivery: WebhookDelivery;
  /** Undefined if the delivery could not be read. */
  readonly body?: string;
}

/** Forwards new deliveries, signed with the secrets of their webhooks. */
export class Forwarder {
  readonly #service: Service;
  readonly #post: ForwardWebhook;
  readonly #stop: AbortSignal;
  /** By URL and event. */
  readonly #secrets = new Map<string, Promise<string>>();

  constructor(service: Service, post: ForwardWebhook, stop: AbortSignal) {
    this.#service = service;
    this.#post = post;
    this.#stop = stop;
  }

  async forward(delivery: WebhookDelivery): Promise<Forwarded> {
    const outcome: Omit<Forwarded, "event" | "delivery"> = await this.#send(delivery).catch(describeRefusal);
    const isInterrupted = this.#stop.aborted && outcome.status === undefined;
    return { event: "forward", delivery, ...outcome, ...(isInterrupted && { problem: "interrupted" }) };
  }

  async #send({ id, event_id, event_name }: WebhookDelivery): Promise<Omit<Forwarded, "event" | "delivery">> {
    const { delivery } = await this.#service.webhookDeliveries.get({ delivery_id: id }, { signal: this.#stop });
    const { body, url } = delivery;
    if (url === null) return { body, problem: "the webhook was deleted" };
    const secret = await this.#findSecret(url, event_name as WebhookEvent).catch(describeRefusal);
    if (typeof secret !== "string") return { body, ...secret };
    const { durationMs, ...outcome } = await this.#post({ eventId: event_id, body, secret }, this.#stop);
    return { body, ...outcome, duration_ms: durationMs };
  }

  /** Creating an existing webhook again changes nothing and returns its secret. */
  #findSecret(url: string, event_name: WebhookEvent): Promise<string> {
    const key = `${event_name} ${url}`;
    const found =
      this.#secrets.get(key) ??
      this.#service.webhooks.create({ url, event_name }, { signal: this.#stop }).then(({ webhook }) => webhook.secret);
    this.#secrets.set(key, found);
    found.catch(() => this.#secrets.delete(key));
    return found;
  }
}

/** Returns why the service refused a call, so that other deliveries are still forwarded. */
function describeRefusal(error: unknown): { readonly problem: string } {
  if (!(error instanceof ServiceError)) throw error;
  return { problem: error.message };
}
