import {
  appKeyNames,
  encodeBy,
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

/** A call as an HTTP request. */
export interface EncodedCall {
  readonly method: Endpoint["method"];
  /** Path and query, to be appended to the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const [appKeyField, bodyAppKeyField] = callerNames.appKey;
const [utokenField] = callerNames.utoken;

/**
 * Encodes the input and the caller of a call as path, query, body, and headers.
 * Source: spec "Endpoints": the utoken is in the query of a GET and in the body of other requests; "Authentication" 6.
 * @throws ServiceError `invalidParams`, `unauthorized` if a path parameter is missing or invalid
 */
export function encodeCall(endpoint: Endpoint, input: Fields, caller: Caller): EncodedCall {
  const { method, auth, effect, reply, acceptsUtoken = false } = endpoint;
  const used = new Set<string>();
  const path = choosePath(endpoint, input, caller).replaceAll(pathParameter, (_match, name: string) => {
    used.add(name);
    return encodeURIComponent(readPathParameter(name, input, caller));
  });
  const namesAccount = [...used].some((name) => appKeyNames.has(name));
  const fields = {
    ...Object.fromEntries(Object.entries(input).filter(([name]) => !used.has(name))),
    ...(auth === "account" && !namesAccount && { [method === "GET" ? appKeyField : bodyAppKeyField]: caller.appKey }),
    ...((auth === "utoken" || (acceptsUtoken && caller.utoken !== undefined)) && { [utokenField]: caller.utoken }),
  };
  const headers = {
    accept: reply.media === "bytes" ? "*/*" : "application/json",
    ...(auth === "core" && caller.utoken !== undefined && { [callerNames.tokenHeader]: caller.utoken }),
    ...(effect !== "read" && caller.utoken !== undefined && encodeBy(caller.by)),
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

/** The body is the signed text, unchanged; the signature is in headers. */
function encodeSigned(
  { field, headers: headerNames }: SignedBody,
  input: Fields,
  call: Pick<EncodedCall, "method" | "target" | "headers">,
): EncodedCall {
  const present = Object.entries(headerNames).filter(([name]) => hasValue(input[name]));
  const headers = Object.fromEntries(present.map(([name, header]) => [header, toText(input[name])]));
  return {
    ...call,
    headers: { ...call.headers, ...headers, "content-type": "application/json" },
    body: toText(input[field] ?? ""),
  };
}

const pathParameter = /\{(\w+)\}/g;

/** Finds the first path whose parameters all have values. For an optional parameter, there is a path without it. */
function choosePath({ paths }: Endpoint, input: Fields, caller: Caller): string {
  const isComplete = (path: string) =>
    [...path.matchAll(pathParameter)].every(([, name = ""]) =>
      appKeyNames.has(name) ? Boolean(caller.appKey) : hasValue(input[name]),
    );
  return paths.find(isComplete) ?? paths[0];
}

function hasValue(value: unknown): value is string | number {
  return (typeof value === "string" && value !== "") || typeof value === "number";
}

function readPathParameter(name: string, input: Fields, caller: Caller): string {
  if (appKeyNames.has(name)) {
    if (caller.appKey) return checkPathParameter(name, caller.appKey);
    throw new ServiceError("unauthorized", unauthorizedMessage, { hint: "this call needs an app key" });
  }
  const value = input[name];
  if (!hasValue(value)) throw missingField(name);
  return checkPathParameter(name, String(value));
}

/** In a URL, `.` and `..` are resolved as folders, even if they are escaped. */
function checkPathParameter(name: string, value: string): string {
  if (value !== "." && value !== "..") return value;
  throw invalidField(name, `must not be ${JSON.stringify(value)}`);
}

/** Source: spec "Reviews": lists are repeated as `sort[]=<value>`. */
function encodeQuery(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, field] of Object.entries(fields)) {
    const values: readonly unknown[] = Array.isArray(field) ? field : [field];
    const parameter = Array.isArray(field) ? `${name}[]` : name;
    for (const value of values) if (value !== undefined && value !== null) query.append(parameter, toText(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
