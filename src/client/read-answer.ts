import type { IncomingHttpHeaders } from "node:http";
import {
  type Endpoint,
  type ErrorKind,
  errorKinds,
  parseErrorSubject,
  ServiceError,
} from "../contract/index.ts";
import { kindOfHttpStatus, readErrorBody } from "./error-body.ts";
import { readRetryAfterMs, readServiceLimit } from "./service-limit.ts";

/** What came back, whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The parts of a request that error messages name. */
export interface Asked {
  /** The displayed URL of the service. */
  readonly service: string;
  /** The displayed sender of the response, if it may be a proxy. */
  readonly answerer?: string;
  /** Path without the query. */
  readonly path: string;
  /** Removed from messages, even if the response repeats it. */
  readonly utoken: string | undefined;
  readonly nowMs: number;
}

type Fields = Record<string, unknown>;

/** With these the service, or what stands before it, may have carried the call out. */
const unknownOutcomeStatuses: ReadonlySet<number> = new Set([408, 500, 502, 504]);

/**
 * Takes the value out of an answer.
 * @throws ServiceError of the kind that the answer tells, or `unexpectedAnswer` when it is none of this API
 */
export function readAnswer(answer: Answer, asked: Asked & { readonly endpoint: Endpoint }): unknown {
  const { status } = answer;
  if (isRedirect(status)) throw redirected(answer, asked);
  const body = asked.endpoint.reply.media === "bytes" ? readBytes(answer) : readJson(answer, asked.endpoint);
  if (!body) throw notJson(answer, asked);
  const failure = readErrorBody(status, body);
  // Without its form it is not this API's error, and a 404 rather says that the address is wrong.
  if (failure) throw refused(failure.kind, hideToken(failure.message, asked), { answer, asked });
  if (status >= 400) {
    const kind = status === 404 ? "unexpectedAnswer" : kindOfHttpStatus(status);
    throw refused(kind, describe(answer, asked), { answer, asked });
  }
  const parsed = asked.endpoint.output.safeParse(asked.endpoint.reply.decode(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") ?? "";
  throw new ServiceError(
    "unexpectedAnswer",
    `${asked.service} answers in a form that is not this API's (${where}: ${issue?.message ?? "unknown"})`,
    { outcomeUnknown: true },
  );
}

/** What an answer of any form says was wrong; nothing where it is no refusal. */
export function readRefusal(answer: Answer, asked: Asked): ServiceError | undefined {
  const { status, headers, bytes } = answer;
  if (isRedirect(status)) return redirected(answer, asked);
  const isJson = status >= 400 || /\bjson\b/i.test(headers["content-type"] ?? "");
  const body = isJson ? parse(bytes) : undefined;
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  const failure = isObject ? readErrorBody(status, body as Fields) : undefined;
  if (failure) return refused(failure.kind, hideToken(failure.message, asked), { answer, asked });
  if (status < 400) return undefined;
  // A HEAD is refused without a body.
  return bytes.length > 0 && !isObject
    ? notJson(answer, asked)
    : refused(status === 404 ? "unexpectedAnswer" : kindOfHttpStatus(status), describe(answer, asked), {
        answer,
        asked,
      });
}

/** 304 is none: nothing has changed. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** An object, or a list where the call's own answer is one and was not refused. */
function readJson({ status, bytes }: Answer, { reply }: Endpoint): Fields | undefined {
  const parsed = parse(bytes);
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const isList = status < 400 && Array.isArray(reply.encode({}));
  return Array.isArray(parsed) === isList ? (parsed as Fields) : undefined;
}

/** Bytes come under a type of their own; a refusal is JSON, and a page of text comes from elsewhere. */
function readBytes({ status, headers, bytes }: Answer): Fields | undefined {
  const type = headers["content-type"] ?? "";
  if (status < 400 && type !== "" && !/^text\/|\bjson\b/i.test(type)) {
    return { content_type: type, base64: bytes.toString("base64") };
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
  kind: ErrorKind,
  message: string,
  { answer: { status, headers }, asked: { nowMs } }: { readonly answer: Answer; readonly asked: Asked },
): ServiceError {
  const retryAfterMs = Math.max(
    readRetryAfterMs(headers, nowMs) ?? 0,
    status === 429 ? (readServiceLimit(headers, nowMs)?.resetInMs ?? 0) : 0,
  );
  // A refusal that waiting does not mend says that nothing was done.
  const isTemporary = new ServiceError(kind, "").temporary;
  // An error under a status of success says as much as under its own.
  const said = status < 400 ? errorKinds[kind].http : status;
  return new ServiceError(kind, message, {
    ...parseErrorSubject(kind, message),
    outcomeUnknown: isTemporary && unknownOutcomeStatuses.has(said),
    ...(retryAfterMs > 0 && { retryAfterMs }),
  });
}

function redirected({ status, headers }: Answer, { service, path }: Asked): ServiceError {
  const target = readLocation(headers.location, service + path);
  const base = target?.endsWith(path) ? target.slice(0, -path.length) : target;
  return new ServiceError("unexpectedAnswer", `${service} redirects (${status}) to ${target ?? "nowhere"}`, {
    hint: base ? `change the address of the service to ${base}` : "change the address of the service",
  });
}

/** The address without its query, in which the utoken may stand. */
function readLocation(location: string | undefined, from: string): string | undefined {
  if (!location || !URL.canParse(location, from)) return undefined;
  const { origin, pathname } = new URL(location, from);
  return `${origin}${pathname}`;
}

function notJson(answer: Answer, asked: Asked): ServiceError {
  const { status, headers } = answer;
  const isJsonType = /\bjson\b/i.test(headers["content-type"] ?? "");
  if (status < 300 && isJsonType) {
    return new ServiceError("unavailable", `the answer of ${asked.service} broke off`, {
      outcomeUnknown: true,
    });
  }
  // What stands before a service has limits of its own, and says so in its own words.
  const isGateway = status === 413 || status === 429 || status >= 502;
  const gatewayKind = isGateway ? kindOfHttpStatus(status) : "unexpectedAnswer";
  if (gatewayKind !== "unexpectedAnswer")
    return refused(gatewayKind, describe(answer, asked), { answer, asked });
  return new ServiceError("unexpectedAnswer", describe(answer, asked), {
    // Whatever answered, it may have passed the call on before.
    outcomeUnknown: status < 300 || status === 500,
    hint: "see that the address is that of the service, and that nothing stands between",
  });
}

/** Shorter ones are no secret to anybody who can count, and stand in any word. */
const shortestToken = 8;

function hideToken(text: string, { utoken = "" }: Pick<Asked, "utoken">): string {
  return utoken.length < shortestToken ? text : text.replaceAll(utoken, "…");
}

const shownCharacters = 80;

/** How much of an answer is looked at for what is shown of it; it may be of any length. */
const readBytesAtMost = 4_096;

function describe(
  { status, headers, bytes }: Answer,
  { service, answerer = service, utoken = "" }: Asked,
): string {
  const type = headers["content-type"] ?? "no content type";
  // Includes a token that starts within the inspected bytes completely.
  const looked = bytes.subarray(0, readBytesAtMost + utoken.length);
  // Omits a character that is cut off at the end.
  const text = new TextDecoder().decode(looked, { stream: true });
  const start = hideToken(text, { utoken })
    .slice(0, readBytesAtMost)
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim()
    .slice(0, shownCharacters);
  if (bytes.length === 0) return `${answerer} answers ${status} without a body`;
  return `${answerer} answers ${status} with ${type}, not this API's JSON${start === "" ? "" : `: ${start}`}`;
}
