import type { WebhookAttempt, WebhookDelivery } from "../../../contract/webhooks/deliveries.ts";
import type { Service } from "../../../service/service.ts";
import type { CallOptions } from "../../../service/transport.ts";

/** An event that is to be told, or what came of telling it. */
export type Heard =
  | { readonly event: "delivery"; readonly delivery: WebhookDelivery }
  | { readonly event: "attempt"; readonly attempt: WebhookAttempt; readonly delivery: WebhookDelivery };

type Attempt = WebhookAttempt & { readonly delivery: WebhookDelivery };

/** Of a page of the log. */
const pageSize = 100;

/** What the log of webhooks has that was not read yet. */
export class WebhookFeed {
  readonly #service: Service["webhookDeliveries"];
  readonly #signal: AbortSignal;
  /** A look that fails is followed by another soon enough, and whoever listens is told. */
  readonly #once: CallOptions;
  #nextDelivery = 0;
  #nextAttempt = 0;
  /** Attempts that were under way when they were read: each is told once it has ended. */
  readonly #underWay = new Set<number>();
  /** When those were created that were never sent yet. */
  readonly #neverSent = new Map<number, number>();

  constructor({ webhookDeliveries }: Pick<Service, "webhookDeliveries">, signal: AbortSignal) {
    this.#service = webhookDeliveries;
    this.#signal = signal;
    this.#once = { signal, maxAttempts: 1 };
  }

  /** Passes over what there is already; or over what is older than a time, milliseconds. */
  async begin(sinceMs: number | undefined): Promise<void> {
    const isOld = (time: string) => sinceMs === undefined || Date.parse(time) < sinceMs;
    const options = { signal: this.#signal };
    const count = sinceMs === undefined ? 1 : undefined;
    const page = { count: count ?? 1_000 };
    const { deliveries } = await this.#service.list(page, options);
    this.#nextDelivery = firstNew(deliveries, ({ created_at }) => isOld(created_at));
    const { attempts } = await this.#service.attempts(page, options);
    this.#nextAttempt = firstNew(attempts, ({ started_at }) => isOld(started_at));
    for (const { id, duration_ms, problem } of attempts) {
      if (id < this.#nextAttempt && duration_ms === null && problem === null) this.#underWay.add(id);
    }
  }

  /** What is new, in the order in which it came into the log. */
  async next(): Promise<Heard[]> {
    return [...(await this.#readDeliveries()), ...(await this.#readAttempts())];
  }

  /** Since when something waits that was never sent; nothing where nothing does. */
  waitsSinceMs(): number | undefined {
    return this.#neverSent.size === 0 ? undefined : Math.min(...this.#neverSent.values());
  }

  async #readDeliveries(): Promise<Heard[]> {
    const heard: Heard[] = [];
    for (;;) {
      const page = { since_id: this.#nextDelivery, count: pageSize };
      const { deliveries } = await this.#service.list(page, this.#once);
      for (const delivery of deliveries) {
        heard.push({ event: "delivery", delivery });
        if (delivery.state === "queued" && delivery.attempts === 0) {
          this.#neverSent.set(delivery.id, Date.parse(delivery.created_at));
        }
      }
      this.#nextDelivery = (deliveries.at(-1)?.id ?? this.#nextDelivery - 1) + 1;
      if (deliveries.length < pageSize) return heard;
    }
  }

  async #readAttempts(): Promise<Heard[]> {
    const heard: Heard[] = [];
    for (let sinceId = Math.min(this.#nextAttempt, ...this.#underWay); ;) {
      const page = { since_id: sinceId, count: pageSize };
      const { attempts } = await this.#service.attempts(page, this.#once);
      for (const attempt of attempts) if (this.#isNews(attempt)) heard.push(toHeard(attempt));
      sinceId = (attempts.at(-1)?.id ?? sinceId - 1) + 1;
      this.#nextAttempt = Math.max(this.#nextAttempt, sinceId);
      if (attempts.length < pageSize) return heard;
    }
  }

  #isNews({ id, delivery_id, duration_ms, problem }: Attempt): boolean {
    this.#neverSent.delete(delivery_id);
    const wasUnderWay = this.#underWay.has(id);
    if (id < this.#nextAttempt && !wasUnderWay) return false;
    // One whose worker was lost has a problem, and never a duration.
    const hasEnded = duration_ms !== null || problem !== null;
    if (hasEnded) this.#underWay.delete(id);
    else this.#underWay.add(id);
    return hasEnded;
  }
}

function toHeard({ delivery, ...attempt }: Attempt): Heard {
  return { event: "attempt", attempt, delivery };
}

/** The id at which what is new begins, of a list that has the newest first. */
function firstNew<T extends { readonly id: number }>(
  listed: readonly T[],
  isOld: (one: T) => boolean,
): number {
  const newestOld = listed.find(isOld);
  return newestOld === undefined ? (listed.at(-1)?.id ?? 0) : newestOld.id + 1;
}
