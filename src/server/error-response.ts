import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { RequestTurns } from "./request-turns.ts";
import {
  bodyLimits,
  defaultBrand,
  encodeError,
  type ErrorForm,
  type ErrorKind,
  httpStatusOf,
  readAcceptLanguage,
  ServiceError,
} from "../contract/index.ts";
import { policyOf, renderDocument } from "../pages/document.ts";
import { errorPage, type PageError } from "../pages/error-page.ts";
import { createPageContext } from "../pages/page-context.ts";

const kindOfFrameworkCode: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupportedMediaType", "send Content-Type: application/json"],
  FST_ERR_CTP_INVALID_JSON_BODY: ["malformedBody", "the body is not JSON"],
  FST_ERR_BAD_URL: ["unknownPath", "the path is not well formed"],
  FST_ERR_MAX_PARAM_LENGTH: ["unknownPath", "the path is too long"],
};

/** Converts any error. A bug becomes `internal`. */
function toServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  const known = code === undefined ? undefined : kindOfFrameworkCode[code];
  if (known) return new ServiceError(...known, { cause: error });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ServiceError("malformedBody", "the request could not be read", { cause: error });
  }
  return new ServiceError("internal", `internal error (request ${requestId})`, { cause: error });
}

interface RefusedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly form: ErrorForm;
  readonly log: Logger;
  readonly turns: RequestTurns;
}

/**
 * Waits for the turn of a refused request.
 * @returns the error in the form of the path, or as a page for browsers; of a bug, only the request ID is disclosed
 */
export async function refuse(error: unknown, { request, reply, form, log, turns }: RefusedRequest): Promise<unknown> {
  await turns.waitToRefuse(request);
  const refusal = toServiceError(error, request.id);
  const { kind } = refusal;
  const status = httpStatusOf(kind, form);
  if (refusal !== error && kind === "internal") {
    // Only what locates the bug: other fields of an error may contain personal data.
    const { name, message, stack } = error as Error;
    log.error(
      { id: request.id, ...(error instanceof Error ? { name, message, stack } : { thrown: typeof error }) },
      "bug",
    );
  } else if (kind === "unavailable" && refusal.cause !== undefined) {
    if (isNew(refusal.message)) log.warn({ id: request.id, kind, why: refusal.message }, "calls fail");
  } else if (kind === "storageFailed") log.error({ id: request.id, kind, why: refusal.message }, "refused");
  else log.debug({ id: request.id, kind }, "refused");
  const retryAfterSeconds = addRetryAfter(refusal, reply.code(status));
  leaveUnread(request, reply);
  if (!isForReader(request)) return encodeError(refusal, form);
  // Otherwise, search engines would take the server for broken.
  if (kind === "invalidParams") void reply.code(400);
  return toErrorPage({ kind, retryAfterSeconds }, request, reply);
}

/**
 * Whether a person reads the response. Browsers accept HTML, and also XHTML, which programs that accept HTML do not. Paths of
 * calls answer everyone else with JSON.
 */
function isForReader({ headers: { accept = "" }, is404, routeOptions: { config } }: FastifyRequest): boolean {
  if (!accept.includes("text/html")) return false;
  return is404 || config?.isPage === true || accept.includes("application/xhtml+xml");
}

/** The page is in the language of the reader, but in no shop's design, because the shop may be unknown. */
function toErrorPage(
  error: Pick<PageError, "kind" | "retryAfterSeconds">,
  { id, method, headers, routeOptions: { config } }: FastifyRequest,
  reply: FastifyReply,
): string {
  const context = createPageContext(defaultBrand, readAcceptLanguage(headers["accept-language"]) ?? "en");
  const isForm = method === "POST" && config?.isPage === true;
  void reply.type("text/html; charset=utf-8").headers({
    "content-security-policy": policyOf("personal"),
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  return renderDocument(errorPage({ ...error, requestId: id, isForm }, context), context);
}

/** States after which time to try again, in seconds, if the error and the status do. */
export function addRetryAfter({ retryAfterMs }: ServiceError, reply: FastifyReply): number | undefined {
  if (retryAfterMs === undefined || (reply.statusCode !== 429 && reply.statusCode !== 503)) return undefined;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  // Scripts of shops can read it, to show shoppers how long to wait.
  void reply.headers({ "retry-after": seconds, "access-control-expose-headers": "retry-after" });
  return seconds;
}

/** How often the same problem is logged, in milliseconds. */
const logEveryMs = 60_000;

/** When each problem was last logged. Their texts contain nothing of calls, so they are few. */
const loggedMs = new Map<string, number>();

function isNew(problem: string): boolean {
  const nowMs = performance.now();
  if (nowMs - (loggedMs.get(problem) ?? Number.NEGATIVE_INFINITY) < logEveryMs) return false;
  loggedMs.set(problem, nowMs);
  return true;
}

/** As `refuse`, for handlers that send the response themselves. */
export function sendRefusal(error: unknown, refused: RefusedRequest): void {
  void refuse(error, refused).then((body) => void refused.reply.send(body));
}

/** How long a client can receive the response before its connection is closed, in milliseconds. */
const closeAfterMs = 1_000;

/** If a refused request has a large body that has not arrived, its connection is closed: receiving it would take time. */
export function leaveUnread({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : Infinity;
  if (raw.complete || length <= bodyLimits.open) return;
  const { socket } = raw;
  void reply.header("connection", "close");
  // By default, Node.js closes it at once, so that the client may fail to send before it has received the response.
  socket.destroySoon = () => {
    socket.end().pause();
    setTimeout(() => socket.destroy(), closeAfterMs).unref();
  };
}
