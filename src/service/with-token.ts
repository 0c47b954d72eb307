import { endpointOf, ServiceError, utokenLimits } from "../contract/index.ts";
import { abortable } from "./abortable.ts";
import type { Caller, CallOptions, InputOf, Transport } from "./transport.ts";
import { dayMs } from "../contract/time.ts";

/** A utoken and its expiration time, in milliseconds since the epoch. */
export interface TokenEntry {
  readonly utoken: string;
  /** Undefined for a token from outside, which is used until the service rejects it. */
  readonly expiresAtMs: number | undefined;
}

/** Stores a token between runs. */
export interface TokenCache {
  read(): Promise<TokenEntry | undefined>;
  write(entry: TokenEntry): Promise<void>;
  clear(): Promise<void>;
  /** Runs a task while no other process that shares the token does. */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
}

export interface TokenOptions {
  readonly appKey: string;
  readonly readSecret: () => Promise<string>;
  readonly cache: TokenCache;
  /** A utoken from outside, used first until the service rejects it. */
  readonly given?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A Transport that signs its calls and provides its tokens. */
export interface SignedTransport extends Transport {
  /** Returns a valid utoken: the cached one, or a new one. */
  token(): Promise<TokenEntry>;
  /** Requests a new utoken even if one is cached, which verifies the secret. */
  renewToken(): Promise<TokenEntry>;
  /** Makes a call with a utoken, and repeats it once with a new one if it throws `unauthorized`. */
  withToken<T>(call: (utoken: string) => Promise<T>, options?: CallOptions): Promise<T>;
}

/** A token that expires within this time is renewed before it is used. */
const renewWithinMs = dayMs;

/**
 * Adds the account to each call and, if required, a utoken, which is requested on first use and cached. A call rejected
 * as `unauthorized` was not carried out, so it is always safe to repeat it once with a new token.
 * @throws ServiceError also the errors of the token call: `invalidClient`, `recordNotFound`
 */
export function withToken(transport: Transport, options: TokenOptions): SignedTransport {
  const { appKey } = options;
  const tokens = new TokenHolder(transport, options);
  return {
    call: async (operation, input, caller, callOptions) => {
      const { auth, acceptsUtoken = false } = endpointOf(operation);
      const call = (who: Caller) => transport.call(operation, input, who, callOptions);
      if (auth === "open") return call(caller);
      if ((auth === "account" && !acceptsUtoken) || caller.utoken !== undefined)
        return call({ appKey, ...caller });
      return callWithToken(tokens, (utoken) => call({ appKey, ...caller, utoken }), callOptions);
    },
    token: async () => tokens.get(),
    renewToken: async () => tokens.renew(),
    withToken: (call, callOptions) => callWithToken(tokens, call, callOptions),
    close: () => transport.close(),
  };
}

async function callWithToken<T>(
  tokens: TokenHolder,
  call: (utoken: string) => Promise<T>,
  callOptions: CallOptions | undefined,
): Promise<T> {
  const held = await tokens.get(callOptions);
  try {
    return await call(held.utoken);
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  const kept = await tokens.takeOther(held.utoken, callOptions);
  try {
    if (kept) return await call(kept.utoken);
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  const fresh = await tokens.replace((kept ?? held).utoken, callOptions);
  return call(fresh.utoken);
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === "unauthorized";
}

/** The token of a transport. Concurrent calls that need a new one share a single request for it. */
class TokenHolder {
  readonly #transport: Transport;
  readonly #options: TokenOptions;
  #held: TokenEntry | undefined;
  #wasRead = false;
  #pending: Promise<TokenEntry> | undefined;

  constructor(transport: Transport, options: TokenOptions) {
    this.#transport = transport;
    this.#options = options;
    if (options.given !== undefined) this.#held = { utoken: options.given, expiresAtMs: undefined };
  }

  get(callOptions?: CallOptions): Promise<TokenEntry> {
    if (this.#held && this.#isGood(this.#held)) return Promise.resolve(this.#held);
    return this.#share(() => this.#readOrFetch(callOptions), callOptions);
  }

  renew(callOptions?: CallOptions): Promise<TokenEntry> {
    return this.#share(() => this.#fetch(callOptions), callOptions);
  }

  /** Returns a token that another call or process has obtained since the rejected one. */
  async takeOther(refused: string, callOptions?: CallOptions): Promise<TokenEntry | undefined> {
    if (this.#pending) await this.get(callOptions);
    if (this.#held && this.#held.utoken !== refused) return this.#held;
    const kept = await this.#options.cache.read();
    if (!kept || kept.utoken === refused || !this.#isGood(kept)) return undefined;
    return (this.#held = kept);
  }

  /** Replaces the rejected token, unless another call has already obtained a new one. */
  async replace(refused: string, callOptions?: CallOptions): Promise<TokenEntry> {
    if (this.#pending) await this.get(callOptions);
    if (this.#held && this.#held.utoken !== refused) return this.#held;
    this.#held = undefined;
    return this.#share(() => this.#fetchOnce(refused, callOptions), callOptions);
  }

  /** A caller's signal cancels only its own wait, because other callers may be waiting for the same request. */
  async #share(start: () => Promise<TokenEntry>, callOptions?: CallOptions): Promise<TokenEntry> {
    this.#pending ??= start().finally(() => {
      this.#pending = undefined;
    });
    return abortable(this.#pending, callOptions?.signal);
  }

  async #readOrFetch(callOptions?: CallOptions): Promise<TokenEntry> {
    if (!this.#wasRead) {
      this.#held = await this.#options.cache.read();
      this.#wasRead = true;
    }
    const kept = this.#held;
    if (kept && this.#isGood(kept)) return kept;
    try {
      return await this.#fetchOnce(undefined, callOptions);
    } catch (error) {
      // If the service cannot issue a token right now, continue with the old one while it is valid.
      const isTemporary = error instanceof ServiceError && error.temporary;
      if (isTemporary && kept && this.#leftMs(kept) > 0) return kept;
      throw error;
    }
  }

  /** If several processes need a token at once, one of them requests it, and the others read it from the cache. */
  #fetchOnce(refused: string | undefined, callOptions?: CallOptions): Promise<TokenEntry> {
    const { cache } = this.#options;
    const fetch = async () => {
      const kept = cache.exclusively || refused !== undefined ? await cache.read() : undefined;
      if (kept && kept.utoken !== refused && this.#isGood(kept)) {
        this.#wasRead = true;
        return (this.#held = kept);
      }
      if (kept?.utoken === refused) await cache.clear().catch(() => {});
      return this.#fetch(callOptions);
    };
    return cache.exclusively ? cache.exclusively(fetch) : fetch();
  }

  async #fetch(callOptions?: CallOptions): Promise<TokenEntry> {
    const { appKey, readSecret, cache, clock } = this.#options;
    const input: InputOf<"tokens.create"> = {
      client_id: appKey,
      client_secret: await readSecret(),
      grant_type: "client_credentials",
    };
    const askedAtMs = clock();
    const { access_token } = await this.#transport.call(
      "tokens.create",
      input,
      {},
      { onEvent: callOptions?.onEvent },
    );
    const entry = { utoken: access_token, expiresAtMs: askedAtMs + utokenLimits.lifetimeMs };
    this.#held = entry;
    this.#wasRead = true;
    // A token that cannot be stored can still be used in this run.
    await cache.write(entry).catch(() => {});
    return entry;
  }

  #leftMs({ expiresAtMs = Number.POSITIVE_INFINITY }: TokenEntry): number {
    return expiresAtMs - this.#options.clock();
  }

  #isGood(entry: TokenEntry): boolean {
    return this.#leftMs(entry) >= renewWithinMs;
  }
}
