import { callerNames, type Endpoint, ServiceError } from "../contract/index.ts";
import type { Caller } from "../service/transport.ts";

type Fields = Record<string, unknown>;

/** A request's parts that say what is asked and who asks. */
export interface CallParts {
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const callerFields: ReadonlySet<string> = new Set([...callerNames.appKey, ...callerNames.utoken]);

/**
 * Makes one flat input of path, body and query, in this order of precedence, and lifts out who is calling.
 * Source: spec "Endpoints".
 * Assumed: a utoken is taken from body or query for any method.
 * @throws ServiceError `malformedBody` when the body is not an object
 */
export function decodeCall(
  endpoint: Endpoint,
  { path, query, body, headers }: CallParts,
): { readonly input: Fields; readonly caller: Caller } {
  const sources = [asFields(path), readBody(body), asFields(query)];
  const appKey = findText(sources, callerNames.appKey);
  const utoken =
    endpoint.auth === "core"
      ? findText([headers], [callerNames.tokenHeader])
      : findText(sources, callerNames.utoken);
  return {
    input: merge(sources),
    caller: { ...(appKey !== undefined && { appKey }), ...(utoken !== undefined && { utoken }) },
  };
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

/** Earlier ones win. `__proto__`, which a query can name, would not be a field but the object's kind. */
function merge(sources: readonly Fields[]): Fields {
  const merged: Fields = {};
  for (const source of sources.toReversed()) {
    for (const [name, value] of Object.entries(source)) {
      if (name !== "__proto__" && !callerFields.has(name)) merged[name] = value;
    }
  }
  return merged;
}
