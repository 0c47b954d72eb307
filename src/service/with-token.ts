import { endpointOf, ServiceError, utokenLimits } from "../contract/index.ts";
import { abortable } from "./abortable.ts";
import { type Caller, type CallOptions, type InputOf, type Transport, wrapTransport } from "./transport.ts";
import { dayMs } from "../contract/time.ts";

/** A utoken and its expiry, in milliseconds since the epoch. */
export interface TokenEntry {
  readonly utoken: string;
  /** Undefined if unknown, as for a token from the environment, which is used until it is rejected. */
  readonly expiresAtMs: number | undefined;
}

/** Stores a token between runs. */
export interface TokenCache {
  read(): Promise<TokenEntry | undefined>;
  write(entry: TokenEntry): Promise<void>;
  clear(): Promise<void>;
  /** Runs `work` while no other process that shares the token does. */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
}

export interface TokenOptions {
  readonly appKey: string;
  readonly readSecret: () => Promise<string>;
  readonly cache: TokenCache;
  /** A utoken to use before any other, until it is rejected. */
  readonly utoken?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A Transport that adds credentials to calls. */
export interface SignedTransport extends Transport {
  /** Returns a valid utoken: the cached one, or a new one. */
  token(): Promise<TokenEntry>;
  /** Requests a new utoken, which verifies the secret. */
  renewToken(): Promise<TokenEntry>;
  /** Makes a call with a utoken. If the call throws `unauthorized`, repeats it with another utoken. */
  withToken<T>(call: (utoken: string) => Promise<T>, options?: CallOptions): Promise<T>;
}

/** A token that expires sooner than this is replaced before it is used. Tokens are valid for 14 days. */
const renewWithinMs = dayMs;

/**
 * Adds the app key and, if needed, a utoken to calls. Requests the utoken when a call first needs it, and caches it.
 * A call refused as `unauthorized` was not carried out, so it is repeated with a new token, whatever its effect.
 * @throws ServiceError also the errors of requesting a token: `invalidClient`, `recordNotFound`
 */
export function withToken(transport: Transport, options: TokenOptions): SignedTransport {
  const { appKey } = options;
  const tokens = new TokenHolder(transport, options);
  const signed = wrapTransport(transport, async (operation, input, caller, callOptions) => {
    const { auth, acceptsUtoken = false } = endpointOf(operation);
    const call = (who: Caller) => transport.call(operation, input, who, callOptions);
    if (auth === "open") return call(caller);
    if ((auth === "account" && !acceptsUtoken) || caller.utoken !== undefined) return call({ appKey, ...caller });
    return callWithToken(tokens, (utoken) => call({ appKey, ...caller, utoken }), callOptions);
  });
  return {
    ...signed,
    token: async () => tokens.get(),
    renewToken: async () => tokens.renew(),
    withToken: (call, callOptions) => callWithToken(tokens, call, callOptions),
  };
}

async function callWithToken<T>(
  tokens: TokenHolder,
  call: (utoken: string) => Promise<T>,
  callOptions: CallOptions | undefined,
): Promise<T> {
  const current = await tokens.get(callOptions);
  try {
    return await call(current.utoken);
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  const cached = await tokens.takeOther(current.utoken, callOptions);
  try {
    if (cached) return await call(cached.utoken);
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  const fresh = await tokens.replace((cached ?? current).utoken, callOptions);
  return call(fresh.utoken);
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === "unauthorized";
}

/** The token of a transport. Concurrent calls share one request for it. */
class TokenHolder {
  readonly #transport: Transport;
  readonly #options: TokenOptions;
  #held: TokenEntry | undefined;
  #wasRead = false;
  #pending: Promise<TokenEntry> | undefined;

  constructor(transport: Transport, options: TokenOptions) {
    this.#transport = transport;
    this.#options = options;
    if (options.utoken !== undefined) this.#held = { utoken: options.utoken, expiresAtMs: undefined };
  }

  get(callOptions?: CallOptions): Promise<TokenEntry> {
    if (this.#held && this.#isGood(this.#held)) return Promise.resolve(this.#held);
    return this.#share(() => this.#readOrFetch(callOptions), callOptions);
  }

  renew(callOptions?: CallOptions): Promise<TokenEntry> {
    return this.#share(() => this.#fetch(callOptions), callOptions);
  }

  /** Returns a token other than the rejected one, if another call or process has obtained it. */
  async takeOther(refused: string, callOptions?: CallOptions): Promise<TokenEntry | undefined> {
    if (this.#pending) await this.get(callOptions);
    if (this.#held && this.#held.utoken !== refused) return this.#held;
    const cached = await this.#options.cache.read();
    if (!cached || cached.utoken === refused || !this.#isGood(cached)) return undefined;
    return (this.#held = cached);
  }

  /** Requests a token to replace the rejected one, unless another call has obtained one in the meantime. */
  async replace(refused: string, callOptions?: CallOptions): Promise<TokenEntry> {
    if (this.#pending) await this.get(callOptions);
    if (this.#held && this.#held.utoken !== refused) return this.#held;
    this.#held = undefined;
    return this.#share(() => this.#fetchOnce(refused, callOptions), callOptions);
  }

  /** A caller's signal ends only its own wait: others may wait for the same request. */
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
    const cached = this.#held;
    if (cached && this.#isGood(cached)) return cached;
    try {
      return await this.#fetchOnce(undefined, callOptions);
    } catch (error) {
      // If the service is temporarily unavailable, the old token is used until it expires.
      const isTemporary = error instanceof ServiceError && error.temporary;
      if (isTemporary && cached && this.#leftMs(cached) > 0) return cached;
      throw error;
    }
  }

  /** If several processes need a token, one requests it, and the others find it in the cache. */
  #fetchOnce(refused: string | undefined, callOptions?: CallOptions): Promise<TokenEntry> {
    const { cache } = this.#options;
    const fetch = async () => {
      const cached = cache.exclusively || refused !== undefined ? await cache.read() : undefined;
      if (cached && cached.utoken !== refused && this.#isGood(cached)) {
        this.#wasRead = true;
        return (this.#held = cached);
      }
      if (cached?.utoken === refused) await cache.clear().catch(() => {});
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
    const requestedAtMs = clock();
    const { access_token } = await this.#transport.call("tokens.create", input, {}, { onEvent: callOptions?.onEvent });
    const entry = { utoken: access_token, expiresAtMs: requestedAtMs + utokenLimits.lifetimeMs };
    this.#held = entry;
    this.#wasRead = true;
    // A token that cannot be cached is still used by this run.
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
