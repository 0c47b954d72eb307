import type { Endpoint } from "../../src/contract/index.ts";
import { validInput, type Seeded } from "./endpoint-inputs.ts";
import {
  pickOddText,
  pickOddValue,
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

/** The parts of a request before it is serialized. */
interface Parts {
  method: string;
  pattern: string;
  fields: Record<string, unknown>;
  segments: Record<string, string>;
  queryTail: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

type Mutation = (parts: Parts, random: Random) => void;

/** Creates a request that is invalid in one to three places. */
export function createMalformedRequest(endpoint: Endpoint, seeded: Seeded, random: Random): FuzzRequest {
  const patterns = [...endpoint.paths, ...(endpoint.htmlPaths ?? [])];
  const parts: Parts = {
    method: endpoint.method,
    pattern: random.pick(patterns),
    fields: { ...structuredClone(validInput(endpoint, seeded)), ...callerFields(endpoint, seeded) },
    segments: { app_key: seeded.appKey, store_id: seeded.appKey },
    queryTail: "",
    headers: { "content-type": "application/json", "x-service-token": seeded.utoken },
    body: undefined,
  };
  for (let remaining = 1 + random.below(3); remaining > 0; remaining -= 1) pickMutation(parts, random)(parts, random);
  return serialize(parts);
}

/** Sets an own property, even one named `__proto__`. */
function setField(fields: object, name: string, value: unknown): void {
  Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Returns the credentials that the path does not carry. Public operations get none, so that more of their
 * other fields are corrupted.
 */
function callerFields({ auth, paths }: Endpoint, { appKey, utoken }: Seeded): Record<string, unknown> {
  if (auth === "open") return {};
  return { utoken, ...(!paths[0].includes("{app_key}") && { appkey: appKey }) };
}

function pickMutation({ pattern }: Parts, random: Random): Mutation {
  const segmentMutations = pattern.includes("{") ? [corruptSegment] : [];
  return random.pick([
    corruptField,
    corruptField,
    corruptField,
    corruptNestedValue,
    corruptNestedValue,
    dropField,
    addField,
    ...segmentMutations,
    ...segmentMutations,
    (parts) => {
      parts.queryTail += `&${random.pick(rawQueries)}`;
    },
    (parts) => {
      parts.fields["utoken"] = pickOddValue(random);
      parts.headers["x-service-token"] = toHeader(pickOddText(random));
    },
    corruptEnvelope,
  ]);
}

const corruptField: Mutation = ({ fields }, random) => {
  const names = Object.keys(fields);
  if (names.length > 0) setField(fields, random.pick(names), pickOddValue(random));
};

const dropField: Mutation = ({ fields }, random) => {
  const names = Object.keys(fields);
  if (names.length > 0) delete fields[random.pick(names)];
};

const addField: Mutation = ({ fields }, random) => {
  setField(fields, pickOddText(random).slice(0, 100), pickOddValue(random));
};

/** Descends along a random path through the fields and corrupts the value there. */
const corruptNestedValue: Mutation = ({ fields }, random) => {
  let target: Record<string, unknown> = fields;
  for (;;) {
    const names = Object.keys(target);
    if (names.length === 0) return;
    const name = random.pick(names);
    const inner = target[name];
    if (typeof inner === "object" && inner !== null && random.chance(0.85)) {
      target = inner as Record<string, unknown>;
      continue;
    }
    const value = random.chance(0.8) ? pickOddValue(random) : undefined;
    const renamed = random.chance(0.15) ? pickOddText(random).slice(0, 100) : name;
    setField(target, renamed, value);
    return;
  }
};

const corruptSegment: Mutation = (parts, random) => {
  const names = [...parts.pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  parts.segments[random.pick(names)] = random.chance(0.5)
    ? random.pick(rawSegments)
    : encode(pickOddText(random).slice(0, 5_000));
};

/** Corrupts what surrounds the fields: the raw body, its content type, or the method. */
const corruptEnvelope: Mutation = (parts, random) => {
  const kind = random.below(8);
  if (kind < 4) parts.body = random.pick(brokenBodies);
  else if (kind < 7) parts.headers["content-type"] = random.pick(contentTypes) ?? "";
  else parts.method = random.pick(["PATCH", "OPTIONS", "PUT", "DELETE", "POST", "GET", "PROPFIND"]);
};

function serialize(parts: Parts): FuzzRequest {
  const { method, pattern, segments, queryTail, body } = parts;
  const pathFields = new Set([...pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""));
  const path = pattern.replaceAll(
    /\{(\w+)\}/g,
    (_match, name: string) => segments[name] ?? encode(toText(parts.fields[name])),
  );
  const bodyFields = Object.fromEntries(Object.entries(parts.fields).filter(([name]) => !pathFields.has(name)));
  const query = method === "GET" ? writeQuery(bodyFields) : "";
  const content = body ?? (method === "GET" ? undefined : writeBody(bodyFields));
  const headers = Object.entries(parts.headers).filter(([, value]) => value !== "");
  // Set explicitly because the client would otherwise omit the length for methods that usually have no body.
  if (content !== undefined) headers.push(["content-length", String(Buffer.byteLength(content))]);
  return {
    method,
    path: `${path}?${query}${queryTail}`.slice(0, 60_000),
    headers: Object.fromEntries(headers),
    body: content,
  };
}

function writeQuery(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .flatMap(([name, value]) =>
      Array.isArray(value)
        ? value.slice(0, 5).map((element) => `${encode(name)}[]=${encode(toText(element))}`)
        : [`${encode(name)}=${encode(toText(value))}`],
    )
    .join("&");
}

const toText = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, 10_000);

const encode = (text: string) => encodeURIComponent(text.toWellFormed());

/** Replaces the characters that a header cannot contain. */
const toHeader = (text: string) => text.replaceAll(/[^\u0020-\u007E]/g, "?").slice(0, 500);
