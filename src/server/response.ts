import type { FastifyReply, FastifyRequest } from "fastify";
import type { LimitFunction } from "p-limit";
import { type Endpoint, idempotencyKeys, type OperationName, sendingLimits, ServiceError } from "../contract/index.ts";
import type { PageDefinition } from "../pages/pages.ts";
import { type CallEvent, NotModified, type Transport } from "../service/transport.ts";
import { noteCaller } from "./call-log.ts";
import { createVersionCheck } from "./cache-headers.ts";
import { decodeCall } from "./call-decoder.ts";
import { encodeLongJson, requestsLongList } from "./long-json.ts";

/** A call, and the format of its response. */
export interface ResponseFormat {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  /** The page, if the response is HTML. */
  readonly page?: PageDefinition | undefined;
}

export interface Answering {
  readonly transport: Transport;
  /** Runs calls for long lists, a few at the same time, because each takes much memory. */
  readonly longLists: LimitFunction;
  /** Identifies what determines responses in addition to the data: the version of the program, and its public URL. */
  readonly program: () => string;
}

/** Handles a request: decodes it, makes the call, and encodes the result. */
export async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  format: ResponseFormat & Answering,
): Promise<unknown> {
  try {
    return await makeCall(request, reply, format);
  } catch (error) {
    if (!(error instanceof NotModified)) throw error;
    void reply.code(304);
    return "";
  }
}

async function makeCall(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, endpoint, page, transport, longLists, program }: ResponseFormat & Answering,
): Promise<unknown> {
  const { method, params, query, body, headers, ip } = request;
  const decoded = decodeCall(endpoint, { path: params, query, body, headers });
  // The URL contains a token, so no cache should store the response.
  if (decoded.caller.utoken !== undefined) void reply.header("cache-control", "no-store");
  const callback = readCallback(decoded.callback);
  const key = headers[idempotencyKeys.header];
  const idempotencyKey = typeof key === "string" ? key : undefined;
  const onEvent = (event: CallEvent) => {
    if (event.type === "idempotency") {
      void reply.header(idempotencyKeys.header, idempotencyKey);
      if (event.isReplay) void reply.header(idempotencyKeys.replayHeader, "true");
    }
    if (event.type === "account") {
      noteCaller(request, event.appKey, event.hasToken ? decoded.caller.utoken : undefined);
    }
    if (event.type !== "limit") return;
    void reply.header("ratelimit-remaining", event.remaining).header("ratelimit-reset", event.resetAtSeconds);
  };
  const input =
    method === "HEAD" && endpoint.headField ? { ...decoded.input, [endpoint.headField]: true } : decoded.input;
  const work = async () => {
    // The transport validates the input.
    // A connection that was closed has no address. Calls without one would not be limited.
    const clientAddress = (ip as string | undefined) ?? "unknown";
    const mayStore = endpoint.caching?.byVersion === true && !reply.hasHeader("cache-control");
    const hasVersion = mayStore ? createVersionCheck(request, reply, program()) : undefined;
    const options = { onEvent, idempotencyKey, engine: { clientAddress, hasVersion } };
    const value: unknown = await transport.call(operation, input, decoded.caller, options);
    // Returns the body instead of the reply: fastify would wait for the reply, which is slower.
    if (page) return toPage(reply, { endpoint, page }, value);
    if (endpoint.reply.media === "bytes") return toBytes(reply, value as Bytes);
    return toJson(reply, endpoint, value, callback);
  };
  if (page || callback !== undefined || !requestsLongList(endpoint, input)) return work();
  return longLists(async () => {
    // The client may have given up in the meantime.
    if (reply.raw.destroyed) throw new ServiceError("unavailable", "the connection is closed");
    void reply.type("application/json; charset=utf-8");
    return encodeLongJson(await work(), sendingLimits.responseBytes);
  });
}

function toJson(reply: FastifyReply, endpoint: Endpoint, value: unknown, callback: Callback): unknown {
  const body = endpoint.reply.encode(value as Record<string, unknown>);
  if (callback === undefined) return body;
  void reply.type("application/javascript; charset=utf-8");
  return encodeJsonp(callback, body);
}

/** The URL of a personal page grants access to it, so it is not sent as a referrer. */
function toPage(
  reply: FastifyReply,
  { endpoint, page }: { readonly endpoint: Endpoint; readonly page: PageDefinition },
  value: unknown,
): unknown {
  void reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", page.policy)
    .header("referrer-policy", "no-referrer");
  const { url } = value as { readonly url?: unknown };
  if (endpoint.redirects && typeof url === "string") return reply.redirect(url, 302);
  // RFC 9110 15.5.21: the form is well-formed, but has invalid values.
  if (page.hasProblems?.(value)) void reply.code(422);
  return page.render(value);
}

interface Bytes {
  readonly content_type: string;
  readonly base64: string;
}

function toBytes(reply: FastifyReply, { content_type, base64 }: Bytes): Buffer {
  void reply.type(content_type).header("content-security-policy", "default-src 'none'");
  return Buffer.from(base64, "base64");
}

const functionName = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const maxNameLength = 128;

/** Undefined if JSON was requested. */
type Callback = string | undefined;

/**
 * Reads the name of the function that a JSONP response calls.
 * Assumed: `callback` is a name, or names joined by dots, of at most 128 characters; without it, the response is JSON.
 * @throws ServiceError `invalidParams`
 */
function readCallback(value: unknown): Callback {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.length <= maxNameLength && functionName.test(value)) return value;
  throw new ServiceError("invalidParams", "callback is not the name of a function");
}

/** Encodes a script that calls the function. Escapes the two characters that are line terminators only in older JavaScript. */
function encodeJsonp(name: string, body: unknown): string {
  const json = JSON.stringify(body)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
  return `${name}(${json});`;
}
