/**
 * Every kind of service error.
 * `http` is the HTTP status, `type` is the wire's `error_type` (or the OAuth error code), and `temporary` states
 * whether retrying may succeed.
 * Source: spec "Errors"; kinds marked (own) are specific to this product.
 * Assumed: the HTTP status equals the body's code if the specification states none; OAuth errors use the statuses of
 * OAuth 2.0.
 */
export const errorKinds = {
  invalidParams: { http: 500, type: "Exceptions::InvalidParams", temporary: false },
  recordNotFound: { http: 404, type: "Exceptions::RecordNotFound", temporary: false },
  featureDisabled: { http: 401, type: "Exceptions::FeatureDisabled", temporary: false },
  unauthorized: { http: 401, type: "Exceptions::AccessDenied", temporary: false },
  unsupportedGrant: { http: 400, type: "unsupported_grant_type", temporary: false },
  invalidClient: { http: 401, type: "invalid_client", temporary: false },
  tooManyRequests: { http: 429, type: "Exceptions::TooManyRequests", temporary: true },
  internal: { http: 500, type: "Exceptions::InternalError", temporary: true },
  /** (own) The role of the token does not permit the call. */
  roleDenied: { http: 401, type: "Exceptions::RoleDenied", temporary: false },
  /** (own) The body cannot be parsed. */
  malformedBody: { http: 400, type: "Exceptions::MalformedBody", temporary: false },
  /** (own) The idempotency key is too long, or belongs to a call with another input. */
  invalidIdempotencyKey: { http: 422, type: "Exceptions::InvalidIdempotencyKey", temporary: false },
  /** (own) */
  bodyTooLarge: { http: 413, type: "Exceptions::BodyTooLarge", temporary: false },
  /** (own) */
  unsupportedMediaType: { http: 415, type: "Exceptions::UnsupportedMediaType", temporary: false },
  /** (own) */
  unknownPath: { http: 404, type: "Exceptions::UnknownPath", temporary: false },
  /** (own) */
  methodNotAllowed: { http: 405, type: "Exceptions::MethodNotAllowed", temporary: false },
  /** (own) The service or its database is locked, stopping, or unreachable. */
  unavailable: { http: 503, type: "Exceptions::Unavailable", temporary: true },
  /** (own) The database needs manual intervention: it is full, read-only, damaged, or not a starpost database. */
  storageFailed: { http: 507, type: "Exceptions::StorageFailed", temporary: false },
  /** (own) No response in time; it is unknown whether the call was carried out. */
  timeout: { http: 504, type: "Exceptions::Timeout", temporary: true },
  /** (own) The response is not one of this API, such as HTML, a truncated body, or a redirect. */
  unexpectedAnswer: { http: 502, type: "Exceptions::UnexpectedAnswer", temporary: false },
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** The kinds of errors about the credentials of a call. One about a missing record may concern the account. */
export const credentialErrors: ReadonlySet<ErrorKind> = new Set([
  "unauthorized",
  "roleDenied",
  "invalidClient",
  "recordNotFound",
]);

/** The wire form of an error: `{status:{…}}`, `{error}` or `{errors:[{message}]}`. */
export type ErrorForm = "status" | "oauth" | "core";

/** The message of an `unauthorized` error. Source: practice of services of this kind. */
export const unauthorizedMessage = "You are not authorized to access this page.";

/** The message of a 429 response. Source: spec "Errors". */
export const tooManyRequestsMessage = "Too Many Requests";

/** A record that a call can fail to find, by the name that the wire's messages use. */
export type RecordName =
  | "Account"
  | "Answer"
  | "Campaign"
  | "Comment"
  | "Coupon"
  | "Credential"
  | "Delivery"
  | "Image"
  | "Mail"
  | "Order"
  | "Product"
  | "ProductsApp"
  | "ProductsGroup"
  | "Question"
  | "Review"
  | "Rule"
  | "User"
  | "Webhook";

/** Where a text that was sent is invalid. Lines and columns start at 1. */
export interface ErrorPosition {
  /** The input field that contains the text. */
  readonly field: string;
  readonly line: number;
  readonly column: number;
  /** The problem, without the position. */
  readonly problem: string;
}

/** What an error is about, as data, so that nothing needs to match on its message. */
export interface ErrorSubject {
  /** The input field that is missing or invalid, as a dotted path. */
  readonly field?: string | undefined;
  /** The kind of record that was not found. */
  readonly record?: RecordName | undefined;
  /** The position of the error in a text. */
  readonly position?: ErrorPosition | undefined;
}

export interface ServiceErrorOptions extends ErrorSubject {
  readonly retryAfterMs?: number | undefined;
  readonly outcomeUnknown?: boolean;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** A call that was refused or failed. An invalid row in a bulk call is not an error: it is returned as data. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  /** How long to wait before retrying, in milliseconds, if the service specified it. */
  readonly retryAfterMs: number | undefined;
  /** True if no response was received and the request may have been carried out. */
  readonly outcomeUnknown: boolean;
  /** What the user can do about the error. */
  readonly hint: string | undefined;
  readonly field: string | undefined;
  readonly record: RecordName | undefined;
  readonly position: ErrorPosition | undefined;

  constructor(kind: ErrorKind, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.hint = options.hint;
    this.field = options.field;
    this.record = options.record;
    this.position = options.position;
  }

  get temporary(): boolean {
    return errorKinds[this.kind].temporary;
  }
}

/** A `recordNotFound` error with the message that the wire uses. `suffix` follows the value. */
export function recordNotFound(record: RecordName, key: string, value: string | number, suffix = ""): ServiceError {
  return new ServiceError("recordNotFound", `Couldn't find ${record} with ${key} = ${value}${suffix}`, {
    record,
  });
}

/** An `invalidParams` error about a field that was not sent. Source: spec "Errors". */
export function missingField(field: string): ServiceError {
  return new ServiceError("invalidParams", `Missing ${field}`, { field });
}

/** An `invalidParams` error about the value of a field. `problem` continues a sentence that starts with the field. */
export function invalidField(field: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError("invalidParams", `${field} ${problem}`, { field, cause });
}

/**
 * Restores `record` and `field` of an error that arrived over HTTP. Error bodies do not carry them, so this is the
 * inverse of `recordNotFound` and `missingField`, and the only place that parses messages.
 */
export function parseErrorSubject(kind: ErrorKind, message: string): ErrorSubject {
  if (kind === "recordNotFound") {
    return { record: /^Couldn't find (\w+)/.exec(message)?.[1] as RecordName | undefined };
  }
  if (kind === "invalidParams") return { field: /^Missing ([\w.]+)/.exec(message)?.[1] };
  return {};
}

/**
 * The HTTP status of an error.
 * Assumed: invalid parameters of a core API call are a 400, because its error bodies have no type to distinguish them
 * from internal errors.
 */
export function httpStatusOf(kind: ErrorKind, form: ErrorForm): number {
  return kind === "invalidParams" && form === "core" ? 400 : errorKinds[kind].http;
}

/** Encodes an error as a response body. A 429 has the same body in every form. */
export function encodeError(error: ServiceError, form: ErrorForm): Record<string, unknown> {
  const { http, type } = errorKinds[error.kind];
  if (error.kind === "tooManyRequests" || form === "core") return { errors: [{ message: error.message }] };
  const isOAuthError = error.kind === "unsupportedGrant" || error.kind === "invalidClient";
  if (form === "oauth" && isOAuthError) return { error: type };
  const { message, position } = error;
  return { status: { message, code: http, error_type: type, ...(position && { position }) } };
}
