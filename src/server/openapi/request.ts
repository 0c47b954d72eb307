import {
  acceptsIdempotencyKey,
  appKeyNames,
  callerNames,
  type Endpoint,
  honorsToken,
  idempotencyKeys,
  maxActorName,
  type OperationName,
  type SignedBody,
} from "../../contract/index.ts";
import { documentedInput, type Fields, type SchemaRegistry } from "./schema-registry.ts";

const [appKeyField, bodyAppKeyField] = callerNames.appKey;
const [utokenField] = callerNames.utoken;

const appKeySchema = { type: "string", description: "The account's API key." };
const utokenSchema = { type: "string", description: "A utoken of the account. It can be passed in the query instead." };

/** Authentication schemes, in addition to the app key. Source: spec "Authentication", "Endpoints". */
export const securitySchemes: Fields = {
  utoken: {
    type: "apiKey",
    in: "query",
    name: utokenField,
    description:
      "Returned by `POST /oauth/token`; valid for 14 days. POST, PUT, and DELETE requests may pass it in the body instead.",
  },
  serviceToken: {
    type: "apiKey",
    in: "header",
    name: "X-Service-Token",
    description: "An access token of the core API.",
  },
};

interface Field {
  readonly name: string;
  readonly schema: Fields;
  readonly isRequired: boolean;
}

/** A call at one of its paths. */
interface RequestPlace {
  readonly endpoint: Endpoint;
  readonly path: string;
  /** Whether the path is that of a page. */
  readonly isPage: boolean;
  readonly schemas: SchemaRegistry;
}

/** Describes the parameters, body, and security of a call at one of its paths. */
export function describeRequest(name: OperationName, place: RequestPlace): Fields {
  const { endpoint, path, isPage, schemas } = place;
  const { method, auth, effect, signedBody } = endpoint;
  if (signedBody) return describeSignedRequest(signedBody, place);
  const input = schemas.describe(documentedInput(name, endpoint), "input");
  const fields = readFields(input, endpoint.inputAliases);
  const inPath = partsOf(path);
  const everInPath = new Set([...endpoint.paths, ...(endpoint.htmlPaths ?? [])].flatMap(partsOf));
  const elsewhere = fields.filter((field) => !everInPath.has(field.name));
  const callers = callerFields(endpoint, path);
  const isQuery = method === "GET";
  // The core API has its token in a header.
  const isTokenAccepted = auth !== "core" && honorsToken(endpoint);
  const parameters = [
    ...inPath.map((part) => describePathPart(part, fields)),
    ...(isQuery ? [...callers, ...elsewhere].map(describeQueryField) : []),
    ...(isQuery && endpoint.supportsJsonp ? [callbackParameter] : []),
    ...(acceptsIdempotencyKey(endpoint) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ...(isTokenAccepted && effect !== "read" ? [{ $ref: "#/components/parameters/StarpostBy" }] : []),
  ];
  const body = isQuery
    ? []
    : [
        ...elsewhere,
        ...callers,
        ...(isTokenAccepted ? [utokenInBody] : []),
        ...(isPage && acceptsIdempotencyKey(endpoint) ? [keyInBody] : []),
      ];
  return {
    ...(parameters.length > 0 && { parameters }),
    ...(body.length > 0 && { requestBody: describeBody({ ...endpoint, isPage }, body, input["additionalProperties"]) }),
    security: securityOf(endpoint),
  };
}

/** The body of a signed call is not an object of fields, and its signature is in headers. */
function describeSignedRequest({ headers, schema }: SignedBody, { endpoint, path, schemas }: RequestPlace): Fields {
  return {
    parameters: [
      ...partsOf(path).map((part) => describePathPart(part, [])),
      ...Object.values(headers).map((name) => ({ name, in: "header", schema: { type: "string" } })),
    ],
    requestBody: { required: true, content: { "application/json": { schema: schemas.describe(schema, "input") } } },
    security: securityOf(endpoint),
  };
}

/** The forms of pages cannot send headers. */
const keyInBody: Field = {
  name: idempotencyKeys.field,
  schema: { type: "string", minLength: idempotencyKeys.minPublicLength, maxLength: idempotencyKeys.maxLength },
  isRequired: false,
};

const utokenInBody: Field = { name: utokenField, schema: utokenSchema, isRequired: false };

const callbackParameter = {
  name: "callback",
  in: "query",
  description: "A JavaScript function to call with the response (JSONP).",
  schema: { type: "string", maxLength: 128, pattern: "^[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)*$" },
};

function partsOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, part = ""]) => part);
}

/** The fields of an input. One with an alias is optional, because the alias can be sent instead. */
function readFields(input: Fields, aliases: Endpoint["inputAliases"] = {}): readonly Field[] {
  const { properties = {}, required = [] } = input as {
    readonly properties?: Readonly<Record<string, Fields>>;
    readonly required?: readonly string[];
  };
  const described = Object.entries(aliases).map(([alias, field]): [string, Fields] => [
    alias,
    { ...properties[field], description: `Can be sent instead of \`${field}\`.` },
  ]);
  const replaceable = new Set(Object.values(aliases));
  return [...Object.entries(properties), ...described].map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name) && !replaceable.has(name),
  }));
}

/** The app key, if the call requires one that is not in the path. */
function callerFields({ auth, method }: Endpoint, path: string): readonly Field[] {
  if (auth !== "account" || partsOf(path).some((part) => appKeyNames.has(part))) return [];
  const name = method === "GET" ? appKeyField : bodyAppKeyField;
  return [{ name, schema: appKeySchema, isRequired: true }];
}

function describePathPart(part: string, fields: readonly Field[]): Fields {
  if (appKeyNames.has(part)) return { $ref: `#/components/parameters/${part}` };
  const field = fields.find(({ name }) => name === part);
  if (!field) throw new Error(`path parameter {${part}} is not a field of the input`);
  return { name: part, in: "path", required: true, schema: field.schema };
}

/** The header that makes a call run once. */
export const idempotencyKeyParameter: Fields = {
  name: "Idempotency-Key",
  in: "header",
  description: `For 24 hours, calls of the account to the same path with the same key return the first result and change nothing. Requires a token; otherwise, it is ignored, except if it has at least ${idempotencyKeys.minPublicLength} characters and the call submits a review or a question. The body can carry it instead, as \`${idempotencyKeys.field}\`.`,
  schema: { type: "string", maxLength: idempotencyKeys.maxLength },
};

/** The header that names the person or job that changes data. */
export const byParameter: Fields = {
  name: "Starpost-By",
  in: "header",
  description:
    "The person or job that changes data, for histories (default: MODERATOR); text other than ASCII is percent-encoded UTF-8. Requires a token; otherwise, it is ignored.",
  schema: { type: "string", maxLength: maxActorName.any },
};

/** Describes the two path parameters for the account. */
export function accountParameters(): Fields {
  const names = callerNames.appKey.filter((name) => name !== bodyAppKeyField);
  return Object.fromEntries(names.map((name) => [name, { name, in: "path", required: true, schema: appKeySchema }]));
}

function describeQueryField({ name, schema, isRequired }: Field): Fields {
  const { anyOf = [schema] } = schema as { readonly anyOf?: readonly Fields[] };
  // A list is repeated in a query. Source: spec "Reviews": `sort[]=<value>`.
  const list = anyOf.find(({ type }) => type === "array");
  return {
    name: list ? `${name}[]` : name,
    in: "query",
    ...(isRequired && { required: true }),
    ...(list && { style: "form", explode: true }),
    schema: list ?? schema,
  };
}

function describeBody(
  { errorForm, batch, hasFile, isPage }: Endpoint & { readonly isPage: boolean },
  fields: readonly Field[],
  additionalProperties: unknown,
): Fields {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, withLimit(field, batch)])),
    ...(required.length > 0 && { required }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  };
  const isForm = errorForm === "oauth";
  return {
    required: required.length > 0,
    content: {
      ...(!isPage && { "application/json": { schema } }),
      ...((isForm || isPage) && {
        [hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded"]: { schema },
      }),
    },
  };
}

function withLimit({ name, schema }: Field, batch: Endpoint["batch"]): Fields {
  if (batch?.field !== name || batch.max === undefined) return schema;
  const elements = schema["additionalProperties"] as Fields | undefined;
  // The elements of all lists together are limited, which a schema cannot describe.
  if (elements?.["type"] === "array") return schema;
  return { ...schema, [schema["type"] === "array" ? "maxItems" : "maxProperties"]: batch.max };
}

/** The empty requirement makes the scheme optional: the utoken may be in the body, which no scheme can describe. */
function securityOf({ auth, method }: Endpoint): readonly Fields[] {
  if (auth === "core") return [{ serviceToken: [] }];
  if (auth === "utoken") return method === "GET" ? [{ utoken: [] }] : [{ utoken: [] }, {}];
  return [];
}
