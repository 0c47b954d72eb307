/**
 * Every way in which a call is refused, in one table.
 * `http` is the status line, `type` the wire's `error_type` (or the OAuth error code),
 * `temporary` whether the same call may succeed later.
 * Source: spec "Errors"; kinds marked (own) are this product's.
 * Assumed: the HTTP status is the body's code where the specification gives none, and for an OAuth error that of
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
  /** (own) The body is not the JSON it says it is. */
  malformedBody: { http: 400, type: "Exceptions::MalformedBody", temporary: false },
  /** (own) */
  bodyTooLarge: { http: 413, type: "Exceptions::BodyTooLarge", temporary: false },
  /** (own) */
  unsupportedMediaType: { http: 415, type: "Exceptions::UnsupportedMediaType", temporary: false },
  /** (own) */
  unknownPath: { http: 404, type: "Exceptions::UnknownPath", temporary: false },
  /** (own) */
  methodNotAllowed: { http: 405, type: "Exceptions::MethodNotAllowed", temporary: false },
  /** (own) The service, or its database, cannot answer now: locked, stopping, out of reach. */
  unavailable: { http: 503, type: "Exceptions::Unavailable", temporary: true },
  /** (own) The database cannot take or give data until a person sees to it: full, read-only, damaged, not ours. */
  storageFailed: { http: 507, type: "Exceptions::StorageFailed", temporary: false },
  /** (own) No answer in the time allowed; whether the call was carried out is not known. */
  timeout: { http: 504, type: "Exceptions::Timeout", temporary: true },
  /** (own) What answered does not speak this API: HTML, half a body, a redirect. */
  unexpectedAnswer: { http: 502, type: "Exceptions::UnexpectedAnswer", temporary: false },
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** The wire form of an error: `{status:{…}}`, `{error}` or `{errors:[{message}]}`. */
export type ErrorForm = "status" | "oauth" | "core";

/** What an unauthorised caller is told. Source: practice of services of this kind. */
export const unauthorizedMessage = "You are not authorized to access this page.";

/** The body of a 429. Source: spec "Errors". */
export const tooManyRequestsMessage = "Too Many Requests";

/** A call that was refused, or could not be carried out, as a whole. A bad row is not one: it is returned data. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  /** Wait this long before the next try, where the service said so; milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** True when the request may have been carried out although no answer was seen. */
  readonly outcomeUnknown: boolean;
  /** What the person can do about it. */
  readonly hint: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { retryAfterMs?: number; outcomeUnknown?: boolean; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.hint = options.hint;
  }

  get temporary(): boolean {
    return errorKinds[this.kind].temporary;
  }
}

/**
 * The HTTP status of an error.
 * Assumed: invalid parameters of a core call are a 400, since its error bodies have no type that would tell them from
 * an internal error.
 */
export function httpStatusOf(kind: ErrorKind, form: ErrorForm): number {
  return kind === "invalidParams" && form === "core" ? 400 : errorKinds[kind].http;
}

/** The wire body of an error. A 429 has the same body in every form. */
export function encodeError(error: ServiceError, form: ErrorForm): Record<string, unknown> {
  const { http, type } = errorKinds[error.kind];
  if (error.kind === "tooManyRequests" || form === "core") return { errors: [{ message: error.message }] };
  const isOAuthError = error.kind === "unsupportedGrant" || error.kind === "invalidClient";
  if (form === "oauth" && isOAuthError) return { error: type };
  return { status: { message: error.message, code: http, error_type: type } };
}
