import { callerNames, type Endpoint, ServiceError } from "../contract/index.ts";
import type { Caller } from "../service/transport.ts";

type Fields = Record<string, unknown>;

/** The parts of a request that determine the call and the caller. */
export interface CallParts {
  readonly path: unknown;
  /** The parsed query: each name with a value or a list of values. */
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface DecodedCall {
  readonly input: Fields;
  readonly caller: Caller;
  /** The query's `callback` of a call that answers in JSONP, unchecked. */
  readonly callback?: unknown;
}

const callerFields: ReadonlySet<string> = new Set([...callerNames.appKey, ...callerNames.utoken]);

/**
 * Makes one flat input of path, body and query, in this order of precedence, and lifts out who is calling.
 * Source: spec "Endpoints".
 * Assumed: a utoken is taken from body or query for any method.
 * @throws ServiceError `malformedBody` when the body is not an object
 */
export function decodeCall(endpoint: Endpoint, { path, query, body, headers }: CallParts): DecodedCall {
  const { callback, ...rest } = readQuery(query);
  const asked = endpoint.supportsJsonp || callback === undefined ? rest : { ...rest, callback };
  const sources = [asFields(path), ...readSent(endpoint, { query: asked, body, headers })];
  const appKey = findText(sources, callerNames.appKey);
  const utoken =
    endpoint.auth === "core"
      ? findText([headers], [callerNames.tokenHeader])
      : findText(sources, callerNames.utoken);
  return {
    input: merge(sources),
    caller: { ...(appKey !== undefined && { appKey }), ...(utoken !== undefined && { utoken }) },
    ...(endpoint.supportsJsonp && callback !== undefined && { callback }),
  };
}

/** The fields of a call outside its path. For a signed call, only the signed body and its signature headers. */
function readSent(
  { signedBody }: Endpoint,
  { query, body, headers }: { readonly query: Fields } & Pick<CallParts, "body" | "headers">,
): readonly Fields[] {
  if (!signedBody) return [readBody(body), query];
  const signs = Object.entries(signedBody.headers).map(([name, header]) => [name, headers[header]]);
  return [{ ...Object.fromEntries(signs), [signedBody.field]: body ?? "" }];
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

/** Earlier ones win. */
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
 * The values of a query. `name[]` is a list also where it is there once; any name that is repeated is one.
 * Source: spec "Reviews": `sort[]=<value>`. Assumed: an empty value counts as not given.
 * @param parsed names with their value, or with their values where they are repeated
 */
function readQuery(parsed: unknown): Fields {
  const lists = new Map<string, string[]>();
  const isList = new Set<string>();
  for (const [written, held] of Object.entries(asFields(parsed))) {
    const name = written.endsWith("[]") ? written.slice(0, -2) : written;
    const given = [held].flat().filter((value): value is string => typeof value === "string" && value !== "");
    lists.set(name, [...(lists.get(name) ?? []), ...given]);
    if (name !== written) isList.add(name);
  }
  const fields: Fields = {};
  for (const [name, values] of lists) {
    // `__proto__`, which a query can name, would not be a field but the object's kind.
    if (values.length === 0 || name === "__proto__") continue;
    fields[name] = values.length > 1 || isList.has(name) ? values : values[0];
  }
  return fields;
}
