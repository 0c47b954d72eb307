import type { IncomingHttpHeaders } from "node:http";
import {
  type Endpoint,
  type ErrorKind,
  errorKinds,
  type ErrorPosition,
  parseErrorSubject,
  ServiceError,
  asFields,
  isJsonObject,
} from "../contract/index.ts";
import { readRetryAfterMs, readServiceLimit, serviceWaits } from "./service-limit.ts";

/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The request of a response, as needed for error messages. */
export interface RequestInfo {
  /** The address of the service, as shown to users. */
  readonly service: string;
  /** Names who responded, if it may be a proxy (default: the service). */
  readonly responder?: string;
  /** Without the query. */
  readonly path: string;
  /** Never shown, even if the response repeats it. */
  readonly utoken: string | undefined;
  readonly nowMs: number;
}

/** Statuses with which the service, or a gateway in front of it, may have carried out the call. */
const unknownOutcomeStatuses: ReadonlySet<number> = new Set([408, 500, 502, 504]);

/**
 * Parses the value in a response.
 * @throws ServiceError of the kind in the response, or `unexpectedAnswer` if the response does not match the contract
 */
export function parseResponse(response: HttpResponse, request: RequestInfo & { readonly endpoint: Endpoint }): unknown {
  const { status } = response;
  if (isRedirect(status)) throw redirected(response, request);
  const body = request.endpoint.reply.media === "bytes" ? readBytes(response) : readJson(response, request.endpoint);
  if (request.endpoint.extension === "own" && lacksPath(status, body)) throw lacksOperation(request);
  if (!body) throw notJson(response, request);
  const error = parseErrorBody(status, body);
  if (error) throw refused(error, response, request);
  if (status >= 400) throw refusedWithoutError(response, request);
  const parsed = request.endpoint.output.safeParse(request.endpoint.reply.decode(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw new ServiceError(
    "unexpectedAnswer",
    `${request.service} sent a response that does not match the API (${field}: ${issue?.message ?? "unknown"})`,
    { outcomeUnknown: true },
  );
}

/** Parses the error in a response of any format. Returns undefined if the call was not refused. */
export function parseRefusal(response: HttpResponse, request: RequestInfo): ServiceError | undefined {
  const { status, headers, bytes } = response;
  if (isRedirect(status)) return redirected(response, request);
  const isJson = status >= 400 || /\bjson\b/i.test(headers["content-type"] ?? "");
  const body = isJson ? parse(bytes) : undefined;
  const isObject = isJsonObject(body);
  const error = isObject ? parseErrorBody(status, body) : undefined;
  if (error) return refused(error, response, request);
  if (status < 400) return undefined;
  // The response to a HEAD request has no body.
  return bytes.length > 0 && !isObject ? notJson(response, request) : refusedWithoutError(response, request);
}

/** A 404 in another format probably means that the address of the service is wrong. */
function refusedWithoutError(response: HttpResponse, request: RequestInfo): ServiceError {
  const { status } = response;
  const kind = status === 404 ? "unexpectedAnswer" : kindOfHttpStatus(status);
  return refused({ kind, message: describe(response, request) }, response, request);
}

/** Whether a service has no such path. Own operations name the record that they do not find. */
function lacksPath(status: number, body: Fields | undefined): boolean {
  const error = body && parseErrorBody(status, body);
  if (!error) return status === 404 || status === 405;
  const { kind, message } = error;
  if (kind === "recordNotFound") return parseErrorSubject(kind, message).record === undefined;
  return kind === "unknownPath" || kind === "methodNotAllowed";
}

function lacksOperation({ service, endpoint }: RequestInfo & { readonly endpoint: Endpoint }): ServiceError {
  const { method, paths } = endpoint;
  return new ServiceError(
    "unknownPath",
    `${service} does not support ${method} ${paths[0]}, an extension of starpost`,
    { hint: "if the service is starpost, update it, and check its address: starpost auth status" },
  );
}

/** 304 (not modified) is not a redirect. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Parses an object, or a list if that is the call's response format and the call was not refused. */
function readJson({ status, bytes }: HttpResponse, { reply }: Endpoint): Fields | undefined {
  const parsed = parse(bytes);
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const isList = status < 400 && Array.isArray(reply.encode({}));
  return Array.isArray(parsed) === isList ? (parsed as Fields) : undefined;
}

/** Parses binary content, or an error in JSON. Text does not come from this API. */
function readBytes({ status, headers, bytes }: HttpResponse): Fields | undefined {
  const type = headers["content-type"] ?? "";
  if (status < 400 && type !== "" && !/^text\/|\bjson\b/i.test(type)) {
    return { content_type: type, bytes };
  }
  const parsed = parse(bytes);
  const isRefusal = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) && status >= 400;
  return isRefusal ? (parsed as Fields) : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

function refused(
  { kind, message: text, position }: ErrorBody,
  { status, headers }: HttpResponse,
  { nowMs, utoken }: RequestInfo,
): ServiceError {
  const message = hideToken(text, { utoken });
  const retryAfterMs = Math.max(
    readRetryAfterMs(headers, nowMs) ?? 0,
    status === 429 ? (readServiceLimit(headers, nowMs)?.resetInMs ?? 0) : 0,
  );
  // With a permanent error, nothing was carried out.
  const isTemporary = new ServiceError(kind, "").temporary;
  // An error with a success status counts as if it had the status of its kind.
  const effectiveStatus = status < 400 ? errorKinds[kind].http : status;
  return new ServiceError(kind, message, {
    ...parseErrorSubject(kind, message),
    position,
    outcomeUnknown: isTemporary && unknownOutcomeStatuses.has(effectiveStatus),
    ...(isTemporary && retryAfterMs > serviceWaits.eachMs && { hint: describeLongWait(nowMs + retryAfterMs) }),
    ...(retryAfterMs > 0 && { retryAfterMs }),
  });
}

function describeLongWait(untilMs: number): string {
  const time = new Date(untilMs).toISOString().slice(0, 19);
  return `the service asks to be called again at ${time}Z; starpost waits at most ${serviceWaits.eachMs / 60_000} minutes`;
}

function redirected({ status, headers }: HttpResponse, { service, path }: RequestInfo): ServiceError {
  const { location = "" } = headers;
  const to = location !== "" && URL.canParse(location, service + path) ? new URL(location, service + path) : undefined;
  // Without the query, which may contain the utoken.
  const target = to && `${to.origin}${to.pathname}`;
  const base = target?.endsWith(path) ? target.slice(0, -path.length) : target;
  return new ServiceError("unexpectedAnswer", `${service} redirects (${status}) to ${target ?? "an invalid address"}`, {
    hint: base ? `change the address of the service to ${base}` : "change the address of the service",
  });
}

function notJson(response: HttpResponse, request: RequestInfo): ServiceError {
  const { status, headers } = response;
  const isJsonType = /\bjson\b/i.test(headers["content-type"] ?? "");
  if (status < 300 && isJsonType) {
    return new ServiceError("unavailable", `the response of ${request.service} is incomplete`, {
      outcomeUnknown: true,
    });
  }
  // A gateway has its own limits and error format.
  const isGateway = status === 413 || status === 429 || status >= 502;
  const kind = isGateway ? kindOfHttpStatus(status) : "unexpectedAnswer";
  if (kind !== "unexpectedAnswer") return refused({ kind, message: describe(response, request) }, response, request);
  return new ServiceError("unexpectedAnswer", describe(response, request), {
    // A gateway may have forwarded the call.
    outcomeUnknown: status < 300 || status === 500,
    hint: "check the address of the service, and whether a proxy or gateway responds instead",
  });
}

/** Shorter tokens can be guessed, and may occur in ordinary text. */
const minTokenLength = 8;

function hideToken(text: string, { utoken = "" }: Pick<RequestInfo, "utoken">): string {
  return utoken.length < minTokenLength ? text : text.replaceAll(utoken, "…");
}

const excerptLength = 80;

/** How much of a response is decoded for the excerpt, in bytes. */
const maxDecodedBytes = 4_096;

function describe(
  { status, headers, bytes }: HttpResponse,
  { service, responder = service, utoken = "" }: RequestInfo,
): string {
  const type = headers["content-type"] ?? "no content type";
  // Includes all of a token that begins within the limit.
  const decoded = bytes.subarray(0, maxDecodedBytes + utoken.length);
  // Drops a character that was cut off at the end.
  const text = new TextDecoder().decode(decoded, { stream: true });
  const safeText = hideToken(text, { utoken });
  const excerpt = safeText
    .slice(0, maxDecodedBytes)
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, excerptLength);
  if (bytes.length === 0) return `${responder} responded with status ${status} and no body`;
  return `${responder} responded with status ${status} and ${type} instead of the API's JSON${excerpt === "" ? "" : `: ${excerpt}`}`;
}

/** An error in the body of a response. */
export interface ErrorBody {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly position?: ErrorPosition | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const kindOfType: ReadonlyMap<unknown, ErrorKind> = new Map(
  Object.entries(errorKinds).map(([kind, { type }]) => [type, kind as ErrorKind]),
);

const kindOfStatus: Readonly<Record<number, ErrorKind>> = {
  400: "invalidParams",
  401: "unauthorized",
  403: "unauthorized",
  404: "recordNotFound",
  405: "methodNotAllowed",
  408: "timeout",
  413: "bodyTooLarge",
  415: "unsupportedMediaType",
  422: "invalidParams",
  429: "tooManyRequests",
  500: "internal",
  502: "unavailable",
  503: "unavailable",
  504: "timeout",
  507: "storageFailed",
};

/** Derives the kind of an error from the HTTP status alone. */
export function kindOfHttpStatus(status: number): ErrorKind {
  return kindOfStatus[status] ?? (status >= 500 ? "internal" : "unexpectedAnswer");
}

/**
 * Parses an error in any of the three formats, or returns undefined if the body is not an error.
 * The HTTP status is not sufficient: a service may send an error with status 200.
 */
export function parseErrorBody(status: number, body: Fields): ErrorBody | undefined {
  if (typeof body["error"] === "string") {
    const kind = kindOfType.get(body["error"]) ?? kindOfHttpStatus(status);
    return { kind, message: body["error"] };
  }
  const nested = asFields(body["status"]);
  const code = Number(nested["code"]);
  if (nested["error_type"] !== undefined || code >= 400) {
    const kind = kindOfType.get(nested["error_type"]) ?? kindOfHttpStatus(status >= 400 ? status : code);
    return { kind, message: readMessage(nested, kind), position: readPosition(nested["position"]) };
  }
  if (status < 400 || !Array.isArray(body["errors"])) return undefined;
  const kind = kindOfHttpStatus(status);
  return { kind, message: readMessage(asFields(body["errors"][0]), kind) };
}

function readMessage(fields: Fields, kind: ErrorKind): string {
  return typeof fields["message"] === "string" ? fields["message"] : `the service returned the error ${kind}`;
}

function readPosition(value: unknown): ErrorPosition | undefined {
  const { field, line, column, problem } = asFields(value);
  const isPosition = typeof field === "string" && typeof problem === "string";
  if (!isPosition || !Number.isSafeInteger(line) || !Number.isSafeInteger(column)) return undefined;
  return { field, line: line as number, column: column as number, problem };
}
