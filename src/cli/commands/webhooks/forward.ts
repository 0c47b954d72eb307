import { ServiceError } from "../../../contract/errors.ts";
import type { WebhookDelivery } from "../../../contract/webhooks/deliveries.ts";
import type { WebhookEvent } from "../../../contract/index.ts";
import type { Service } from "../../../service/service.ts";
import type { ForwardOutcome, ForwardWebhook } from "../../../service/webhook-forwarding.ts";

/** A delivery that was forwarded, or why it was not. */
export interface Forwarded extends Partial<Omit<ForwardOutcome, "durationMs">> {
  readonly event: "forward";
  readonly duration_ms?: number;
  readonly delivery: WebhookDelivery;
  readonly body: string;
}

/** Forwards new deliveries, signed with the secrets of their webhooks. */
export class Forwarder {
  readonly #service: Service;
  readonly #send: ForwardWebhook;
  readonly #stop: AbortSignal;
  /** By URL and event. */
  readonly #secrets = new Map<string, Promise<string>>();

  constructor(service: Service, send: ForwardWebhook, stop: AbortSignal) {
    this.#service = service;
    this.#send = send;
    this.#stop = stop;
  }

  async forward(delivery: WebhookDelivery): Promise<Forwarded> {
    const options = { signal: this.#stop };
    const { delivery: stored } = await this.#service.webhookDeliveries.get({ delivery_id: delivery.id }, options);
    const { body, url } = stored;
    if (url === null) return { event: "forward", delivery, body, problem: "the webhook was deleted" };
    const secret = await this.#findSecret(url, delivery.event_name as WebhookEvent).catch(describeRefusal);
    if (typeof secret !== "string") return { event: "forward", delivery, body, ...secret };
    const request = { eventId: delivery.event_id, body, secret };
    const { durationMs: duration_ms, ...outcome } = await this.#send(request, this.#stop);
    return { event: "forward", delivery, body, ...outcome, duration_ms };
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

/** Returns why a secret cannot be read, so that other deliveries are still forwarded. */
function describeRefusal(error: unknown): { readonly problem: string } {
  if (!(error instanceof ServiceError) || error.kind !== "invalidParams") throw error;
  return { problem: error.message };
}
