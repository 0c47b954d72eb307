import {
  acceptsIdempotencyKey,
  type Endpoint,
  type ErrorForm,
  type ErrorKind,
  errorKinds,
  honorsToken,
  httpStatusOf,
  roles,
} from "../../contract/index.ts";
import type { Fields } from "./schema-registry.ts";

/** Kinds of errors that a call may return, if path and method are valid. */
const servedKinds = [
  "invalidParams",
  "recordNotFound",
  "featureDisabled",
  "unauthorized",
  "roleDenied",
  "unsupportedGrant",
  "invalidClient",
  "tooManyRequests",
  "internal",
  "malformedBody",
  "invalidIdempotencyKey",
  "bodyTooLarge",
  "unsupportedMediaType",
  "unavailable",
  "storageFailed",
] as const satisfies readonly ErrorKind[];

const nameOfForm: Readonly<Record<ErrorForm, string>> = {
  status: "Refusal",
  oauth: "TokenRefusal",
  core: "CoreRefusal",
};

/** The position of an error in a text, such as an email template. Assumed: an addition to the specification. */
const position = objectOf({
  field: { type: "string" },
  line: { type: "integer" },
  column: { type: "integer" },
  problem: { type: "string" },
});

/** Schemas of the three error formats. Source: spec "Errors". */
export const refusalSchemas: Readonly<Record<string, Fields>> = {
  CoreRefusal: objectOf({ errors: { type: "array", minItems: 1, items: objectOf({ message: { type: "string" } }) } }),
  Refusal: objectOf({
    status: objectOf(
      {
        message: { type: "string" },
        code: { type: "integer" },
        error_type: { type: "string", enum: typesOf(servedKinds.filter((kind) => !isOAuthKind(kind))) },
      },
      { position },
    ),
  }),
  TokenRefusal: objectOf({ error: { type: "string", enum: typesOf(servedKinds.filter(isOAuthKind)) } }),
};

/** Describes the error responses of a call, by HTTP status. */
export function describeRefusals(endpoint: Endpoint): Fields {
  const { errorForm } = endpoint;
  const statuses = kindsOf(endpoint).map((kind) => httpStatusOf(kind, errorForm));
  const refer = (status: number) => ({ $ref: `#/components/responses/${nameOfForm[errorForm]}${status}` });
  return Object.fromEntries([...new Set(statuses)].map((status) => [status, refer(status)]));
}

/** Describes the error responses of each format, by the names that `describeRefusals` refers to. */
export function refusalResponses(endpoints: Iterable<Endpoint>): Fields {
  const all = [...endpoints];
  const described = (Object.keys(nameOfForm) as ErrorForm[]).flatMap((form) => {
    const kinds = [...new Set(all.filter(({ errorForm }) => errorForm === form).flatMap(kindsOf))];
    const statuses = [...new Set(kinds.map((kind) => httpStatusOf(kind, form)))].toSorted((a, b) => a - b);
    return statuses.map((status) => {
      const those = kinds.filter((kind) => httpStatusOf(kind, form) === status);
      return [`${nameOfForm[form]}${status}`, describeStatus(those, { form, status })];
    });
  });
  return Object.fromEntries(described);
}

/**
 * Lists the kinds of errors that a call may return. Every call of an account may be disabled or rate-limited. A call that
 * changes data may require a token and an existing record, even if its authentication is `open`.
 */
export function kindsOf(endpoint: Endpoint): readonly ErrorKind[] {
  const { auth, errorForm, method, paths, effect, publicKind, needsSecret = false } = endpoint;
  const isOfAccount = auth !== "open";
  const mayNeedToken = isOfAccount || (effect !== "read" && errorForm !== "oauth");
  const namesRow = paths[0].includes("{");
  return servedKinds.filter((kind) => {
    if (kind === "tooManyRequests") return isOfAccount || publicKind !== undefined || needsSecret;
    if (kind === "unauthorized") return mayNeedToken;
    if (kind === "roleDenied") return honorsToken(endpoint) && endpoint.roles.length < roles.length;
    if (kind === "recordNotFound") return mayNeedToken || namesRow || errorForm === "oauth";
    if (kind === "invalidIdempotencyKey") return acceptsIdempotencyKey(endpoint);
    if (isOAuthKind(kind)) return errorForm === "oauth";
    if (kind === "malformedBody" || kind === "bodyTooLarge" || kind === "unsupportedMediaType") return method !== "GET";
    return true;
  });
}

/** A page. Errors are pages for browsers. */
export const html: Fields = { "text/html": { schema: { type: "string" } } };

function describeStatus(
  kinds: readonly ErrorKind[],
  { form, status }: { readonly form: ErrorForm; readonly status: number },
): Fields {
  const names = new Set(kinds.map((kind) => schemaOf(kind, form)));
  const schemas = [...names].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const [only] = schemas;
  const responseHeaders = {
    ...((status === 429 || status === 503) && { "Retry-After": headerRef("RetryAfter") }),
    ...((status === 429 || form === "core") && limitHeaders),
  };
  return {
    description: kinds.map((kind) => `${kind}: \`${errorKinds[kind].type}\``).join("; "),
    ...(Object.keys(responseHeaders).length > 0 && { headers: responseHeaders }),
    content: { "application/json": { schema: schemas.length === 1 ? only : { oneOf: schemas } }, ...html },
  };
}

function schemaOf(kind: ErrorKind, form: ErrorForm): string {
  if (form === "core" || kind === "tooManyRequests") return nameOfForm.core;
  return form === "oauth" && isOAuthKind(kind) ? nameOfForm.oauth : nameOfForm.status;
}

function isOAuthKind(kind: ErrorKind): boolean {
  return kind === "unsupportedGrant" || kind === "invalidClient";
}

function typesOf(kinds: readonly ErrorKind[]): readonly string[] {
  return kinds.map((kind) => errorKinds[kind].type);
}

function objectOf(properties: Fields, optional: Fields = {}): Fields {
  return { type: "object", properties: { ...properties, ...optional }, required: Object.keys(properties) };
}

function headerRef(name: string): Fields {
  return { $ref: `#/components/headers/${name}` };
}

/** Headers of all responses of the core API. Source: spec "Limits". */
export const limitHeaders: Fields = {
  "RateLimit-Remaining": headerRef("RateLimitRemaining"),
  "RateLimit-Reset": headerRef("RateLimitReset"),
};

/** Headers of responses to calls that honored an idempotency key. */
export const keyHeaders: Fields = {
  "Idempotency-Key": headerRef("IdempotencyKey"),
  "Idempotent-Replayed": headerRef("IdempotentReplayed"),
};

/** Headers of responses that caches may store. */
export const cacheHeaders: Fields = { "Cache-Control": headerRef("CacheControl"), ETag: headerRef("ETag") };

const headerOf = (description: string, schema: Fields): Fields => ({ description, schema });

export const headers: Fields = {
  CacheControl: headerOf("How long caches may reuse the response.", { type: "string" }),
  ETag: headerOf("Identifies the content. It changes when a write to the store changes the response.", {
    type: "string",
  }),
  IdempotencyKey: headerOf("The idempotency key of the request, if the call honored it.", { type: "string" }),
  IdempotentReplayed: headerOf("Present if the response is that of an earlier call with the same idempotency key.", {
    type: "string",
    enum: ["true"],
  }),
  RateLimitRemaining: headerOf("Remaining requests in the current window.", { type: "integer", minimum: 0 }),
  RateLimitReset: headerOf("When the window ends, as Unix time in seconds.", { type: "integer", minimum: 0 }),
  RetryAfter: headerOf("How long to wait before retrying, in seconds.", { type: "integer", minimum: 1 }),
};
