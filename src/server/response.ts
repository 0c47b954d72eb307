import type { FastifyReply, FastifyRequest } from "fastify";
import { type Endpoint, type OperationName, ServiceError } from "../contract/index.ts";
import type { PageDefinition } from "../pages/pages.ts";
import type { CallEvent, Transport } from "../service/transport.ts";
import { decodeCall } from "./call-decoder.ts";

/** A call, and in which form it is answered. */
export interface Answering {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  /** Where the answer is a page of HTML. */
  readonly page?: PageDefinition | undefined;
}

/** Answers one request: decodes it, has the call carried out, and puts its value into the form that was asked for. */
export async function answer(
  { method, params, query, body, headers }: FastifyRequest,
  reply: FastifyReply,
  { operation, endpoint, page, transport }: Answering & { readonly transport: Transport },
): Promise<unknown> {
  const decoded = decodeCall(endpoint, { path: params, query, body, headers });
  const callback = readCallback(decoded.callback);
  const onEvent = (event: CallEvent) => {
    if (event.type !== "limit") return;
    void reply.header("ratelimit-remaining", event.remaining).header("ratelimit-reset", event.resetAtSeconds);
  };
  const input =
    method === "HEAD" && endpoint.headField
      ? { ...decoded.input, [endpoint.headField]: true }
      : decoded.input;
  // Not yet checked: that is the work of whatever answers.
  const value: unknown = await transport.call(operation, input, decoded.caller, { onEvent });
  // What is returned is sent. A reply that is returned would be waited for, at the price of a small answer.
  if (page) return toPage(reply, { endpoint, page }, value);
  if (endpoint.reply.media === "bytes") return toBytes(reply, endpoint, value as Bytes);
  return toJson(reply, endpoint, value, callback);
}

function toJson(reply: FastifyReply, endpoint: Endpoint, value: unknown, callback: Callback): unknown {
  // RFC 6749 5.1: an answer that holds a token is kept nowhere.
  if (endpoint.returnsSecret === true) void reply.header("cache-control", "no-store");
  const body = endpoint.reply.encode(value as Record<string, unknown>);
  if (callback === undefined) return body;
  void reply.type("application/javascript; charset=utf-8");
  return encodeJsonp(callback, body);
}

/** The URL of a personal page is a secret, so the page must not be cached or sent as a referrer. */
function toPage(
  reply: FastifyReply,
  { endpoint, page }: { readonly endpoint: Endpoint; readonly page: PageDefinition },
  value: unknown,
): unknown {
  if (page.isPersonal) void reply.header("cache-control", "no-store");
  void reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", page.policy)
    .header("referrer-policy", "no-referrer");
  const { url } = value as { readonly url?: unknown };
  if (endpoint.redirects && typeof url === "string") return reply.redirect(url, 302);
  // RFC 9110 15.5.21: the form was understood, and cannot be carried out as it is.
  if (page.hasProblems?.(value)) void reply.code(422);
  return page.render(value);
}

interface Bytes {
  readonly content_type: string;
  readonly base64: string;
}

/**
 * Kept nowhere without being asked for again: what it is of may be taken off the pages. What is noted when it is asked
 * for is kept nowhere at all.
 */
function toBytes(reply: FastifyReply, { effect }: Endpoint, { content_type, base64 }: Bytes): Buffer {
  void reply
    .type(content_type)
    .header("content-security-policy", "default-src 'none'")
    .header("cache-control", effect === "read" ? "no-cache" : "no-store");
  return Buffer.from(base64, "base64");
}

const functionName = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const maxNameLength = 128;

/** The JSONP function; undefined if the response is plain JSON. */
type Callback = string | undefined;

/**
 * The function that a JSONP answer calls.
 * Assumed: `callback` is a name, or names joined by dots, of at most 128 characters; without it the answer is JSON.
 * @throws ServiceError `invalidParams`
 */
function readCallback(given: unknown): Callback {
  if (given === undefined) return undefined;
  if (typeof given === "string" && given.length <= maxNameLength && functionName.test(given)) return given;
  throw new ServiceError("invalidParams", "callback is not the name of a function");
}

/** A script that calls the function. The two characters that end a line in older scripts, and not in JSON, are escaped. */
function encodeJsonp(name: string, body: unknown): string {
  const json = JSON.stringify(body)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
  return `${name}(${json});`;
}
