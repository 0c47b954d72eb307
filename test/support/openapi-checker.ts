import { Ajv2020 } from "ajv/dist/2020.js";
import type { RawReply } from "./wire.ts";

type Fields = Record<string, unknown>;
type Described = Readonly<Record<string, Readonly<Record<string, Fields>>>>;

/** A request that was sent. */
export interface SentRequest {
  readonly method: string;
  /** The path, including the query. */
  readonly path: string;
  readonly body?: unknown;
}

/** Compares requests and responses with an OpenAPI document. */
export interface OpenApiChecker {
  /** Lists the differences between a call and the document; empty if the call matches. */
  readonly findContractFaults: (operationId: string, sent: SentRequest, reply: RawReply) => readonly string[];
}

/** @param document OpenAPI 3.1; objects may have only the fields that it declares */
export function createOpenApiChecker(document: Fields): OpenApiChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addFormat("date", /^\d{4}-\d\d-\d\d$/);
  ajv.addFormat("email", /@/);
  ajv.addFormat("uri", /^https?:/);
  ajv.addSchema(close(structuredClone(document)), "document", undefined, false);
  const problems = (pointer: readonly string[], value: unknown): readonly string[] => {
    const validate = ajv.getSchema(`document#/${pointer.map(escape).join("/")}`);
    if (!validate) return [`${pointer.join(" ")} is not described`];
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${pointer.slice(1, 5).join(" ")}: ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  return {
    findContractFaults: (operationId, { method, path, body }, { status, headers, text }) => {
      const place = findPlace(document["paths"] as Described, operationId);
      if (!place) return [`${operationId} is not described`];
      const pointer = ["paths", place.path, place.method];
      const type = (headers.get("content-type") ?? "").split(";", 1)[0] ?? "";
      const response = findResponse(document, place.operation, status);
      const isDescribed = response && findContent(response.part, type);
      return [
        ...findPlaceFaults(place, method, path),
        ...(body === undefined
          ? []
          : problems([...pointer, "requestBody", "content", "application/json", "schema"], body)),
        ...(isDescribed ? [] : [`${operationId}: ${status} ${type} is not described (${text.slice(0, 200)})`]),
        ...(response && isDescribed && type === "application/json"
          ? problems(
              [...(response.at ?? [...pointer, "responses", String(status)]), "content", type, "schema"],
              JSON.parse(text),
            )
          : []),
      ];
    },
  };
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly operation: Fields;
}

function findPlace(paths: Described, operationId: string): Place | undefined {
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation["operationId"] === operationId) return { path, method, operation };
    }
  }
  return undefined;
}

function findPlaceFaults({ path, method, operation }: Place, usedMethod: string, used: string): readonly string[] {
  const [usedPath = "", usedQuery = ""] = used.split("?");
  const pattern = new RegExp(`^${path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  const matches = pattern.test(usedPath) && method === usedMethod.toLowerCase();
  const parameters = (operation["parameters"] ?? []) as readonly Fields[];
  const query = new Set(parameters.flatMap((parameter) => (parameter["in"] === "query" ? [parameter["name"]] : [])));
  const secured = (operation["security"] as readonly Fields[]).some((scheme) => "utoken" in scheme);
  const sentNames = [...new URLSearchParams(usedQuery).keys()].filter((name) => name !== "utoken" || !secured);
  return [
    ...(matches ? [] : [`${usedMethod} ${usedPath} is not ${method} ${path}`]),
    ...sentNames.filter((name) => !query.has(name)).map((name) => `${path} has no ${name} in its query`),
  ];
}

/** Finds the description of a response, and its location if it is outside of the operation. */
function findResponse(document: Fields, operation: Fields, status: number) {
  const part = (operation["responses"] as Readonly<Record<string, Fields>>)[String(status)];
  const reference = part?.["$ref"];
  if (typeof reference !== "string") return part && { part, at: undefined };
  const pointer = reference.slice("#/".length).split("/");
  const found = pointer.reduce<unknown>((node, key) => (node as Fields | undefined)?.[key], document);
  return found === undefined ? undefined : { part: found as Fields, at: pointer };
}

function findContent({ content }: Fields, type: string): boolean {
  const types = Object.keys(content as Fields);
  return types.includes(type) || types.includes(`${type.split("/", 1)[0]}/*`);
}

function escape(token: string): string {
  return encodeURIComponent(token.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Disallows undeclared fields in every object that does not explicitly allow them. */
function close<T>(part: T): T {
  if (typeof part !== "object" || part === null) return part;
  const schema = part as Fields;
  const isObject = schema["type"] === "object" && typeof schema["properties"] === "object";
  if (isObject && !("additionalProperties" in schema)) schema["additionalProperties"] = false;
  for (const inner of Object.values(schema)) close(inner);
  return part;
}
