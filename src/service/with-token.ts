import { endpointOf, type OperationName, ServiceError, utokenLimits } from "../contract/index.ts";
import { abortable } from "./abortable.ts";
import type { Caller, CallOptions, InputOf, OutputOf, Transport } from "./transport.ts";

/** A utoken and the end of its life, in milliseconds since the epoch. */
export interface TokenEntry {
  readonly utoken: string;
  readonly expiresAtMs: number;
}

/** Where a token is kept between runs. */
export interface TokenCache {
  read(): Promise<TokenEntry | undefined>;
  write(entry: TokenEntry): Promise<void>;
  clear(): Promise<void>;
}

export interface TokenOptions {
  readonly appKey: string;
  readonly readSecret: () => Promise<string>;
  readonly cache: TokenCache;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A Transport that signs its calls, and tells with what. */
export interface SignedTransport extends Transport {
  /** A utoken that is valid now: the kept one, or a new one. */
  token(): Promise<TokenEntry>;
  /** A new utoken, whatever is kept: proves the secret. */
  renewToken(): Promise<TokenEntry>;
  /** A utoken in the place of one that was refused. */
  replaceToken(refused: string): Promise<TokenEntry>;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** A token with less left than this is replaced before it is used. */
const renewWithinMs = dayMs;

/**
 * Adds the account and, where a call needs one, a utoken, obtained when first needed and kept.
 * A call that is refused as `unauthorized` was not carried out, so it is made once more with a new token, whatever it does.
 * @throws ServiceError also what the token call throws: `invalidClient`, `recordNotFound`
 */
export function withToken(transport: Transport, options: TokenOptions): SignedTransport {
  const { appKey } = options;
  const tokens = new TokenHolder(transport, options);
  return {
    call: async (operation, input, caller, callOptions) => {
      const { auth, heedsUtoken = false } = endpointOf(operation);
      const call = (who: Caller) => transport.call(operation, input, who, callOptions);
      if (auth === "open") return call(caller);
      if ((auth === "account" && !heedsUtoken) || caller.utoken !== undefined)
        return call({ appKey, ...caller });
      return callWithToken(call, { tokens, caller: { appKey, ...caller }, callOptions });
    },
    token: async () => tokens.get(),
    renewToken: async () => tokens.renew(),
    replaceToken: async (refused) => tokens.replace(refused),
    close: () => transport.close(),
  };
}

async function callWithToken<N extends OperationName>(
  call: (caller: Caller) => Promise<OutputOf<N>>,
  {
    tokens,
    caller,
    callOptions,
  }: { tokens: TokenHolder; caller: Caller; callOptions: CallOptions | undefined },
): Promise<OutputOf<N>> {
  const { utoken } = await tokens.get(callOptions);
  try {
    return await call({ ...caller, utoken });
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    const fresh = await tokens.replace(utoken, callOptions);
    return call({ ...caller, utoken: fresh.utoken });
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === "unauthorized";
}

/** The one token of a transport; calls that need it at the same time share one request for it. */
class TokenHolder {
  readonly #transport: Transport;
  readonly #options: TokenOptions;
  #held: TokenEntry | undefined;
  #wasRead = false;
  #pending: Promise<TokenEntry> | undefined;

  constructor(transport: Transport, options: TokenOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  get(callOptions?: CallOptions): Promise<TokenEntry> {
    if (this.#held && this.#leftMs(this.#held) >= renewWithinMs) return Promise.resolve(this.#held);
    return this.#share(() => this.#readOrFetch(callOptions), callOptions);
  }

  renew(callOptions?: CallOptions): Promise<TokenEntry> {
    return this.#share(() => this.#fetch(callOptions), callOptions);
  }

  /** Gives a token other than the refused one, which another call may have obtained already. */
  async replace(refused: string, callOptions?: CallOptions): Promise<TokenEntry> {
    if (this.#pending) await this.get(callOptions);
    if (this.#held && this.#held.utoken !== refused) return this.#held;
    this.#held = undefined;
    await this.#options.cache.clear().catch(() => {});
    return this.renew(callOptions);
  }

  /** One caller's signal ends its own waiting, not the request, for which others may wait. */
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
    if (kept && this.#leftMs(kept) >= renewWithinMs) return kept;
    try {
      return await this.#fetch(callOptions);
    } catch (error) {
      // A service that cannot renew now is no reason to stop while the old token serves.
      const isTemporary = error instanceof ServiceError && error.temporary;
      if (isTemporary && kept && this.#leftMs(kept) > 0) return kept;
      throw error;
    }
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
    // A token that cannot be kept still serves this run.
    await cache.write(entry).catch(() => {});
    return entry;
  }

  #leftMs({ expiresAtMs }: TokenEntry): number {
    return expiresAtMs - this.#options.clock();
  }
}
