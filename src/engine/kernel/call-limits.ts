import { type Endpoint, ServiceError, tooManyRequestsMessage } from "../../contract/index.ts";
import type { CallEvent } from "../../service/transport.ts";
import type { Database } from "../../storage/database.ts";
import type { Account } from "./handler.ts";
import { createRateWindow, limitOf, type RateWindow } from "./rate-window.ts";

export interface CallLimitOptions {
  readonly database: Database;
  readonly clock: () => number;
  /** Whether to enforce the rate limits of the specification. */
  readonly enforceLimits: boolean;
  /** Whether to also limit account operations for which the specification defines no rate limit. */
  readonly limitLegacy?: boolean | undefined;
}

/** A call of an account. */
interface CountedCall {
  readonly endpoint: Endpoint;
  readonly account: Account | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
}

/** Enforces the limits on calls. */
export class CallLimits {
  readonly #window: RateWindow | undefined;
  readonly #clock: () => number;
  readonly #limitLegacy: boolean;

  constructor({ database, clock, enforceLimits, limitLegacy = false }: CallLimitOptions) {
    this.#window = enforceLimits ? createRateWindow(database, clock) : undefined;
    this.#clock = clock;
    this.#limitLegacy = limitLegacy;
  }

  /**
   * Counts a call of an account after it has been authenticated.
   * Assumed: every authenticated call counts, even if its input is rejected; calls with invalid credentials do not, so
   * that strangers cannot use up the limit of a store.
   * @throws ServiceError `tooManyRequests`
   */
  async count({ endpoint, account, onEvent }: CountedCall): Promise<void> {
    if (!this.#window || !account) return;
    const isStore = endpoint.auth !== "account" || endpoint.needsSecret === true || account.isStore === true;
    const limit = limitOf(endpoint, { limitLegacy: this.#limitLegacy, isStore });
    if (!limit) return;
    const { allowed, remaining, resetAtMs } = await this.#window.take(account.id, limit);
    if (limit.isReported) onEvent?.({ type: "limit", remaining, resetAtSeconds: Math.ceil(resetAtMs / 1_000) });
    if (!allowed) throw tooManyRequests(resetAtMs - this.#clock());
  }
}

function tooManyRequests(retryAfterMs: number): ServiceError {
  return new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: Math.max(0, retryAfterMs) });
}
