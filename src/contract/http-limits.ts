import type { Caching, Endpoint } from "./endpoint.ts";
import { type JsonLimits, jsonLimits } from "./json-text.ts";

const bytesPerKiB = 1_024;
const bytesPerMiB = 1_024 * bytesPerKiB;

/**
 * Maximum sizes of request bodies, in bytes. Assumed: the specification states none.
 * - `bulk`: calls that carry a list of records. Imports send about 1 MiB; other clients send up to 500 products at once,
 *   each of which may have a long description.
 * - `open`: calls that need no token. The longest texts of a review or a question take about 200 KB, even if each character
 *   is sent as an escape sequence of six bytes.
 * - `pageForm`: the longest texts of a form, with each character encoded as several `%xx` sequences.
 * - `ignored`: bodies of which nothing is used.
 */
export const bodyLimits = {
  regular: bytesPerMiB,
  bulk: 4 * bytesPerMiB,
  open: 256 * bytesPerKiB,
  form: 64 * bytesPerKiB,
  pageForm: 256 * bytesPerKiB,
  ignored: 64 * bytesPerKiB,
} as const;

/** Maximum number of fields of a form or a query. */
export const maxFormFields = 1_000;

/** Whether a form, or a path with a query, has more fields than that. */
export function hasTooManyFields(text: string): boolean {
  return text.split("&", maxFormFields + 1).length > maxFormFields;
}

/** The maximum size of a JSON body of an operation, in bytes. */
export function bodyLimitOf(endpoint: Endpoint): number {
  const { batch, maxBodyBytes } = endpoint;
  return maxBodyBytes ?? (isUnsigned(endpoint) ? bodyLimits.open : batch ? bodyLimits.bulk : bodyLimits.regular);
}

/** The limits of a JSON body of an operation. */
export function jsonLimitsOf(endpoint: Endpoint): JsonLimits {
  return isUnsigned(endpoint) ? jsonLimits.open : jsonLimits.withToken;
}

/** Whether a call needs neither a token nor a signed body. */
export function isUnsigned({ auth, signedBody }: Endpoint): boolean {
  return (auth === "open" || auth === "account") && !signedBody;
}

/** Limits of receiving requests. */
export interface ReceivingLimits {
  /** When it is exceeded, the connection is closed that has waited the longest for a complete request. */
  readonly connections: number;
  /** Of one client, except for trusted proxies (default: any number). Further ones are closed. */
  readonly connectionsPerClient?: number | undefined;
  readonly headersWithinMs: number;
  readonly requestWithinMs: number;
  /** A body of which nothing arrives for so long is refused. */
  readonly idleMs: number;
  /**
   * Bodies held in memory, of all connections together, until their calls are answered. When it is exceeded, the body
   * that has received nothing for the longest time is refused.
   */
  readonly bufferedBytes: number;
  readonly uploads: UploadLimits;
}

/** Limits of calls without a token whose bodies are larger than those of the others. */
export interface UploadLimits {
  /** How many are in memory, each from the first byte of its body to its response. */
  readonly atOnce: number;
  /** How many wait for that, without being received, and how long. */
  readonly waiting: number;
  readonly waitMs: number;
  /** One that takes longer to arrive is refused if others wait. */
  readonly receiveMs: number;
}

export const receivingLimits: ReceivingLimits = {
  connections: 1_000,
  headersWithinMs: 15_000,
  requestWithinMs: 120_000,
  idleMs: 15_000,
  bufferedBytes: 48 * bytesPerMiB,
  uploads: { atOnce: 4, waiting: 64, waitMs: 30_000, receiveMs: 15_000 },
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
  bufferedBytes: 48 * bytesPerMiB,
  smallBytes: 64 * bytesPerKiB,
  idleMs: 30_000,
  responseWithinMs: 120_000,
};

/** How many images are read at the same time, and how many requests for images wait for that. */
export const imageReadLimits = { atOnce: 2, waiting: 200 } as const;

/**
 * A token bucket: it holds `burst` tokens and is refilled with `perHour` tokens an hour. Each call takes a token; a call
 * that finds the bucket empty is refused. Of what is held instead of used up, such as connections, `perHour` is 0.
 */
export interface TokenBucket {
  readonly burst: number;
  readonly perHour: number;
}

/**
 * A limit of calls in any 24 hours. Unlike a bucket that holds as many tokens and is refilled, it does not allow nearly twice
 * the number on the first day.
 */
export interface DailyLimit {
  readonly perDay: number;
}

export type PublicLimit = TokenBucket | DailyLimit;

/**
 * The default limits of calls that anyone can make and that store something or send email, in calls by client (IP address;
 * for IPv6, the /64 network, and the /48 network for `siteShare` times as many), by account, and by mailbox of the recipient
 * across all accounts (see `mailboxOf`). Calls with a token of the account are not limited. Sign-ups with an invitation count
 * only for the client. `failures` are calls with an invalid token, secret, or signature, and bodies with too many values or
 * fields.
 * `cpu-ms` is the CPU time of all calls without a valid token, in milliseconds.
 * Assumed: the specification defines no such limits.
 */
export const publicLimits = {
  "submissions-per-client": { burst: 20, perHour: 20 },
  "submissions-per-account": { burst: 100, perHour: 100 },
  "submissions-per-recipient": { perDay: 5 },
  "votes-per-client": { burst: 60, perHour: 360 },
  "votes-per-account": { burst: 600, perHour: 3_600 },
  "images-per-client": { burst: 30, perHour: 60 },
  "sign-ups-per-client": { burst: 5, perHour: 5 },
  "sign-ups-per-server": { burst: 50, perHour: 50 },
  "failures-per-client": { burst: 20, perHour: 600 },
  "cpu-ms-per-client": { burst: 30_000, perHour: 900_000 },
  "connections-per-client": { burst: 200, perHour: 0 },
} as const satisfies Readonly<Record<string, PublicLimit>>;

/**
 * What all clients in a /48 network of IPv6 may do together, as a multiple of the limit of one: a site has a network of this
 * size, and could otherwise be 65,536 clients.
 */
export const siteShare = 4;

export type PublicLimitName = keyof typeof publicLimits;

/** The limits that a server enforces. Calls are not limited by a name that is missing. */
export type PublicLimits = Readonly<Partial<Record<PublicLimitName, PublicLimit>>>;

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
  /** The logo of an account, whose URL changes when it is replaced. */
  logos: { maxAgeSeconds: 3_600, staleSeconds: 86_400 },
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
