import {
  acceptsIdempotencyKey,
  bodyLimitOf,
  cacheControlOf,
  coreRateLimit,
  type Endpoint,
  type OperationName,
  operations,
  readRateLimit,
} from "../../contract/index.ts";
import {
  cacheHeaders,
  describeRefusals,
  headers,
  html,
  keyHeaders,
  limitHeaders,
  refusalResponses,
  refusalSchemas,
} from "./error-responses.ts";
import {
  accountParameters,
  byParameter,
  describeRequest,
  idempotencyKeyParameter,
  securitySchemes,
} from "./request.ts";
import { createSchemaRegistry, type Fields, type SchemaRegistry } from "./schema-registry.ts";

/** Properties of the document that are not in the contract. */
export interface About {
  /** The version of the program. */
  readonly version: string;
  /** The address of the service (default: `/`, the origin of the document). */
  readonly publicUrl?: string | undefined;
}

const description = `A store's products, orders, reviews, questions and answers, and review-request emails.

- Any path may end with \`/\`. A path whose last segment is fixed may end with \`.json\`.
- In a query, a list is repeated as \`name[]=\`. An empty value counts as missing.
- Operations with \`x-alias-of\` are the same call at another path. Operations with \`x-extension\` are extensions of this
  product (\`own\`), or common among services of this kind (\`practice\`).
- \`x-auth\` is the required authentication: \`open\` none, \`account\` an app key, \`utoken\` and \`core\` a token of the
  account. \`x-effect\` is the effect of a call: \`read\`, \`repeatable\`, or \`once\` (must not be repeated).
- \`x-batch\` is the recommended and the maximum number of elements of \`field\` per call, and
  \`x-max-body-bytes\` is the maximum size of a JSON body.
- \`x-cache-control\` is the \`Cache-Control\` header of calls whose responses caches may store. All other responses have
  \`no-store\`.`;

/** Describes the service in OpenAPI 3.1. */
export function createDocument({ version, publicUrl }: About): Fields {
  const schemas = createSchemaRegistry();
  const paths: Record<string, Fields> = {};
  for (const place of listPlaces()) {
    const item = (paths[place.path] ??= {});
    item[place.endpoint.method.toLowerCase()] = describeOperation(place, schemas);
  }
  const tags = [...new Set([...operations.keys()].map((name) => name.split(".", 1)[0]))];
  return {
    openapi: "3.1.0",
    info: { title: "starpost", version, description, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: publicUrl ?? "/" }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...schemas.named(), ...refusalSchemas },
      responses: refusalResponses(operations.values()),
      parameters: { ...accountParameters(), IdempotencyKey: idempotencyKeyParameter, StarpostBy: byParameter },
      headers,
      securitySchemes,
    },
  };
}

function listPlaces(): readonly Place[] {
  return [...operations].flatMap(([name, endpoint]) => {
    const { paths, htmlPaths = [] } = endpoint;
    const own = paths.map((path, at): Place => ({ name, endpoint, path, at, media: "json" }));
    const asGet: Endpoint = { ...endpoint, method: "GET" };
    if (endpoint.alsoGet) own.push({ name, endpoint: asGet, path: paths[0], at: own.length, media: "json" });
    return own.concat(htmlPaths.map((path, at) => ({ name, endpoint, path, at, media: "html" })));
  });
}

/** A call at one of its paths. */
interface Place {
  readonly name: OperationName;
  readonly endpoint: Endpoint;
  readonly path: string;
  /** Index among the paths of the same media type. The first `json` path is the primary one. */
  readonly at: number;
  readonly media: "json" | "html";
}

function describeOperation(place: Place, schemas: SchemaRegistry): Fields {
  const { name, endpoint, path } = place;
  const { summary, effect, auth, batch, extension, errorForm, isReadLimited } = endpoint;
  // Source: spec "Limits".
  const limit = errorForm === "core" ? coreRateLimit : isReadLimited ? readRateLimit : undefined;
  return {
    operationId: operationIdOf(place),
    tags: [name.split(".", 1)[0]],
    summary,
    deprecated: false,
    ...describeRequest(name, { endpoint, path, isPage: place.media === "html", schemas }),
    responses: {
      200: describeAnswer(place, schemas),
      ...(isStored(place.endpoint) && {
        304: { description: "The stored response is current (`If-None-Match`).", headers: cacheHeaders },
      }),
      ...(place.media === "html" && describePageAnswers(endpoint)),
      ...describeRefusals(endpoint),
    },
    "x-auth": auth,
    "x-effect": effect,
    ...(operationIdOf(place) !== name && { "x-alias-of": name }),
    ...(extension && { "x-extension": extension }),
    ...(batch && { "x-batch": batch }),
    ...(endpoint.method !== "GET" && { "x-max-body-bytes": bodyLimitOf(endpoint) }),
    ...(limit && { "x-rate-limit": { requests: limit.requests, window_ms: limit.windowMs } }),
    ...(isStored(endpoint) && { "x-cache-control": cacheControlOf(endpoint) }),
  };
}

/** Whether caches may store the response of a call with this method. */
function isStored({ caching, method }: Endpoint): boolean {
  return caching !== undefined && method === "GET";
}

function operationIdOf({ name, at, media }: Place): string {
  const others = media === "html" ? at + 1 : at;
  if (others === 0) return name;
  return `${name}.${media === "html" ? "html" : "alias"}${others === 1 ? "" : others}`;
}

function describeAnswer({ endpoint, media }: Place, schemas: SchemaRegistry): Fields {
  return {
    description: "OK",
    ...(endpoint.errorForm === "core" && { headers: limitHeaders }),
    ...(acceptsIdempotencyKey(endpoint) && { headers: keyHeaders }),
    ...(isStored(endpoint) && { headers: cacheHeaders }),
    content: media === "html" ? html : describeContent(endpoint, schemas),
  };
}

/** Describes the additional responses of a page. */
function describePageAnswers({ hasForm, redirects }: Endpoint): Fields {
  const location = { description: "The target of the link.", schema: { type: "string" } };
  return {
    ...(redirects && {
      [hasForm ? 303 : 302]: { description: hasForm ? "See Other" : "Found", headers: { Location: location } },
    }),
    ...(hasForm && { 422: { description: "The page, with the errors of the form.", content: html } }),
  };
}

function describeContent({ reply, output, supportsJsonp }: Endpoint, schemas: SchemaRegistry): Fields {
  if (reply.media === "bytes") return { "image/*": {} };
  return {
    "application/json": { schema: schemas.describe(reply.describe(output), "output") },
    ...(supportsJsonp && { "application/javascript": { schema: { type: "string" } } }),
  };
}
