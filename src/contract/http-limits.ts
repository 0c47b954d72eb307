import type { Caching, Endpoint } from "./endpoint.ts";

const bytesPerKiB = 1_024;
const bytesPerMiB = 1_024 * bytesPerKiB;

/**
 * Maximum sizes of request bodies, in bytes. Assumed: the specification states none.
 * - `bulk`: calls that carry a list of records. Imports send about 1 MiB; other clients send up to 500 products at once,
 *   each of which may have a long description.
 * - `pageForm`: the longest texts of a form, with each character encoded as several `%xx` sequences.
 * - `ignored`: bodies of which nothing is used.
 */
export const bodyLimits = {
  regular: bytesPerMiB,
  bulk: 10 * bytesPerMiB,
  form: 64 * bytesPerKiB,
  pageForm: 256 * bytesPerKiB,
  ignored: 64 * bytesPerKiB,
} as const;

/** The maximum size of a JSON body of an operation, in bytes. */
export function bodyLimitOf({ batch, maxBodyBytes }: Endpoint): number {
  return maxBodyBytes ?? (batch ? bodyLimits.bulk : bodyLimits.regular);
}

/** Limits of receiving requests. */
export interface ReceivingLimits {
  readonly connections: number;
  readonly headersWithinMs: number;
  readonly requestWithinMs: number;
  /** A body of which nothing arrives for so long is refused. */
  readonly idleMs: number;
  /**
   * Bodies held in memory, of all connections together, until their calls are answered. When it is exceeded, the body
   * that has received nothing for the longest time is refused.
   */
  readonly bufferedBytes: number;
}

export const receivingLimits: ReceivingLimits = {
  connections: 1_000,
  headersWithinMs: 15_000,
  requestWithinMs: 120_000,
  idleMs: 15_000,
  bufferedBytes: 48 * bytesPerMiB,
};

/** Limits of sending responses. */
export interface SendingLimits {
  /** The maximum size of a response. */
  readonly responseBytes: number;
  /**
   * Responses in memory that clients have not received yet, of all connections together. Beyond it, the connection with
   * the oldest one is closed. Responses of at most `smallBytes` do not count.
   */
  readonly bufferedBytes: number;
  readonly smallBytes: number;
  /** A connection is closed if the client receives nothing for so long. */
  readonly idleMs: number;
  readonly responseWithinMs: number;
}

export const sendingLimits: SendingLimits = {
  responseBytes: 32 * bytesPerMiB,
  bufferedBytes: 64 * bytesPerMiB,
  smallBytes: 64 * bytesPerKiB,
  idleMs: 30_000,
  responseWithinMs: 120_000,
};

/**
 * A token bucket: it holds `burst` tokens and is refilled with `perHour` tokens an hour. Each call takes a token; a call
 * that finds the bucket empty is refused.
 */
export interface TokenBucket {
  readonly burst: number;
  readonly perHour: number;
}

/**
 * The default limits of calls that anyone can make and that store something or send email, in calls by client (IP address;
 * for IPv6, the /64 network), by account, and by recipient of the email across all accounts. Calls with a token of the
 * account are not limited. Sign-ups with an invitation count only for the client. `failures` are calls with an invalid token, secret, or signature.
 * `cpu-ms` is the CPU time of all calls without a valid token, in milliseconds.
 * Assumed: the specification defines no such limits.
 */
export const publicLimits = {
  "submissions-per-client": { burst: 20, perHour: 20 },
  "submissions-per-account": { burst: 100, perHour: 100 },
  "submissions-per-recipient": { burst: 5, perHour: 1 },
  "votes-per-client": { burst: 60, perHour: 360 },
  "votes-per-account": { burst: 600, perHour: 3_600 },
  "images-per-client": { burst: 30, perHour: 60 },
  "sign-ups-per-client": { burst: 5, perHour: 5 },
  "sign-ups-per-server": { burst: 50, perHour: 50 },
  "failures-per-client": { burst: 20, perHour: 600 },
  "cpu-ms-per-client": { burst: 30_000, perHour: 900_000 },
} as const satisfies Readonly<Record<string, TokenBucket>>;

export type PublicLimitName = keyof typeof publicLimits;

/** The limits that a server enforces. Calls are not limited by a name that is missing. */
export type PublicLimits = Readonly<Partial<Record<PublicLimitName, TokenBucket>>>;

/** The lifetimes of responses to storefront reads. Assumed: the specification does not mention caching. */
export const cacheLifetimes = {
  /** Parts of product pages: shoppers see a new review after a minute. */
  storefront: { maxAgeSeconds: 60, staleSeconds: 600, byVersion: true },
  /** Other content of product pages. */
  content: { maxAgeSeconds: 60, staleSeconds: 600 },
  /** The bottom lines of all products, which lag behind by the account's delay anyway. */
  allProducts: { maxAgeSeconds: 300, staleSeconds: 3_600 },
  /** Pages for search engines. */
  searchEngines: { maxAgeSeconds: 300, staleSeconds: 86_400 },
  /** Content that may be withdrawn, such as images of unpublished reviews. */
  revalidated: { maxAgeSeconds: 0, staleSeconds: 0 },
} as const satisfies Readonly<Record<string, Caching>>;

/** The `Cache-Control` header of successful GET responses. Responses without a declared lifetime are not stored. */
export function cacheControlOf({ caching }: { readonly caching?: Caching | undefined }): string {
  if (!caching) return "no-store";
  const { maxAgeSeconds, staleSeconds } = caching;
  if (maxAgeSeconds === 0) return "no-cache";
  return `public, max-age=${maxAgeSeconds}, stale-while-revalidate=${staleSeconds}`;
}
