import { coreRateLimit, type Endpoint, type OperationName, readRateLimit } from "../../contract/index.ts";
import { describeRefusals, limitHeaders } from "./error-responses.ts";
import { describeRequest } from "./request.ts";
import type { Fields, SchemaBook } from "./schema-registry.ts";

/** A call at one of its paths. */
export interface Place {
  readonly name: OperationName;
  readonly endpoint: Endpoint;
  readonly path: string;
  /** Position among the paths of its kind; the first of `json` is the call's own. */
  readonly at: number;
  readonly media: "json" | "html";
}

/** Describes a call at a path. */
export function describeOperation(place: Place, book: SchemaBook): Fields {
  const { name, endpoint, path } = place;
  const { summary, effect, auth, batch, extension } = endpoint;
  return {
    operationId: operationIdOf(place),
    tags: [name.split(".", 1)[0]],
    summary,
    deprecated: false,
    ...describeRequest(name, { endpoint, path, isPage: place.media === "html", book }),
    responses: {
      200: describeAnswer(place, book),
      ...(place.media === "html" && describePageAnswers(endpoint)),
      ...describeRefusals(endpoint),
    },
    "x-auth": auth,
    "x-effect": effect,
    ...(operationIdOf(place) !== name && { "x-alias-of": name }),
    ...(extension && { "x-extension": extension }),
    ...(batch && { "x-batch": batch }),
    ...describeLimit(endpoint),
  };
}

function operationIdOf({ name, at, media }: Place): string {
  const others = media === "html" ? at + 1 : at;
  if (others === 0) return name;
  return `${name}.${media === "html" ? "html" : "alias"}${others === 1 ? "" : others}`;
}

function describeAnswer({ endpoint, media }: Place, book: SchemaBook): Fields {
  return {
    description: "OK",
    ...(endpoint.errorForm === "core" && { headers: limitHeaders }),
    content: media === "html" ? html : describeContent(endpoint, book),
  };
}

const html = { "text/html": { schema: { type: "string" } } };

/** What a page answers beside itself. */
function describePageAnswers({ hasForm, redirects }: Endpoint): Fields {
  const location = { description: "Where the link leads.", schema: { type: "string" } };
  return {
    ...(redirects && { 302: { description: "Found", headers: { Location: location } } }),
    ...(hasForm && {
      422: { description: "The page again, and what is wrong with the form.", content: html },
    }),
  };
}

function describeContent({ reply, output, supportsJsonp }: Endpoint, book: SchemaBook): Fields {
  if (reply.media === "bytes") return { "image/*": {} };
  return {
    "application/json": { schema: book.describe(reply.describe(output), "output") },
    ...(supportsJsonp && { "application/javascript": { schema: { type: "string" } } }),
  };
}

/** Source: spec "Limits". */
function describeLimit({ errorForm, isReadLimited }: Endpoint): Fields {
  const limit = errorForm === "core" ? coreRateLimit : isReadLimited ? readRateLimit : undefined;
  return limit ? { "x-rate-limit": { requests: limit.requests, window_ms: limit.windowMs } } : {};
}
