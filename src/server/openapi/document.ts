import {
  coreRateLimit,
  type Endpoint,
  type OperationName,
  operations,
  readRateLimit,
} from "../../contract/index.ts";
import {
  describeRefusals,
  headers,
  limitHeaders,
  refusalResponses,
  refusalSchemas,
} from "./error-responses.ts";
import { accountParameters, describeRequest, securitySchemes } from "./request.ts";
import { createSchemaBook, type Fields, type SchemaBook } from "./schema-registry.ts";

/** Information about the product and the server. */
export interface About {
  /** The version of the product. */
  readonly version: string;
  /** The public URL of the service (default: `/`, the host of the document). */
  readonly publicUrl?: string | undefined;
}

const description = `A store's products, orders, reviews, questions and answers, and review-request emails.

- Every path may end with \`/\`. If the last segment of a path is fixed, it may also end with \`.json\`.
- In a query, repeat \`name[]=\` for each element of a list. Empty values are ignored.
- Operations with \`x-alias-of\` are the same call at another path. Operations with \`x-extension\` are not in the
  specification: they are specific to this product (\`own\`) or common practice among similar services (\`practice\`).
- \`x-auth\` defines who may call: \`open\` (anyone), \`account\` (anyone who states an app key), or \`utoken\` and \`core\`
  (anyone who has a token of the account).
- \`x-effect\` defines the effect of a call: \`read\`, \`repeatable\`, or \`once\` (must not be repeated).
- \`x-batch\` defines the recommended and maximum number of elements of \`field\` per call.`;

/** Describes the service in OpenAPI 3.1. */
export function createDocument({ version, publicUrl }: About): Fields {
  const book = createSchemaBook();
  const paths = describePaths(book);
  const tags = [...new Set([...operations.keys()].map((name) => name.split(".", 1)[0]))];
  return {
    openapi: "3.1.0",
    info: { title: "starpost", version, description, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: publicUrl ?? "/" }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...book.named(), ...refusalSchemas },
      responses: refusalResponses(operations.values()),
      parameters: accountParameters(),
      headers,
      securitySchemes,
    },
  };
}

function describePaths(book: SchemaBook): Readonly<Record<string, Fields>> {
  const paths: Record<string, Fields> = {};
  for (const place of listPlaces()) {
    const item = (paths[place.path] ??= {});
    item[place.endpoint.method.toLowerCase()] = describeOperation(place, book);
  }
  return paths;
}

function listPlaces(): readonly Place[] {
  return [...operations].flatMap(([name, endpoint]) => {
    const { paths, htmlPaths = [] } = endpoint;
    const own = paths.map((path, at): Place => ({ name, endpoint, path, at, media: "json" }));
    if (endpoint.alsoGet)
      own.push({
        name,
        endpoint: { ...endpoint, method: "GET" },
        path: paths[0],
        at: own.length,
        media: "json",
      });
    return own.concat(htmlPaths.map((path, at) => ({ name, endpoint, path, at, media: "html" })));
  });
}

/** A call at one of its paths. */
interface Place {
  readonly name: OperationName;
  readonly endpoint: Endpoint;
  readonly path: string;
  /** Position among the paths of its kind; the first of `json` is the call's own. */
  readonly at: number;
  readonly media: "json" | "html";
}

function describeOperation(place: Place, book: SchemaBook): Fields {
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
