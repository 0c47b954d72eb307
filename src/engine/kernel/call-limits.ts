import { createHash } from "node:crypto";
import {
  coreRateLimit,
  type Endpoint,
  mailboxOf,
  type PublicLimit,
  type PublicLimitName,
  type PublicLimits,
  readRateLimit,
  ServiceError,
  tooManyRequestsMessage,
} from "../../contract/index.ts";
import type { CallEvent } from "../../service/transport.ts";
import type { Database } from "../../storage/database.ts";
import type { Account, CallContext } from "./handler.ts";
import { MemoryTokenStore, type Token, type TokenStore } from "../../storage/token-store.ts";
import { dayMs, hourMs } from "../../contract/time.ts";

export interface CallLimitOptions {
  readonly database: Database;
  readonly clock: () => number;
  /** Whether to enforce the rate limits of the specification. */
  readonly enforceLimits: boolean;
  /** Whether to also limit account operations for which the specification defines no rate limit. */
  readonly limitLegacy?: boolean | undefined;
  /** The limits of calls without a token (default: none). */
  readonly publicLimits?: PublicLimits | undefined;
}

/** A call of an account. */
interface CountedCall {
  readonly endpoint: Endpoint;
  readonly account: Account | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
}

/** A call that anyone may make, with valid input. */
interface PublicCall {
  readonly endpoint: Endpoint;
  readonly input: unknown;
  readonly call: Pick<CallContext, "account" | "ownerId" | "isSignUpClosed">;
  readonly clientAddress: string | undefined;
  /** Whether the call counts (default: it does). */
  readonly counts?: ((input: unknown) => boolean) | undefined;
  /** Rejects an invalid signature of a vendor that the account trusts. Absent if the operation accepts none. */
  readonly readSignature: (() => Promise<unknown>) | undefined;
}

/** What a limit applies to: an account, the recipient of an email, or the server. */
interface LimitOwner {
  readonly name: PublicLimitName;
  readonly accountId?: number;
  readonly recipient?: string;
}

/** The mailbox is stored as a hash. */
function keyOf({ accountId, recipient }: LimitOwner): string {
  if (recipient === undefined) return String(accountId ?? "");
  return createHash("sha256").update(mailboxOf(recipient)).digest("base64url");
}

/**
 * Enforces the limits on calls. Assumed: processes that share a SQLite file count separately; those that share a PostgreSQL
 * database count together.
 */
export class CallLimits {
  readonly #windows: TokenStore | undefined;
  readonly #clock: () => number;
  readonly #limitLegacy: boolean;
  readonly #publicLimits: PublicLimits;
  readonly #buckets: TokenStore;
  /** Always in memory, so that refusing a client is cheap. */
  readonly #clientBuckets = new MemoryTokenStore();

  constructor(options: CallLimitOptions) {
    const {
      database: { db, dialect },
      clock,
      enforceLimits,
      limitLegacy = false,
      publicLimits = {},
    } = options;
    this.#windows = enforceLimits ? dialect.createTokenStore(db, clock) : undefined;
    this.#clock = clock;
    this.#limitLegacy = limitLegacy;
    this.#publicLimits = publicLimits;
    this.#buckets = dialect.createTokenStore(db, clock);
  }

  /**
   * Counts a call of an account after it has been authenticated.
   * Assumed: every authenticated call counts, even if its input is rejected; calls with invalid credentials do not, so
   * that strangers cannot use up the limit of a store.
   * @throws ServiceError `tooManyRequests`
   */
  async count({ endpoint, account, onEvent }: CountedCall): Promise<void> {
    if (!this.#windows || !account) return;
    const isStore = endpoint.auth !== "account" || endpoint.needsSecret === true || account.isStore === true;
    const limit = limitOf(endpoint, { limitLegacy: this.#limitLegacy, isStore });
    if (!limit) return;
    const { allowed, remaining, resetAtMs } = await takeRequest(this.#windows, account.id, limit, this.#clock());
    if (limit.isReported) onEvent?.({ type: "limit", remaining, resetAtSeconds: Math.ceil(resetAtMs / 1_000) });
    if (!allowed) throw tooManyRequests(resetAtMs - this.#clock());
  }

  /**
   * Counts a call that changes data without a token of the account. Calls that a trusted vendor has signed do not count.
   * @throws ServiceError `tooManyRequests`; for an invalid signature, `featureDisabled`, `invalidParams`, `unauthorized`
   */
  async countPublic(made: PublicCall): Promise<void> {
    const { endpoint, input, call, clientAddress, readSignature } = made;
    const { publicKind: kind } = endpoint;
    const { account, ownerId } = call;
    if (made.counts?.(input) === false) return;
    if (kind === undefined || account?.isStore === true || Object.keys(this.#publicLimits).length === 0) return;
    const { email, signature } = input as { readonly email: string; readonly signature?: unknown };
    if (signature && readSignature) {
      // Otherwise, a client could have any number of invalid signatures verified.
      await this.countRefusal(clientAddress);
      try {
        await readSignature();
      } finally {
        // An invalid signature is counted as a failed call.
        await this.#takeForClient("failures-per-client", clientAddress, -1);
      }
      return;
    }
    await this.#takeForClient(`${kind}-per-client`, clientAddress);
    // Otherwise, strangers could use up the limit of people with an invitation.
    if (kind === "sign-ups" && !call.isSignUpClosed) await this.#take([{ name: "sign-ups-per-server" }]);
    if (kind !== "submissions" && kind !== "votes") return;
    const accountId = account?.id ?? ownerId;
    // The handler rejects votes on records that do not exist.
    const ofAccount = accountId === undefined ? [] : [{ name: `${kind}-per-account`, accountId } as const];
    const ofRecipient = kind === "votes" ? [] : [{ name: "submissions-per-recipient", recipient: email } as const];
    await this.#take([...ofAccount, ...ofRecipient]);
  }

  /**
   * Takes a token for a client (`…-per-client`).
   * @param clientAddress undefined for calls of this process, which are not limited
   * @param count -1 gives a token back
   * @throws ServiceError `tooManyRequests`
   */
  async #takeForClient(name: PublicLimitName, clientAddress: string | undefined, count: 1 | -1 = 1): Promise<void> {
    // One after the other, so that a client uses up no more of its site's tokens than its own.
    for (const limit of await this.#limitsOf(name, clientAddress)) {
      const waitMs = await takeTokens(this.#clientBuckets, [limit], this.#clock(), count);
      if (waitMs > 0) throw tooManyRequests(waitMs);
    }
  }

  /** A limit for each of the networks that a client can choose its address from. */
  async #limitsOf(name: PublicLimitName, clientAddress: string | undefined): Promise<readonly NamedLimit[]> {
    const size = this.#publicLimits[name];
    if (!size || clientAddress === undefined) return [];
    const { listNetworks } = await import("../../service/client-networks.ts");
    return listNetworks(clientAddress).map(({ name: network, share }) => ({
      key: `${name} ${network}`,
      size:
        "perDay" in size
          ? { perDay: size.perDay * share }
          : { burst: size.burst * share, perHour: size.perHour * share },
    }));
  }

  /**
   * Checks whether a client has CPU time left. Calls with a valid token of the account are neither checked nor charged.
   * @throws ServiceError `tooManyRequests`
   */
  async checkCpu(clientAddress: string): Promise<void> {
    await this.#takeForClient("cpu-ms-per-client", clientAddress);
  }

  /** Charges a call to its client. The last one may take more time than is left. */
  async chargeCpu(clientAddress: string, cpuMs: number): Promise<void> {
    const nowMs = this.#clock();
    const buckets = (await this.#limitsOf("cpu-ms-per-client", clientAddress)).flatMap(({ key, size }) => {
      if ("perDay" in size) return [];
      const msCost = Math.ceil(hourMs / size.perHour);
      const cost = Math.ceil(cpuMs * msCost);
      const emptyLevel = nowMs + size.burst * msCost + cost;
      return [{ key, fullLevel: nowMs, emptyLevel, cost, period: 0, replacement: emptyLevel }];
    });
    if (buckets.length > 0) await this.#clientBuckets.take(buckets);
  }

  /**
   * Takes a token of each of the given owners (`…-per-account`, `…-per-recipient`, `…-per-server`).
   * @throws ServiceError `tooManyRequests`
   */
  async #take(owners: readonly LimitOwner[]): Promise<void> {
    const tokens = owners.flatMap((owner) => {
      const size = this.#publicLimits[owner.name];
      return size ? [{ key: `${owner.name} ${keyOf(owner)}`, size }] : [];
    });
    const waitMs = await takeTokens(this.#buckets, tokens, this.#clock());
    if (waitMs > 0) throw tooManyRequests(waitMs);
  }

  /**
   * Counts a call against its client if it failed because its credentials are invalid.
   * Assumed: calls with valid credentials are never refused for failures, because a store may share its IP address with
   * others.
   * @throws ServiceError `tooManyRequests`
   */
  async countFailure(error: unknown, endpoint: Endpoint, clientAddress: string | undefined): Promise<void> {
    if (isInvalidCredential(error, endpoint)) await this.countRefusal(clientAddress);
  }

  /** Counts a failure of a client. @throws ServiceError `tooManyRequests` */
  async countRefusal(clientAddress: string | undefined): Promise<void> {
    await this.#takeForClient("failures-per-client", clientAddress);
  }

  /** Checks whether a client may fail. @throws ServiceError `tooManyRequests` */
  async checkFailures(clientAddress: string | undefined): Promise<void> {
    await this.countRefusal(clientAddress);
    await this.#takeForClient("failures-per-client", clientAddress, -1);
  }
}

function tooManyRequests(retryAfterMs: number): ServiceError {
  return new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: Math.max(0, retryAfterMs) });
}

/** An unknown app key is public data, unless the call also has a token or a secret for it. */
function isInvalidCredential(error: unknown, { auth, needsSecret = false }: Endpoint): boolean {
  if (!(error instanceof ServiceError)) return false;
  if (error.kind === "unauthorized" || error.kind === "invalidClient") return true;
  return error.record === "Account" && (needsSecret || auth === "utoken" || auth === "core");
}

/** The number of requests that an account may make in a fixed time window. */
interface RateLimit {
  readonly name: "core" | "cdn" | "legacy" | "public";
  readonly requests: number;
  readonly windowMs: number;
  /** Whether responses include the remaining number of requests. Source: spec "Limits": every core API response does. */
  readonly isReported: boolean;
}

/**
 * Source: spec "Limits". Assumed: the optional limit for other operations equals the one of the core API. Calls without
 * credentials have a window of their own, because anyone can make them.
 */
const limits = {
  core: { name: "core", ...coreRateLimit, isReported: true },
  cdn: { name: "cdn", ...readRateLimit, isReported: false },
  legacy: { name: "legacy", ...coreRateLimit, isReported: true },
  public: { name: "public", ...coreRateLimit, isReported: true },
} as const satisfies Record<string, RateLimit>;

interface LimitedCall {
  /** Whether to also limit operations for which the specification defines no limit. */
  readonly limitLegacy: boolean;
  /** Whether the caller has proved to be the store. */
  readonly isStore: boolean;
}

/** The limit that applies to a call, if any. */
export function limitOf(endpoint: Endpoint, { limitLegacy, isStore }: LimitedCall): RateLimit | undefined {
  if (endpoint.errorForm === "core") return limits.core;
  if (endpoint.isReadLimited) return limits.cdn;
  if (!limitLegacy) return undefined;
  return isStore ? limits.legacy : limits.public;
}

interface WindowState {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/**
 * Counts a request of an account: a window is a bucket that is filled at once when it begins.
 * Source: spec "Limits". Assumed: windows are aligned to the clock, so one-second windows start at full seconds;
 * rejected calls do not count.
 * Clocks differ between machines. A machine whose clock is behind counts in the window that another has started. A
 * window that starts more than one window length in the future is discarded as the result of a wrong clock.
 * @param limit its window must have at least as many milliseconds as requests
 */
export async function takeRequest(
  store: TokenStore,
  accountId: number,
  { name, requests, windowMs }: RateLimit,
  nowMs: number,
): Promise<WindowState> {
  const startMs = Math.floor(nowMs / windowMs) * windowMs;
  const cost = Math.floor(windowMs / requests);
  const emptyLevel = startMs + requests * cost;
  const key = `${name} ${accountId}`;
  const token = { key, fullLevel: startMs, emptyLevel, cost, period: windowMs, replacement: startMs };
  const [{ isTaken, level } = { isTaken: false, level: 0 }] = await store.take([token]);
  const aheadMs = level > emptyLevel && level <= emptyLevel + windowMs ? windowMs : 0;
  const remaining = isTaken ? (emptyLevel + aheadMs - level) / cost : 0;
  return { allowed: isTaken, remaining, resetAtMs: startMs + aheadMs + windowMs };
}

/** A limit and the name of what it applies to. */
interface NamedLimit {
  readonly key: string;
  readonly size: PublicLimit;
}

/**
 * The tokens that a call takes, or gives back if `count` is -1: one of a bucket that is filled steadily, or one of the buckets
 * for each call of a day, which are full again after a day.
 */
function tokensOf({ key, size }: NamedLimit, nowMs: number, count: 1 | -1): readonly [Token, ...Token[]] {
  const isDaily = "perDay" in size;
  const cost = isDaily ? dayMs : Math.ceil(hourMs / size.perHour);
  const emptyLevel = nowMs + (isDaily ? 1 : size.burst) * cost;
  const bucket = { key, fullLevel: nowMs, emptyLevel, cost: cost * count, period: 0, replacement: emptyLevel };
  const others = Array.from({ length: isDaily ? size.perDay - 1 : 0 }, (_, at) => ({
    ...bucket,
    key: `${key} ${at + 2}`,
  }));
  return [bucket, ...others];
}

/**
 * Takes a token for each of several limits, from the first of its buckets that has one. Assumed: if one is exhausted, the
 * tokens of the others are taken anyway.
 * @param count -1 gives tokens back, to the first bucket
 * @returns 0, or after how many milliseconds all of them have one
 */
export async function takeTokens(
  store: TokenStore,
  named: readonly NamedLimit[],
  nowMs: number,
  count: 1 | -1 = 1,
): Promise<number> {
  let open = named.map((limit) => ({ choices: tokensOf(limit, nowMs, count), at: 0, waitMs: Infinity }));
  let longestMs = 0;
  while (open.length > 0) {
    const tokens = open.map(({ choices, at }) => choices[at] ?? choices[0]);
    const taken = await store.take(tokens);
    const waits = tokens.map(({ cost, emptyLevel }, nth) => {
      const { isTaken = false, level = 0 } = taken[nth] ?? {};
      // A simultaneous call may have taken the last token after the level was read.
      return isTaken ? 0 : Math.max(1, Math.min(level, emptyLevel) + cost - emptyLevel);
    });
    open = open.flatMap(({ choices, at, waitMs }, nth) => {
      const wait = Math.min(waitMs, waits[nth] ?? 0);
      if (wait > 0 && at + 1 < choices.length) return [{ choices, at: at + 1, waitMs: wait }];
      longestMs = Math.max(longestMs, wait);
      return [];
    });
  }
  return longestMs;
}
