import { isUtf8 } from "node:buffer";
import * as z from "zod";
import type { ErrorForm } from "./errors.ts";
import { lazily } from "./lazily.ts";
import { enveloped, type ReplyForm, statusOnly } from "./reply.ts";
import { dayMs } from "./time.ts";

/**
 * The effect of an operation. It determines transactions, retries, and dry runs; the HTTP method cannot, because
 * `GET /reviews/{id}/vote/up` changes data.
 * - `read`: changes nothing
 * - `repeatable`: changes data, but repeating the call has no further effect
 * - `once`: repeating the call changes data again; never retried without reading back first
 */
export type Effect = "read" | "repeatable" | "once";

/**
 * Who may call an operation.
 * - `open`: anyone
 * - `account`: anyone who names an app key
 * - `utoken`: holders of a utoken of the account
 * - `core`: holders of an access token, sent in `X-Service-Token`; rate limited per store
 *
 * Assumed: operations that the specification shows without a utoken are public, including reviews by `user_reference`,
 * the bottom lines of all products, and the batch call. A utoken sent with them is ignored unless the operation has
 * `acceptsUtoken` or honors idempotency keys.
 */
export type Auth = "open" | "account" | "utoken" | "core";

/**
 * The roles of credentials. Tokens of a credential may only make the calls that name its role; tokens of the account's own
 * secret may make all.
 * - `support`: moderation, answers, and what else customers ask for
 * - `importer`: what `starpost <records> import` and `plan`, and `starpost imports verify` and `undo` need
 * - `read-only`: nothing that changes data
 */
export const roles = ["support", "importer", "read-only"] as const;
export type Role = (typeof roles)[number];

/** How many elements of the input's `field` one call may carry. */
export interface Batch {
  readonly field: string;
  /** Recommended number of elements per call. Not enforced. */
  readonly recommended: number;
  /** Maximum number of elements per call; more are rejected with `invalidParams`. */
  readonly max?: number;
}

/**
 * A signed body, which the handler receives as the exact text that was sent. The text is one field of the input; the
 * headers that carry the signature are others.
 */
export interface SignedBody {
  /** The input field for the text. */
  readonly field: string;
  /** Input field to header name, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The schema of the JSON text. Used only for documentation. */
  readonly schema: z.ZodType;
}

/**
 * How to request the next page of a list.
 * - `page`: the input's `page`, from 1
 * - `since_id`: the input's `since_id` is the highest ID so far; without it, some lists start with the newest
 * - `page_info`: the output's `pagination.next_page_info` is the next input's `page_info`
 * - `start`: the input's `start` is the number of elements so far
 */
export interface Listing {
  /** The output field that contains the elements. */
  readonly items: string;
  /** Absent if the list is not paginated. */
  readonly by?: "page" | "since_id" | "page_info" | "start";
  /** The output omits the list if it is empty. */
  readonly mayBeAbsent?: boolean;
  /** The input field for the page size, and its maximum. */
  readonly size?: { readonly field: string; readonly max: number };
}

/** The confirmation prompt for an operation that deletes data irreversibly. */
export interface Destruction {
  /** An imperative sentence with input fields in braces: `Delete the group {group_name}`. */
  readonly question: string;
  /** The input field whose value the user must type to confirm. Set if a lot of data is deleted. */
  readonly typed?: string;
}

/** The confirmation prompt for an operation that replaces stored data; used only on live profiles. */
export interface Overwriting {
  /** As in `Destruction`. */
  readonly question: string;
  /** The input fields that make the call overwrite something. Default: every call does. */
  readonly ifAnyOf?: readonly string[];
}

/** How browsers and shared caches, such as a CDN, may reuse a response. */
export interface Caching {
  /** How long a response may be reused without asking the server, in seconds; 0 requires asking each time. */
  readonly maxAgeSeconds: number;
  /** How long after that it may still be reused while the cache requests a new one, in seconds. */
  readonly staleSeconds: number;
  /** Whether the response depends only on the URL and the version of the account. */
  readonly byVersion?: boolean;
}

/** One operation of the service, as data. Paths after the first are aliases. */
export interface Endpoint<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly summary: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly paths: readonly [string, ...string[]];
  readonly auth: Auth;
  /** The roles of tokens with which it may be called (default: all if it only reads, and returns no secret; otherwise none). */
  readonly roles: readonly Role[];
  readonly effect: Effect;
  /** Path, query, and body fields as one flat object, without the caller's credentials. */
  readonly input: I;
  readonly output: O;
  /** Other names that clients may send for input fields: the field of each name. */
  readonly inputAliases?: Readonly<Record<string, string>>;
  readonly reply: ReplyForm;
  readonly errorForm: ErrorForm;
  readonly batch?: Batch;
  /** The maximum size of the body, if it is not the usual one (`bodyLimitOf`). */
  readonly maxBodyBytes?: number;
  /** How to read all pages. Set for lists. */
  readonly listing?: Listing;
  /** Set if the operation deletes data irreversibly; interactive users must confirm first. */
  readonly destroys?: Destruction;
  /** Set if the operation can replace or remove stored data; on live profiles, users must confirm first. */
  readonly overwrites?: Overwriting;
  /** Input fields that contain a secret, as dotted paths. */
  readonly secretFields?: readonly string[];
  /**
   * Absent for operations of the specification. `own`: an operation of this product, under `extensionPrefix`;
   * `practice`: an operation that similar services have and that the specification implies.
   */
  readonly extension?: "own" | "practice";
  /** Paths that return an HTML page rendered from the same value. */
  readonly htmlPaths?: readonly string[];
  /** The page contains a form that submits the input fields. If the output has `problems`, the status is 422. */
  readonly hasForm?: boolean;
  /** The form contains files, whose fields are in base64. Browsers send it as `multipart/form-data`. */
  readonly hasFile?: boolean;
  /** The page redirects (302; 303 after a form) to the output's `url`, if it has one. */
  readonly redirects?: boolean;
  /** Supports HEAD by setting this input field, which makes the operation read-only. */
  readonly headField?: string;
  /** Responds in JSONP if the query has `callback`. */
  readonly supportsJsonp?: boolean;
  /** The input contains the account's secret, which authenticates the call. */
  readonly needsSecret?: boolean;
  /** The output contains a secret, so responses must not be cached. */
  readonly returnsSecret?: boolean;
  /** The body is signed and passed on unparsed. */
  readonly signedBody?: SignedBody;
  /** A utoken is optional; with a valid one, the caller is the store and may set more fields. */
  readonly acceptsUtoken?: boolean;
  /** Also accepts GET, with the input in the query. */
  readonly alsoGet?: boolean;
  /**
   * What the call does if anyone may make it, for the limits of calls without a token. `submissions` are reviews and
   * questions.
   */
  readonly publicKind?: "submissions" | "votes" | "images" | "sign-ups";
  /** Set for reads without a token whose responses caches may store. No other response may be stored. */
  readonly caching?: Caching;
  /** Lower maximum lengths of fields, for callers without a valid token. */
  readonly publicLengths?: Readonly<Record<string, number>>;
  /** Counts toward the CDN rate limit. Source: spec "Limits". */
  readonly isReadLimited?: boolean;
}

/** The method and the paths of an operation. */
export function route(method: Endpoint["method"], ...paths: Endpoint["paths"]): Pick<Endpoint, "method" | "paths"> {
  return { method, paths };
}

/** The path prefix of all operations that the specification does not define. */
export const extensionPrefix = "/starpost/v1";

type Fields = z.core.$ZodLooseShape;

/** The schema of an object, if only its fields are given. */
type SchemaOf<S extends z.ZodType | Fields> = S extends z.ZodType
  ? S
  : S extends Fields
    ? ReturnType<typeof z.object<S>>
    : never;

const noFields = {};
type NoFields = typeof noFields;

/**
 * An endpoint as declared: its schemas, or the fields of objects, are built on first use. By default, it requires a utoken, has
 * no input, and returns only a status, or else an enveloped output. The path shows whether this product defines it.
 */
type Declared<I, O> = Omit<Endpoint, "auth" | "errorForm" | "input" | "output" | "reply" | "roles"> &
  Partial<Pick<Endpoint, "auth" | "errorForm" | "reply" | "roles">> & {
    readonly input?: () => I;
    readonly output?: () => O;
  };

export function endpoint<I extends z.ZodType | Fields = NoFields, O extends z.ZodType | Fields = NoFields>(
  declared: Declared<I, O>,
): Endpoint<SchemaOf<I>, SchemaOf<O>> {
  const toSchema = <S extends z.ZodType | Fields>(build: (() => S) | undefined) =>
    lazily(() => {
      const given = build?.() ?? noFields;
      return (given instanceof z.ZodType ? given : z.object(given)) as SchemaOf<S>;
    });
  const [input, output] = [toSchema(declared.input), toSchema(declared.output)];
  return {
    auth: "utoken",
    roles: declared.effect === "read" && !declared.returnsSecret ? roles : [],
    errorForm: "status",
    ...(declared.paths[0].startsWith(extensionPrefix) && { extension: "own" as const }),
    reply: declared.output ? enveloped : statusOnly,
    ...declared,
    get input() {
      return input();
    },
    get output() {
      return output();
    },
  };
}

/**
 * Wire names of the caller's credentials, which are not part of the input.
 * Source: spec "General conventions" 6 and "Authentication" 2 and 6.
 */
export const callerNames = {
  appKey: ["app_key", "appkey", "store_id"],
  utoken: ["utoken"],
  tokenHeader: "x-service-token",
  /**
   * The person or job that changes data, for histories. Not part of the specification, and ignored without a token. Text
   * other than ASCII is percent-encoded UTF-8.
   */
  byHeader: "starpost-by",
} as const;

/** Encodes the header that names who changes data. */
export function encodeBy(by: string | undefined): Readonly<Record<string, string>> {
  return by === undefined ? {} : { [callerNames.byHeader]: by.replace(/[^ -~]|%/gu, encodeURIComponent) };
}

/** Decodes the header that names who changes data. Other clients may send UTF-8, and `%` as it is. */
export function decodeBy({ [callerNames.byHeader]: header }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof header !== "string" || header === "") return undefined;
  // Node.js reads headers as Latin-1.
  const bytes = Buffer.from(header, "latin1");
  const text = isUtf8(bytes) ? bytes.toString() : header;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const appKeyNames: ReadonlySet<string> = new Set(callerNames.appKey);

/** Whether an operation requires a token, or does more for a call with one. */
export function honorsToken(operation: Endpoint): boolean {
  const { auth, acceptsUtoken = false } = operation;
  return auth === "utoken" || auth === "core" || acceptsUtoken;
}

/** Names and limits of idempotency keys. Assumed (not in the specification): they work as in the Stripe API. */
export const idempotencyKeys = {
  /** The request header; responses of calls that honored the key repeat it. */
  header: "idempotency-key",
  /** The field of the body that counts as the header, because forms of pages cannot send headers. */
  field: "idempotency_key",
  /** The response header that marks the response of an earlier call. */
  replayHeader: "idempotent-replayed",
  maxLength: 255,
  /** The minimum length of a key without a token, so that nobody can guess it: 128 bits in Base64. */
  minPublicLength: 22,
  lifetimeMs: dayMs,
} as const;

/**
 * Whether an operation honors idempotency keys: each POST that changes data, except public ones that anyone can repeat
 * without harm. Without a token of the account, only those of reviews and questions do.
 */
export function acceptsIdempotencyKey({ method, effect, auth, acceptsUtoken = false, publicKind }: Endpoint): boolean {
  if (method !== "POST" || effect === "read" || auth === "open") return false;
  return auth !== "account" || (effect === "once" && (acceptsUtoken || publicKind === "submissions"));
}
