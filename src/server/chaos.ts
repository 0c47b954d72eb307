import type { FastifyReply, FastifyRequest } from "fastify";
import { setTimeout as wait } from "node:timers/promises";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import {
  coreRateLimit,
  type OperationName,
  ServiceError,
  tooManyRequestsMessage,
} from "../contract/index.ts";

/** Faults, in the order in which their coins are tossed. */
const faults = ["429", "413", "500", "reset", "timeout", "drop"] as const;
type Fault = (typeof faults)[number];

/** How a server misbehaves on purpose, so that those who call it can rehearse. */
export interface ChaosOptions {
  /** How likely each fault is, from 0 to 1. */
  readonly rates: Readonly<Partial<Record<Fault, number>>>;
  readonly delayMs: number;
  readonly seed: number;
  /** The one call, or the start of the paths, that are meant; all where absent. */
  readonly only?: string | undefined;
}

/** What was met. */
export interface ChaosCounts {
  /** Calls that came, whole, and were meant. */
  readonly calls: number;
  /** Of those, the ones that were answered as they would be without chaos. */
  readonly spared: number;
  readonly faults: Readonly<Record<Fault, number>>;
  /** All of them by the call, as the contract names it. */
  readonly operations: Readonly<Record<string, number>>;
}

/** A call that has come, and what it is called with. */
interface Met {
  readonly operation: OperationName;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: Logger;
}

/**
 * Tosses coins for each call, in a fixed order, as many for each: what the n-th call meets depends on the seed alone.
 * `429`, `413`, `500`, `reset` and `timeout` come before the work, which is then not done; `drop` comes after it.
 */
export class Chaos {
  readonly #options: ChaosOptions;
  readonly #clock: () => number;
  readonly #random: () => number;
  readonly #held = new Set<Socket>();
  readonly #faults: Record<Fault, number> = { "429": 0, "413": 0, "500": 0, reset: 0, timeout: 0, drop: 0 };
  readonly #operations: Record<string, number> = {};
  #calls = 0;
  #spared = 0;

  constructor(options: ChaosOptions, clock: () => number) {
    this.#options = options;
    this.#clock = clock;
    this.#random = createRandom(options.seed);
  }

  get counts(): ChaosCounts {
    return {
      calls: this.#calls,
      spared: this.#spared,
      faults: { ...this.#faults },
      operations: { ...this.#operations },
    };
  }

  /** Answers a call, or lets it meet its fault. */
  async answer(met: Met, work: () => Promise<unknown>): Promise<unknown> {
    if (!this.#isMeant(met)) return work();
    this.#calls++;
    this.#operations[met.operation] = (this.#operations[met.operation] ?? 0) + 1;
    const fault = this.#toss();
    if (this.#options.delayMs > 0) await wait(this.#options.delayMs);
    if (fault === undefined) {
      this.#spared++;
      return work();
    }
    this.#faults[fault]++;
    met.log.info({ id: met.request.id, operation: met.operation, fault }, "chaos");
    return this.#meet(fault, met, work);
  }

  /** Lets go of the calls that are never answered. */
  close(): void {
    for (const socket of this.#held) socket.destroy();
  }

  #isMeant({ operation, request }: Met): boolean {
    const { only } = this.#options;
    return only === undefined || only === operation || (only.startsWith("/") && request.url.startsWith(only));
  }

  #toss(): Fault | undefined {
    const tossed = faults.map((name) => ({ name, isMet: this.#random() < (this.#options.rates[name] ?? 0) }));
    return tossed.find(({ isMet }) => isMet)?.name;
  }

  async #meet(fault: Fault, { request, reply }: Met, work: () => Promise<unknown>): Promise<unknown> {
    if (fault === "429") throw this.#refuseAsTooMany(reply);
    if (fault === "413") throw new ServiceError("bodyTooLarge", "the body is larger than this server takes");
    if (fault === "500") throw new ServiceError("internal", `internal error (request ${request.id})`);
    const { socket } = request.raw;
    // What the work refuses is as lost as what it answers.
    if (fault === "drop") await work().catch(() => {});
    reply.hijack();
    if (fault === "timeout") {
      this.#held.add(socket);
      socket.once("close", () => this.#held.delete(socket));
    } else if (fault === "reset") socket.resetAndDestroy();
    else socket.destroy();
    return undefined;
  }

  /** As the limit of the core API refuses. */
  #refuseAsTooMany(reply: FastifyReply): ServiceError {
    const { windowMs } = coreRateLimit;
    const nowMs = this.#clock();
    const resetAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    void reply.header("ratelimit-remaining", 0).header("ratelimit-reset", Math.ceil(resetAtMs / 1_000));
    return new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: resetAtMs - nowMs });
  }
}

/** Numbers from 0 up to, and without, 1, the same for a seed wherever they are made (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
