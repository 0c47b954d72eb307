import {
  callerNames,
  type Endpoint,
  ServiceError,
  type SignedBody,
  unauthorizedMessage,
  missingField,
  invalidField,
} from "../contract/index.ts";
import type { Caller } from "../service/transport.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A call as it goes over the wire. */
export interface EncodedCall {
  readonly method: Endpoint["method"];
  /** Path and query, to be put behind the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const [appKeyField, bodyAppKeyField] = callerNames.appKey;
const [utokenField] = callerNames.utoken;
const appKeyNames: ReadonlySet<string> = new Set(callerNames.appKey);

/**
 * Puts a call's input into path, query and body, and beside it who is calling.
 * Source: spec "Endpoints": the utoken is in the query of a GET and in the body of others; "Authentication" 6.
 * @throws ServiceError `invalidParams`, `unauthorized` when a part of the path is not given
 */
export function encodeCall(endpoint: Endpoint, input: Fields, caller: Caller): EncodedCall {
  const { method, auth, reply, acceptsUtoken = false } = endpoint;
  const used = new Set<string>();
  const path = choosePath(endpoint, input, caller).replaceAll(pathPart, (_whole, name: string) => {
    used.add(name);
    return encodeURIComponent(readPathPart(name, input, caller));
  });
  const namesAccount = [...used].some((name) => appKeyNames.has(name));
  const fields = {
    ...Object.fromEntries(Object.entries(input).filter(([name]) => !used.has(name))),
    ...(auth === "account" &&
      !namesAccount && { [method === "GET" ? appKeyField : bodyAppKeyField]: caller.appKey }),
    ...((auth === "utoken" || (acceptsUtoken && caller.utoken !== undefined)) && {
      [utokenField]: caller.utoken,
    }),
  };
  const headers = {
    accept: reply.media === "bytes" ? "*/*" : "application/json",
    ...(auth === "core" && caller.utoken !== undefined && { [callerNames.tokenHeader]: caller.utoken }),
  };
  if (method === "GET") return { method, target: path + encodeQuery(fields), headers };
  if (endpoint.signedBody) return encodeSigned(endpoint.signedBody, input, { method, target: path, headers });
  return {
    method,
    target: path,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(fields),
  };
}

/** The body is the text itself, and how it is signed stands in headers. */
function encodeSigned(
  { field, headers: signs }: SignedBody,
  input: Fields,
  call: Pick<EncodedCall, "method" | "target" | "headers">,
): EncodedCall {
  const given = Object.entries(signs).filter(([name]) => isGiven(input[name]));
  const headers = Object.fromEntries(given.map(([name, header]) => [header, asText(input[name])]));
  return {
    ...call,
    headers: { ...call.headers, ...headers, "content-type": "application/json" },
    body: asText(input[field] ?? ""),
  };
}

const pathPart = /\{(\w+)\}/g;

/** The first path all of whose parts are given; a part that may be left out has a path without it. */
function choosePath({ paths }: Endpoint, input: Fields, caller: Caller): string {
  const isComplete = (path: string) =>
    [...path.matchAll(pathPart)].every(([, name = ""]) =>
      appKeyNames.has(name) ? Boolean(caller.appKey) : isGiven(input[name]),
    );
  return paths.find(isComplete) ?? paths[0];
}

function isGiven(value: unknown): value is string | number {
  return (typeof value === "string" && value !== "") || typeof value === "number";
}

function readPathPart(name: string, input: Fields, caller: Caller): string {
  if (appKeyNames.has(name)) {
    if (caller.appKey) return checkPathPart(name, caller.appKey);
    throw new ServiceError("unauthorized", unauthorizedMessage, { hint: "this call needs an app key" });
  }
  const value = input[name];
  if (!isGiven(value)) throw missingField(name);
  return checkPathPart(name, String(value));
}

/** A URL takes these two for a way through folders, even when they are escaped. */
function checkPathPart(name: string, value: string): string {
  if (value !== "." && value !== "..") return value;
  throw invalidField(name, `must not be ${JSON.stringify(value)}`);
}

/** Source: spec "Reviews": lists are repeated as `sort[]=<value>`. */
function encodeQuery(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, held] of Object.entries(fields)) {
    const values: readonly unknown[] = Array.isArray(held) ? held : [held];
    const written = Array.isArray(held) ? `${name}[]` : name;
    for (const value of values) {
      if (value !== undefined && value !== null) query.append(written, asText(value));
    }
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
