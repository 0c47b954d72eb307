import type { FastifyReply, FastifyRequest } from "fastify";
import type { LimitFunction } from "p-limit";
import {
  defaultBrand,
  type Endpoint,
  idempotencyKeys,
  type OperationName,
  type PageStyle,
  sendingLimits,
  ServiceError,
  callerNames,
  decodeBy,
  asFields,
  isJsonObject,
  type BytesOutput,
  imageReadLimits,
  readAcceptLanguage,
} from "../contract/index.ts";
import { createPageContext } from "../pages/page-context.ts";
import type { PageDefinition } from "../pages/pages.ts";
import { type CallEvent, NotModified, type Transport, type Caller } from "../service/transport.ts";
import { noteCaller } from "./call-log.ts";
import { allowCompression, isPublicRead } from "./compression.ts";
import { createVersionCheck } from "./cache-headers.ts";
import type { Turn } from "./fair-turns.ts";
import { addressOf, type RequestTurns } from "./request-turns.ts";
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
  readonly turns: RequestTurns;
  /** Runs calls for long lists, a few at the same time, because each takes much memory. */
  readonly longLists: LimitFunction;
  /** Reads images, a few at the same time. */
  readonly imageReads: LimitFunction;
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
  { operation, endpoint, page, transport, turns, longLists, imageReads, program }: ResponseFormat & Answering,
): Promise<unknown> {
  const { method, params, query, body, headers } = request;
  const decoded = decodeCall(endpoint, { path: params, query, body, headers });
  // The URL contains a token, so no cache should store the response.
  if (decoded.caller.utoken !== undefined) void reply.header("cache-control", "no-store");
  else if (isPublicRead(endpoint)) allowCompression(reply);
  const callback = readCallback(decoded.callback);
  const { idempotencyKey } = decoded;
  const onEvent = (event: CallEvent) => {
    if (event.type === "idempotency") {
      void reply.header(idempotencyKeys.header, idempotencyKey);
      if (event.isReplay) void reply.header(idempotencyKeys.replayHeader, "true");
    }
    if (event.type === "account") {
      noteCaller(request, event, event.hasToken ? decoded.caller.utoken : undefined);
      turns.note(request, decoded.caller, event);
    }
    if (event.type !== "limit") return;
    void reply.header("ratelimit-remaining", event.remaining).header("ratelimit-reset", event.resetAtSeconds);
  };
  const input =
    method === "HEAD" && endpoint.headField ? { ...decoded.input, [endpoint.headField]: true } : decoded.input;
  const preferred = page && readAcceptLanguage(headers["accept-language"]);
  if (page) void reply.header("vary", "accept-language");
  const makeInTurn = async (outside: Turn["outside"]) => {
    // The transport validates the input. Calls without an address would not be limited, so it is passed even to a transport
    // that does not declare the option.
    const clientAddress = addressOf(request);
    const asksVersion = transport.engine?.hasVersion && endpoint.caching?.byVersion;
    const mayStore = asksVersion === true && !reply.hasHeader("cache-control");
    const hasVersion = mayStore ? createVersionCheck(request, reply, `${program()}${preferred ?? ""}`) : undefined;
    let style: PageStyle = { brand: defaultBrand, language: preferred ?? defaultBrand.language };
    const onStyle = (found: PageStyle) => (style = found);
    const pageOptions = page && { preferred, onStyle };
    const options = { onEvent, idempotencyKey, engine: { clientAddress, hasVersion, outside, page: pageOptions } };
    const value: unknown = await transport.call(operation, input, decoded.caller, options);
    // Returns the body instead of the reply: fastify would wait for the reply, which is slower.
    if (page) return toPage(reply, { endpoint, page, style }, value);
    if (endpoint.reply.media === "bytes") {
      const { content_type, bytes } = value as BytesOutput;
      void reply.type(content_type).header("content-security-policy", "default-src 'none'");
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const encoded = endpoint.reply.encode(value as Record<string, unknown>);
    return callback === undefined ? encoded : toJsonp(reply, callback, encoded);
  };
  const work = () => turns.run(request, decoded.caller, endpoint, makeInTurn);
  const isImage = endpoint.reply.media === "bytes" && endpoint.effect === "read";
  if (!isImage && (page || callback !== undefined || !requestsLongList(endpoint, input))) return work();
  if (isImage && imageReads.pendingCount >= imageReadLimits.waiting) {
    throw new ServiceError("unavailable", "too many images are being read", { retryAfterMs: 1_000 });
  }
  return (isImage ? imageReads : longLists)(async () => {
    // The client may have given up in the meantime.
    if (reply.raw.destroyed) throw new ServiceError("unavailable", "the connection is closed");
    if (isImage) return work();
    void reply.type("application/json; charset=utf-8");
    return encodeLongJson(await work(), sendingLimits.responseBytes);
  });
}

/** The URL of a personal page grants access to it, so it is not sent as a referrer. */
function toPage(
  reply: FastifyReply,
  { endpoint, page, style }: { readonly endpoint: Endpoint; readonly page: PageDefinition; readonly style: PageStyle },
  value: unknown,
): unknown {
  void reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", page.policy(style.brand))
    .header("referrer-policy", "no-referrer");
  const { url } = value as { readonly url?: unknown };
  if (endpoint.redirects && typeof url === "string") {
    // A form may only lead to its own origin, which may differ from the public one.
    const { pathname } = new URL(url);
    if (endpoint.hasForm) void reply.code(303).header("location", pathname);
    else void reply.code(302).header("location", url);
    return "";
  }
  // RFC 9110 15.5.21: the form is well-formed, but has invalid values.
  if (page.hasProblems?.(value)) void reply.code(422);
  return page.render(value, createPageContext(style.brand, style.language));
}

const functionName = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const maxNameLength = 128;

/**
 * Reads the name of the function that a JSONP response calls.
 * Assumed: `callback` is a name, or names joined by dots, of at most 128 characters; without it, the response is JSON.
 * @throws ServiceError `invalidParams`
 */
function readCallback(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.length <= maxNameLength && functionName.test(value)) return value;
  throw new ServiceError("invalidParams", "callback is not the name of a function");
}

/** A script that calls the function. Escapes the two characters that are line terminators only in older JavaScript. */
function toJsonp(reply: FastifyReply, name: string, body: unknown): string {
  void reply.type("application/javascript; charset=utf-8");
  const json = JSON.stringify(body)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
  return `${name}(${json});`;
}

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a request. */
export interface CallParts {
  readonly path: unknown;
  /** Parsed: each name has a value or a list of values. */
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface DecodedCall {
  readonly input: Fields;
  readonly caller: Caller;
  readonly idempotencyKey?: string | undefined;
  /** The JSONP `callback` in the query, not validated. */
  readonly callback?: unknown;
}

const callerFields: ReadonlySet<string> = new Set([
  ...callerNames.appKey,
  ...callerNames.utoken,
  idempotencyKeys.field,
]);

/** Reads the idempotency key. One in the body must be fit for the header of the response. */
function readKey(headers: CallParts["headers"], body: unknown): string | undefined {
  const { [idempotencyKeys.header]: header } = headers;
  if (typeof header === "string") return header;
  const { [idempotencyKeys.field]: field } = asFields(body);
  return typeof field === "string" && /^[\w,.-]+$/.test(field) ? field : undefined;
}

/**
 * Combines path, body, and query, in this order of precedence, into one input, and extracts the caller and the idempotency key.
 * Source: spec "Endpoints".
 * Assumed: for any method, the utoken may be in the body or in the query.
 * @throws ServiceError `malformedBody` if the body is not an object
 */
export function decodeCall(endpoint: Endpoint, { path, query, body, headers }: CallParts): DecodedCall {
  const { callback, ...rest } = readQuery(query);
  const fields = endpoint.supportsJsonp || callback === undefined ? rest : { ...rest, callback };
  const sources = [asFields(path), ...readSent(endpoint, { query: fields, body, headers })];
  const appKey = findText(sources, callerNames.appKey);
  const utoken =
    endpoint.auth === "core" ? findText([headers], [callerNames.tokenHeader]) : findText(sources, callerNames.utoken);
  const by = decodeBy(headers);
  const idempotencyKey = readKey(headers, body);
  return {
    input: merge(sources),
    caller: {
      ...(appKey !== undefined && { appKey }),
      ...(utoken !== undefined && { utoken }),
      ...(by !== undefined && { by }),
    },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(endpoint.supportsJsonp && callback !== undefined && { callback }),
  };
}

/** The input outside the path. In a signed call, this is only the signed body and its signature. */
function readSent(
  { signedBody }: Endpoint,
  { query, body, headers }: { readonly query: Fields } & Pick<CallParts, "body" | "headers">,
): readonly Fields[] {
  if (!signedBody) {
    if (body === undefined) return [query];
    if (isJsonObject(body)) return [body, query];
    throw new ServiceError("malformedBody", "the body is not a JSON object");
  }
  const signature = Object.entries(signedBody.headers).map(([name, header]) => [name, headers[header]]);
  return [{ ...Object.fromEntries(signature), [signedBody.field]: body ?? "" }];
}

function findText(sources: readonly Fields[], names: readonly string[]): string | undefined {
  const values = sources.flatMap((source) => names.map((name) => source[name]));
  return values.find((value): value is string => typeof value === "string" && value !== "");
}

/** Earlier sources take precedence. */
function merge(sources: readonly Fields[]): Fields {
  const merged: Record<string, unknown> = {};
  for (const source of sources.toReversed()) {
    for (const [name, value] of Object.entries(source)) if (!callerFields.has(name)) merged[name] = value;
  }
  return merged;
}

/**
 * Reads the fields of a query. `name[]` is always a list; any other name is a list if it is repeated.
 * Source: spec "Reviews": `sort[]=<value>`. Assumed: an empty value counts as missing.
 * @param parsed each name has a value or a list of values
 */
function readQuery(parsed: unknown): Fields {
  const lists = new Map<string, string[]>();
  const isList = new Set<string>();
  for (const [parameter, value] of Object.entries(asFields(parsed))) {
    const name = parameter.endsWith("[]") ? parameter.slice(0, -2) : parameter;
    const texts = [value].flat().filter((text): text is string => typeof text === "string" && text !== "");
    lists.set(name, [...(lists.get(name) ?? []), ...texts]);
    if (name !== parameter) isList.add(name);
  }
  const fields: Record<string, unknown> = {};
  for (const [name, values] of lists) {
    // Assigning `__proto__` would change the prototype of the object.
    if (values.length === 0 || name === "__proto__") continue;
    fields[name] = values.length > 1 || isList.has(name) ? values : values[0];
  }
  return fields;
}
