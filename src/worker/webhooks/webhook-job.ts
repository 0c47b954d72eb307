import { setMaxListeners } from "node:events";
import { type DeliveryResult, deliveryResults } from "../../engine/webhooks/outcomes.ts";
import type { BegunDelivery, WebhookQueue } from "../../engine/webhooks/webhook-queue.ts";
import type { Job, Round } from "../job.ts";
import { withLeaseRenewal } from "../lease-keeper.ts";
import { rest, type WorkerContext } from "../worker-context.ts";
import type { WebhookPost } from "./webhook-request.ts";

export interface WebhookJobSettings extends WorkerContext {
  readonly work: WebhookQueue;
  readonly post: WebhookPost;
  readonly leaseMs: number;
  /** How long attempts that are under way may go on after a stop, milliseconds; 5 s where absent. */
  readonly graceMs?: number | undefined;
}

/** Attempts under way at once, each at another subscription: those that hang hold up others only together. */
const mostAtOnce = 32;

/** How often it looks for what has come in while attempts are under way. */
const lookEveryMs = 500;

const usualGraceMs = 5_000;

/** Delivers events to webhooks: several subscriptions at once, of each one delivery after the other. */
export function createWebhookJob(settings: WebhookJobSettings): Job<DeliveryResult> {
  return {
    name: "webhooks",
    runDue: (stop) =>
      withLeaseRenewal(() => new Deliveries(settings, stop).run(), {
        ...settings,
        renew: () => settings.work.renew(),
      }),
    nextDueAtMs: () => settings.work.nextDueAt(),
  };
}

/** One round. */
class Deliveries {
  readonly #settings: WebhookJobSettings;
  readonly #stop: AbortSignal;
  readonly #cutOff = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly #counts: Record<DeliveryResult, number>;
  #failure: { readonly error: unknown } | undefined;

  constructor(settings: WebhookJobSettings, stop: AbortSignal) {
    this.#settings = settings;
    this.#stop = stop;
    // Each attempt listens: Node warns of more than ten as of a leak.
    setMaxListeners(0, this.#cutOff.signal);
    this.#counts = Object.fromEntries(deliveryResults.map((fate) => [fate, 0])) as Record<
      DeliveryResult,
      number
    >;
  }

  async run(): Promise<Round<DeliveryResult>> {
    const { sleep, graceMs = usualGraceMs } = this.#settings;
    const ended = new AbortController();
    const onStop = () => {
      void rest(sleep, graceMs, ended.signal).then(() => this.#cutOff.abort());
    };
    this.#stop.addEventListener("abort", onStop, { once: true });
    try {
      for (;;) {
        await this.#beginDue().catch((error: unknown) => (this.#failure ??= { error }));
        if (this.#underWay.size === 0) break;
        await this.#waitForOne();
      }
    } finally {
      this.#stop.removeEventListener("abort", onStop);
      ended.abort();
    }
    if (this.#failure) throw this.#failure.error;
    return { counts: this.#counts };
  }

  /** Begins as many attempts as there is room for, unless it is to stop, or the database is lost. */
  async #beginDue(): Promise<void> {
    const { work, clock } = this.#settings;
    const room = mostAtOnce - this.#underWay.size;
    if (room === 0 || this.#stop.aborted || this.#failure) return;
    const dueAtMs = await work.nextDueAt();
    if (dueAtMs === undefined || dueAtMs > clock()) return;
    for (const begun of await work.begin(room)) {
      const delivering: Promise<void> = this.#deliver(begun)
        .catch((error: unknown) => (this.#failure ??= { error }))
        .then(() => void this.#underWay.delete(delivering));
      this.#underWay.add(delivering);
    }
  }

  async #deliver(begun: BegunDelivery): Promise<void> {
    const { work, post, log } = this.#settings;
    const outcome = await post(begun, this.#cutOff.signal);
    const fate = await work.end(begun, outcome);
    this.#counts[fate] += 1;
    const { durationMs, ...came } = outcome;
    const said = {
      delivery: begun.id,
      webhook: begun.webhookId,
      event_id: begun.eventId,
      attempt: begun.attempt,
      duration_ms: Math.round(durationMs),
      ...("status" in came && { status: came.status }),
      ...("problem" in came && { problem: came.problem }),
    };
    if (fate === "delivered") log.info(said, "webhook delivered");
    else
      log.warn(said, fate === "deferred" ? "webhook not delivered; tried again later" : "webhook given up");
  }

  /** Until an attempt has ended, or it is time to look again. */
  async #waitForOne(): Promise<void> {
    const ended = new AbortController();
    await Promise.race([...this.#underWay, rest(this.#settings.sleep, lookEveryMs, ended.signal)]);
    ended.abort();
  }
}
