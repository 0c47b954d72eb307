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
  // What is returned is sent. A reply that is returned would be waited for, at the price of a small answer.
  if (page) return toPage(reply, page, value);
  if (endpoint.reply.media === "bytes") return toBytes(reply, value as Bytes);
  return toJson(reply, endpoint, value, callback);
}

function toJson(reply: FastifyReply, endpoint: Endpoint, value: unknown, callback: Callback): unknown {
  // RFC 6749 5.1: an answer that holds a token is kept nowhere.
  if (endpoint.answersSecret === true) void reply.header("cache-control", "no-store");
  const body = endpoint.reply.encode(value as Record<string, unknown>);
  if (callback === undefined) return body;
  void reply.type("application/javascript; charset=utf-8");
  return encodeJsonp(callback, body);
}

/** The path of a person's page is the key to it: nothing on the way keeps it, and no other site is told. */
function toPage(reply: FastifyReply, { render, policy, isPersonal }: PageForm, value: unknown): string {
  if (isPersonal) void reply.header("cache-control", "no-store");
  void reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", policy)
    .header("referrer-policy", "no-referrer");
  return render(value);
}

interface Bytes {
  readonly content_type: string;
  readonly base64: string;
}

/** Kept nowhere without being asked for again: what it is of may be taken off the pages. */
function toBytes(reply: FastifyReply, { content_type, base64 }: Bytes): Buffer {
  void reply
    .type(content_type)
    .header("content-security-policy", "default-src 'none'")
    .header("cache-control", "no-cache");
  return Buffer.from(base64, "base64");
}
