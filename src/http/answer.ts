import type { FastifyReply, FastifyRequest } from "fastify";
import type { Endpoint, OperationName } from "../contract/index.ts";
import type { PageForm } from "../pages/pages.ts";
import type { CallEvent, Transport } from "../service/transport.ts";
import { decodeCall } from "./decode-call.ts";
import { type Callback, encodeJsonp, readCallback } from "./jsonp.ts";

/** A call, and in which form it is answered. */
export interface Answering {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  /** Where the answer is a page of HTML. */
  readonly page?: PageForm | undefined;
}

/** Answers one request: decodes it, has the call carried out, and puts its value into the form that was asked for. */
export async function answer(
  { params, query, body, headers }: FastifyRequest,
  reply: FastifyReply,
  { operation, endpoint, page, transport }: Answering & { readonly transport: Transport },
): Promise<unknown> {
  const decoded = decodeCall(endpoint, { path: params, query, body, headers });
  const callback = readCallback(decoded.callback);
  const onEvent = (event: CallEvent) => {
    if (event.type !== "limit") return;
    void reply.header("ratelimit-remaining", event.remaining).header("ratelimit-reset", event.resetAtSeconds);
  };
  // Not yet checked: that is the work of whatever answers.
  const value: unknown = await transport.call(operation, decoded.input, decoded.caller, { onEvent });
  if (page) return sendPage(reply, page, value);
  if (endpoint.reply.media === "bytes") return sendBytes(reply, value as Bytes);
  return sendJson(reply, endpoint, value, callback);
}

function sendJson(reply: FastifyReply, endpoint: Endpoint, value: unknown, callback: Callback): FastifyReply {
  // RFC 6749 5.1: an answer that holds a token is kept nowhere.
  if (endpoint.answersSecret === true) void reply.header("cache-control", "no-store");
  const body = endpoint.reply.encode(value as Record<string, unknown>);
  if (callback === undefined) return reply.send(body);
  return reply.type("application/javascript; charset=utf-8").send(encodeJsonp(callback, body));
}

/** The path of a person's page is the key to it: nothing on the way keeps it, and no other site is told. */
function sendPage(
  reply: FastifyReply,
  { render, policy, isPersonal }: PageForm,
  value: unknown,
): FastifyReply {
  if (isPersonal) void reply.header("cache-control", "no-store");
  return reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", policy)
    .header("referrer-policy", "no-referrer")
    .send(render(value));
}

interface Bytes {
  readonly content_type: string;
  readonly base64: string;
}

/** Kept nowhere without being asked for again: what it is of may be taken off the pages. */
function sendBytes(reply: FastifyReply, { content_type, base64 }: Bytes): FastifyReply {
  return reply
    .type(content_type)
    .header("content-security-policy", "default-src 'none'")
    .header("cache-control", "no-cache")
    .send(Buffer.from(base64, "base64"));
}
