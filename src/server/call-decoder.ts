import { callerNames, type Endpoint, ServiceError } from "../contract/index.ts";
import type { Caller } from "../service/transport.ts";

type Fields = Record<string, unknown>;

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
  /** The JSONP `callback` in the query, not validated. */
  readonly callback?: unknown;
}

const callerFields: ReadonlySet<string> = new Set([...callerNames.appKey, ...callerNames.utoken]);

/**
 * Combines path, body, and query, in this order of precedence, into one input, and extracts the caller.
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
  return {
    input: merge(sources),
    caller: { ...(appKey !== undefined && { appKey }), ...(utoken !== undefined && { utoken }) },
    ...(endpoint.supportsJsonp && callback !== undefined && { callback }),
  };
}

/** The input outside the path. In a signed call, this is only the signed body and its signature. */
function readSent(
  { signedBody }: Endpoint,
  { query, body, headers }: { readonly query: Fields } & Pick<CallParts, "body" | "headers">,
): readonly Fields[] {
  if (!signedBody) return [readBody(body), query];
  const signature = Object.entries(signedBody.headers).map(([name, header]) => [name, headers[header]]);
  return [{ ...Object.fromEntries(signature), [signedBody.field]: body ?? "" }];
}

function findText(sources: readonly Fields[], names: readonly string[]): string | undefined {
  const values = sources.flatMap((source) => names.map((name) => source[name]));
  return values.find((value): value is string => typeof value === "string" && value !== "");
}

function readBody(body: unknown): Fields {
  if (body === undefined) return {};
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Fields;
  throw new ServiceError("malformedBody", "the body is not a JSON object");
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** Earlier sources take precedence. */
function merge(sources: readonly Fields[]): Fields {
  const merged: Fields = {};
  for (const source of sources.toReversed()) {
    for (const [name, value] of Object.entries(source)) {
      if (!callerFields.has(name)) merged[name] = value;
    }
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
  const fields: Fields = {};
  for (const [name, values] of lists) {
    // Assigning `__proto__` would change the prototype of the object.
    if (values.length === 0 || name === "__proto__") continue;
    fields[name] = values.length > 1 || isList.has(name) ? values : values[0];
  }
  return fields;
}
