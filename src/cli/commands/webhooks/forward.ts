import { ServiceError } from "../../../contract/errors.ts";
import type { WebhookDelivery } from "../../../contract/webhooks/webhooks.ts";
import type { WebhookEvent } from "../../../contract/index.ts";
import type { Service } from "../../../service/service.ts";
import type { ForwardOutcome, ForwardWebhook } from "../../../service/webhook-forwarding.ts";

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
