import { Ajv2020 } from "ajv/dist/2020.js";
import type { RawReply } from "./wire.ts";

type Fields = Record<string, unknown>;
type Described = Readonly<Record<string, Readonly<Record<string, Fields>>>>;

/** Compares the responses of a server with an OpenAPI document. */
export interface OpenApiChecker {
  /**
   * Lists the differences between a response and the document; empty if it matches, or if the document does not describe
   * the path, as with a trailing slash. Errors may have other statuses than the described ones.
   */
  readonly findFaults: (method: string, path: string, reply: RawReply) => readonly string[];
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
  const findFaultsOf = ({ path, method, operation }: Place, { status, headers, text }: RawReply): readonly string[] => {
    const type = (headers.get("content-type") ?? "").split(";", 1)[0] ?? "";
    const response = findResponse(document, operation, status);
    const isDescribed = response && (text === "" || findContent(response.part, type));
    if (!isDescribed) {
      return status < 300 ? [`${method} ${path}: ${status} ${type} is not described (${text.slice(0, 200)})`] : [];
    }
    if (type !== "application/json") return [];
    const at = response.at ?? ["paths", path, method, "responses", String(status)];
    return problems([...at, "content", type, "schema"], JSON.parse(text));
  };
  const places = listPlaces(document["paths"] as Described);
  return {
    findFaults: (method, path, reply) => {
      const [bare = ""] = path.split("?");
      const isPlace = ({ method: verb, pattern }: Place) =>
        verb === method.toLowerCase() && (pattern.test(bare) || pattern.test(bare.replace(/[^/]$/, "$&.json")));
      const found = places.filter(isPlace);
      const faults = found.map((place) => findFaultsOf(place, reply));
      // A fixed segment may look like a parameter of another path.
      return faults.some(({ length }) => length === 0) ? [] : faults.flat();
    },
  };
}

interface Place {
  readonly path: string;
  readonly pattern: RegExp;
  readonly method: string;
  readonly operation: Fields;
}

function listPlaces(paths: Described): readonly Place[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return Object.entries(item).map(([method, operation]) => ({ path, pattern, method, operation }));
  });
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
  const types = Object.keys((content as Fields | undefined) ?? {});
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
