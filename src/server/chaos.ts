import type { FastifyReply, FastifyRequest } from "fastify";
import { setTimeout as wait } from "node:timers/promises";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { type ChaosPlan, type FaultName, faultNames } from "../config/chaos-plan.ts";
import { coreRateLimit, type OperationName, ServiceError, tooManyRequestsMessage } from "../contract/index.ts";

/** Statistics of injected faults. */
export interface ChaosCounts {
  /** Calls to which faults apply. */
  readonly calls: number;
  /** Calls without an injected fault. */
  readonly spared: number;
  readonly faults: Readonly<Record<FaultName, number>>;
  readonly operations: Readonly<Record<string, number>>;
}

interface ReceivedCall {
  readonly operation: OperationName;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: Logger;
}

/**
 * Draws one random number per fault for each call, in a fixed order, so that the faults of the n-th call depend only on the
 * seed. `429`, `413`, `500`, `reset`, and `timeout` replace the work; `drop` happens after the work.
 */
export class Chaos {
  readonly #plan: ChaosPlan;
  readonly #clock: () => number;
  readonly #random: () => number;
  readonly #held = new Set<Socket>();
  readonly #counts = {
    calls: 0,
    spared: 0,
    faults: { "429": 0, "413": 0, "500": 0, reset: 0, timeout: 0, drop: 0 },
    operations: {} as Record<string, number>,
  };

  constructor(plan: ChaosPlan, clock: () => number) {
    this.#plan = plan;
    this.#clock = clock;
    this.#random = createRandom(plan.seed);
  }

  get counts(): ChaosCounts {
    return structuredClone(this.#counts);
  }

  /** Handles a call, or injects a fault. */
  async answer(received: ReceivedCall, work: () => Promise<unknown>): Promise<unknown> {
    if (!this.#applies(received)) return work();
    const { operations } = this.#counts;
    this.#counts.calls++;
    operations[received.operation] = (operations[received.operation] ?? 0) + 1;
    const fault = this.#draw();
    if (this.#plan.delayMs > 0) await wait(this.#plan.delayMs);
    if (fault === undefined) {
      this.#counts.spared++;
      return work();
    }
    this.#counts.faults[fault]++;
    received.log.info({ id: received.request.id, operation: received.operation, fault }, "chaos");
    return this.#inject(fault, received, work);
  }

  /** Closes the connections of calls that never get a response. */
  close(): void {
    for (const socket of this.#held) socket.destroy();
  }

  #applies({ operation, request }: ReceivedCall): boolean {
    const { only } = this.#plan;
    return only === undefined || only === operation || (only.startsWith("/") && request.url.startsWith(only));
  }

  #draw(): FaultName | undefined {
    const isDrawn = faultNames.map((name) => this.#random() < (this.#plan.rates[name] ?? 0));
    return faultNames[isDrawn.indexOf(true)];
  }

  async #inject(fault: FaultName, { request, reply }: ReceivedCall, work: () => Promise<unknown>): Promise<unknown> {
    if (fault === "429") throw this.#refuseAsTooMany(reply);
    if (fault === "413") throw new ServiceError("bodyTooLarge", "the body is larger than this server takes");
    if (fault === "500") throw new ServiceError("internal", `internal error (request ${request.id})`);
    const { socket } = request.raw;
    // An error response is lost just like a successful one.
    if (fault === "drop") await work().catch(() => {});
    reply.hijack();
    if (fault === "timeout") {
      this.#held.add(socket);
      socket.once("close", () => this.#held.delete(socket));
    } else if (fault === "reset") socket.resetAndDestroy();
    else socket.destroy();
    return undefined;
  }

  /** The same error as from the rate limit of the core API. */
  #refuseAsTooMany(reply: FastifyReply): ServiceError {
    const { windowMs } = coreRateLimit;
    const nowMs = this.#clock();
    const resetAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    void reply.header("ratelimit-remaining", 0).header("ratelimit-reset", Math.ceil(resetAtMs / 1_000));
    return new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: resetAtMs - nowMs });
  }
}

/** Generates numbers from 0 (inclusive) to 1 (exclusive), reproducible by seed on every platform (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
