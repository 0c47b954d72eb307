import type { Endpoint } from "../../src/contract/index.ts";
import { goodInput, type Seeded } from "./endpoint-inputs.ts";
import {
  anOddText,
  anOddValue,
  brokenBodies,
  contentTypes,
  rawQueries,
  rawSegments,
  writeBody,
} from "./odd-values.ts";
import type { Random } from "./random.ts";

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

/** What a request is made of, before it is written. */
interface Parts {
  method: string;
  pattern: string;
  fields: Record<string, unknown>;
  segments: Record<string, string>;
  queryTail: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

type Spoil = (parts: Parts, random: Random) => void;

/** Makes a request of a call that is wrong in one to three places. */
export function spoiltRequest(endpoint: Endpoint, seeded: Seeded, random: Random): FuzzRequest {
  const patterns = [...endpoint.paths, ...(endpoint.htmlPaths ?? [])];
  const parts: Parts = {
    method: endpoint.method,
    pattern: random.pick(patterns),
    fields: { ...structuredClone(goodInput(endpoint, seeded)), ...callerFields(endpoint, seeded) },
    segments: { app_key: seeded.appKey, store_id: seeded.appKey },
    queryTail: "",
    headers: { "content-type": "application/json", "x-service-token": seeded.utoken },
    body: undefined,
  };
  for (let left = 1 + random.below(3); left > 0; left -= 1) spoilWith(parts, random)(parts, random);
  return write(parts);
}

/** Sets a field, and only that, also where it is called `__proto__`. */
function put(fields: object, name: string, value: unknown): void {
  Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Who is calling, where the path does not say it; an open call has nobody, so that more of it is spoilt. */
function callerFields({ auth, paths }: Endpoint, { appKey, utoken }: Seeded): Record<string, unknown> {
  if (auth === "open") return {};
  return { utoken, ...(!paths[0].includes("{app_key}") && { appkey: appKey }) };
}

function spoilWith({ pattern }: Parts, random: Random): Spoil {
  const inPath = pattern.includes("{") ? [spoilSegment] : [];
  return random.pick([
    spoilField,
    spoilField,
    spoilField,
    spoilInside,
    spoilInside,
    dropField,
    addField,
    ...inPath,
    ...inPath,
    (parts) => {
      parts.queryTail += `&${random.pick(rawQueries)}`;
    },
    (parts) => {
      parts.fields["utoken"] = anOddValue(random);
      parts.headers["x-service-token"] = asHeader(anOddText(random));
    },
    spoilOutside,
  ]);
}

const spoilField: Spoil = ({ fields }, random) => {
  const names = Object.keys(fields);
  if (names.length > 0) put(fields, random.pick(names), anOddValue(random));
};

const dropField: Spoil = ({ fields }, random) => {
  const names = Object.keys(fields);
  if (names.length > 0) delete fields[random.pick(names)];
};

const addField: Spoil = ({ fields }, random) => {
  put(fields, anOddText(random).slice(0, 100), anOddValue(random));
};

/** Walks down a random way, and spoils what is there. */
const spoilInside: Spoil = ({ fields }, random) => {
  let at: Record<string, unknown> = fields;
  for (;;) {
    const names = Object.keys(at);
    if (names.length === 0) return;
    const name = random.pick(names);
    const inner = at[name];
    if (typeof inner === "object" && inner !== null && random.chance(0.85)) {
      at = inner as Record<string, unknown>;
      continue;
    }
    const odd = random.chance(0.8) ? anOddValue(random) : undefined;
    const renamed = random.chance(0.15) ? anOddText(random).slice(0, 100) : name;
    put(at, renamed, odd);
    return;
  }
};

const spoilSegment: Spoil = (parts, random) => {
  const names = [...parts.pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  parts.segments[random.pick(names)] = random.chance(0.5)
    ? random.pick(rawSegments)
    : encode(anOddText(random).slice(0, 5_000));
};

/** What is around the fields: the body as it stands, its type, the method. */
const spoilOutside: Spoil = (parts, random) => {
  const kind = random.below(8);
  if (kind < 4) parts.body = random.pick(brokenBodies);
  else if (kind < 7) parts.headers["content-type"] = random.pick(contentTypes) ?? "";
  else parts.method = random.pick(["PATCH", "OPTIONS", "PUT", "DELETE", "POST", "GET", "PROPFIND"]);
};

function write(parts: Parts): FuzzRequest {
  const { method, pattern, segments, queryTail, body } = parts;
  const inPath = new Set([...pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""));
  const path = pattern.replaceAll(
    /\{(\w+)\}/g,
    (_whole, name: string) => segments[name] ?? encode(asText(parts.fields[name])),
  );
  const left = Object.fromEntries(Object.entries(parts.fields).filter(([name]) => !inPath.has(name)));
  const query = method === "GET" ? writeQuery(left) : "";
  const sent = body ?? (method === "GET" ? undefined : writeBody(left));
  const headers = Object.entries(parts.headers).filter(([, value]) => value !== "");
  // Said also where the method mostly has no body: the client would send one without its length.
  if (sent !== undefined) headers.push(["content-length", String(Buffer.byteLength(sent))]);
  return {
    method,
    path: `${path}?${query}${queryTail}`.slice(0, 60_000),
    headers: Object.fromEntries(headers),
    body: sent,
  };
}

function writeQuery(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .flatMap(([name, value]) =>
      Array.isArray(value)
        ? value.slice(0, 5).map((element) => `${encode(name)}[]=${encode(asText(element))}`)
        : [`${encode(name)}=${encode(asText(value))}`],
    )
    .join("&");
}

const asText = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, 10_000);

const encode = (text: string) => encodeURIComponent(text.toWellFormed());

/** What a header can carry of a text. */
const asHeader = (text: string) => text.replaceAll(/[^\u0020-\u007E]/g, "?").slice(0, 500);
