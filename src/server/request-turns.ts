import type { FastifyRequest } from "fastify";
import type { Endpoint } from "../contract/index.ts";
import type { CallEvent, CallGate, Caller } from "../service/transport.ts";
import { type CallKind, FairTurns, type Turn } from "./fair-turns.ts";

/** A request that is refused before its call. */
const refused: CallKind = { batch: undefined, effect: "read" };

/** Handles requests when it is their turn, and charges clients for the CPU time of calls without a valid token. */
export class RequestTurns {
  readonly #turns = new FairTurns();
  readonly #gate: CallGate | undefined;
  readonly #taken = new WeakSet<FastifyRequest>();
  readonly #trusted = new WeakSet<FastifyRequest>();

  constructor(gate: CallGate | undefined) {
    this.#gate = gate;
  }

  /** Remembers the account that a call has proved. */
  note(
    request: FastifyRequest,
    caller: Caller,
    { appKey, hasToken }: Pick<Extract<CallEvent, { type: "account" }>, "appKey" | "hasToken">,
  ): void {
    this.#turns.note(caller, appKey, hasToken);
    if (hasToken) this.#trusted.add(request);
  }

  /** Makes the call of a request. @throws ServiceError `tooManyRequests` if too many bulk calls of the account wait */
  async run<T>(
    request: FastifyRequest,
    caller: Caller,
    endpoint: Endpoint,
    work: (outside: Turn["outside"]) => Promise<T>,
  ): Promise<T> {
    this.#taken.add(request);
    const turn = await this.#turns.take(caller, endpoint);
    try {
      return await work(turn.outside);
    } finally {
      const cpuMs = turn.end();
      // Calls with a secret are limited by their failures.
      const isCharged = !this.#trusted.has(request) && endpoint.needsSecret !== true;
      if (isCharged) await this.#gate?.charge(addressOf(request), cpuMs);
    }
  }

  /** Waits for the turn of a request that is refused before its call. */
  async waitToRefuse(request: FastifyRequest): Promise<void> {
    if (!this.#taken.has(request)) (await this.#turns.take({}, refused)).end();
  }
}

/** The address of a client. A connection that was closed has none. */
export function addressOf({ ip }: { readonly ip: string | undefined }): string {
  return ip ?? "unknown";
}
