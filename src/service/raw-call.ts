import type { IncomingHttpHeaders } from "node:http";
import {
  type Effect,
  type ServiceError,
  type Auth,
  appKeyNames,
  encodeBy,
  callerNames,
  isJsonObject,
} from "../contract/index.ts";
import type { CallOptions } from "./transport.ts";
import { findOperation, type FoundOperation } from "../contract/find-operation.ts";
import type { SignedTransport } from "./with-token.ts";

/** An HTTP call, which need not be in the contract. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, relative to the address of the service. Starts with `/`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Decides whether the call may be retried. */
  readonly effect: Effect;
  /** Never shown, even if the response repeats it. */
  readonly utoken?: string | undefined;
}

/** A complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The error in the response, if the call was refused. */
  readonly refusal?: ServiceError | undefined;
}

/**
 * Sends a call unchanged, with the usual pacing and retries.
 * @throws ServiceError if there is no response
 */
export type SendRaw = (request: RawRequest, options?: CallOptions) => Promise<RawResponse>;

/** A call without credentials. */
export interface UnsignedCall {
  readonly method: string;
  /** Without the query. `{app_key}` and `{store_id}` are placeholders for the account. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Whether to add no credentials except the app key in the path. */
  readonly isAnonymous?: boolean | undefined;
}

/** A response, and the token that must not be shown. */
export interface SignedResponse extends RawResponse {
  readonly utoken: string | undefined;
}

/** Sends a call with the credentials of an account. */
export type SendSigned = (call: UnsignedCall, options?: CallOptions) => Promise<SignedResponse>;

export interface RawSigning {
  readonly send: SendRaw;
  readonly appKey: string;
  /** The person or job that changes data. */
  readonly by?: string | undefined;
  readonly tokens: Pick<SignedTransport, "token" | "withToken">;
  /** Requests an access token that is valid only for the core API. */
  readonly createCoreToken: () => Promise<string>;
}

const [appKeyField, bodyAppKeyField] = callerNames.appKey;
const [utokenField] = callerNames.utoken;

/** Methods without a body. */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Replaces the placeholders of a path with the app key. */
export function fillPath(path: string, appKey: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) =>
    appKeyNames.has(name) ? encodeURIComponent(appKey) : placeholder,
  );
}

/**
 * Sends calls with the credentials that the contract requires: the utoken in the query of a GET, in the body of other
 * requests, or in a header of calls to the core API.
 * Assumed: a call that is not in the contract requires a utoken, and is retried only if its method reads. Calls to the
 * core API accept a utoken; if the service rejects it, an access token of the core API is requested.
 */
export function createSignedSender({ send, appKey, by, tokens, createCoreToken }: RawSigning): SendSigned {
  return async (unsigned, options) => {
    const call = { ...unsigned, path: fillPath(unsigned.path, appKey) };
    const found = findOperation(call.method, call.path);
    const kind = found?.endpoint.auth ?? (call.path.startsWith("/core/") ? "core" : "utoken");
    const sign = (utoken?: string) => signCall(call, { found, kind, appKey, by, utoken });
    const sendWith = async (utoken?: string) => ({ ...(await send(sign(utoken), options)), utoken });
    const isSigned = kind === "utoken" || kind === "core" || found?.endpoint.acceptsUtoken === true;
    if (call.isAnonymous || !isSigned || holdsToken(call, kind)) return sendWith();
    // A token is not valid for another account, so a new one would not help.
    const isOwn = callerNames.appKey.every((name) => (found?.pathInput[name] ?? appKey) === appKey);
    if (!isOwn) return sendWith((await tokens.token()).utoken);
    const answer = await sendWithToken(tokens, sendWith, options);
    return kind === "core" && isRefused(answer) ? sendWith(await createCoreToken()) : answer;
  };
}

/** If all tokens are rejected, returns the last response. */
async function sendWithToken(
  tokens: RawSigning["tokens"],
  send: (utoken: string) => Promise<SignedResponse>,
  options: CallOptions | undefined,
): Promise<SignedResponse> {
  let refused: SignedResponse | undefined;
  const call = async (utoken: string) => {
    const answer = await send(utoken);
    if (!isRefused(answer)) return answer;
    refused = answer;
    throw answer.refusal ?? new Error("refused without a refusal");
  };
  try {
    return await tokens.withToken(call, options);
  } catch (error) {
    if (refused && error === refused.refusal) return refused;
    throw error;
  }
}

function isRefused({ refusal }: { readonly refusal?: { readonly kind: string } | undefined }): boolean {
  return refusal?.kind === "unauthorized";
}

interface Signing {
  readonly found: FoundOperation | undefined;
  readonly kind: Auth;
  readonly appKey: string;
  readonly by: string | undefined;
  readonly utoken: string | undefined;
}

function signCall(call: UnsignedCall, { found, kind, appKey, by, utoken }: Signing): RawRequest {
  const { method, path, query, headers, body, isAnonymous = false } = call;
  const added = { ...(!isAnonymous && needsAccount(found, call) && { account: appKey }), utoken };
  const inHeader = kind === "core" && utoken !== undefined;
  const fields = namedFields(method, { ...added, ...(inHeader && { utoken: undefined }) });
  const isBodiless = bodiless.has(method);
  const filled = isBodiless ? undefined : withFields(body, fields, headers);
  const asked = filled ? query : [...query, ...Object.entries(fields)];
  const search = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, value])).toString();
  const sent = filled ?? body;
  const effect = found?.endpoint.effect ?? (isBodiless ? "read" : "once");
  return {
    method,
    target: search === "" ? path : `${path}?${search}`,
    headers: {
      ...(sent && { "content-type": "application/json" }),
      ...(effect !== "read" && utoken !== undefined && encodeBy(by)),
      ...headers,
      ...(inHeader && { [callerNames.tokenHeader]: utoken }),
    },
    effect,
    utoken,
    ...(sent && { body: sent }),
  };
}

function namedFields(
  method: string,
  { account, utoken }: { readonly account?: string; readonly utoken: string | undefined },
): Readonly<Record<string, string>> {
  const name = bodiless.has(method) ? appKeyField : bodyAppKeyField;
  return { ...(account !== undefined && { [name]: account }), ...(utoken !== undefined && { [utokenField]: utoken }) };
}

/** Whether the app key must be added, because neither path, query, nor body contains it. */
function needsAccount(found: FoundOperation | undefined, { query, body }: UnsignedCall): boolean {
  if (found?.endpoint.auth !== "account" || found.endpoint.signedBody) return false;
  const isNamed = callerNames.appKey.some(
    (name) => found.pathInput[name] !== undefined || query.some(([field]) => field === name),
  );
  const inside = readObject(body);
  return !isNamed && !callerNames.appKey.some((name) => inside && Object.hasOwn(inside, name));
}

function holdsToken({ query, body, headers }: UnsignedCall, kind: Auth): boolean {
  if (kind === "core") return callerNames.tokenHeader in headers;
  const inside = readObject(body);
  return query.some(([name]) => name === utokenField) || (inside !== undefined && Object.hasOwn(inside, utokenField));
}

/**
 * Adds fields at the beginning of a JSON body, without changing the rest.
 * @returns undefined if the body is not a JSON object
 */
function withFields(
  body: Buffer | undefined,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Buffer | undefined {
  if (Object.keys(fields).length === 0) return body;
  if (!/\bjson\b/i.test(headers["content-type"] ?? "json")) return undefined;
  const inside = readObject(body ?? Buffer.from("{}"));
  if (!inside) return undefined;
  const text = body?.toString("utf8") ?? "{}";
  const start = text.indexOf("{") + 1;
  const added = JSON.stringify(fields).slice(1, -1);
  const comma = Object.keys(inside).length > 0 ? "," : "";
  return Buffer.from(text.slice(0, start) + added + comma + text.slice(start));
}

function readObject(body: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  if (!body) return undefined;
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
