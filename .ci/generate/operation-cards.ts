import type { FieldCard, OperationCard } from "../../src/cli/commands/operations/operation-card.ts";
import { callerNames, type Endpoint, type OperationName, operations } from "../../src/contract/index.ts";
import { createSchemaRegistry, documentedInput, type Fields } from "../../src/server/openapi/schema-registry.ts";
import { kindsOf } from "../../src/server/openapi/error-responses.ts";

/** Errors about request bodies, headers, and the server, which no command line can cause. */
const unseen = new Set([
  "malformedBody",
  "invalidIdempotencyKey",
  "bodyTooLarge",
  "unsupportedMediaType",
  "internal",
  "unavailable",
  "storageFailed",
]);
const appKeyNames: ReadonlySet<string> = new Set(callerNames.appKey);

/** The text of `src/cli/commands/operations/operation-cards.ts`, made from the contract. */
export function writeCards(): string {
  const cards = [...operations].map(([name, endpoint]) => {
    return `  ${JSON.stringify(name)}: () => (${JSON.stringify(describe(name, endpoint))}),\n`;
  });
  return `import { lazyValues } from "../../../contract/lazily.ts";
export const operationCards = lazyValues({
${cards.join("")}});
`;
}

function describe(name: OperationName, endpoint: Endpoint): OperationCard {
  const { summary, method, paths, auth, effect, listing, destroys, overwrites, extension, returnsSecret } = endpoint;
  const schema = new Schemas();
  const details = readDetailColumns(name, endpoint, schema);
  return {
    summary,
    method,
    path: paths[0],
    auth,
    effect,
    fields: readFields(name, endpoint, schema),
    columns: readColumns(endpoint, schema),
    ...(details.length > 0 && { detailColumns: details }),
    errors: kindsOf(endpoint).filter((kind) => !unseen.has(kind)),
    ...(listing && { listing }),
    ...(destroys && { destroys }),
    ...(overwrites && { overwrites }),
    ...(extension && { isExtension: true }),
    ...(returnsSecret && { returnsSecret: true }),
  };
}

/** JSON Schemas with what they refer to. */
class Schemas {
  readonly #book = createSchemaRegistry();

  input(name: OperationName, endpoint: Endpoint): Fields {
    return this.#book.describe(documentedInput(name, endpoint), "input");
  }

  output({ output }: Endpoint): Fields {
    return this.#book.describe(output, "output");
  }

  /** The schema itself where it is only named, and without the null that it may be. */
  open(schema: Fields): Fields {
    const { $ref, anyOf } = schema as { readonly $ref?: string; readonly anyOf?: readonly Fields[] };
    if ($ref !== undefined) {
      const id = $ref.split("/").at(-1) ?? "";
      return { ...this.open((this.#book.named()[id] ?? {}) as Fields), id };
    }
    const rest = anyOf?.filter(({ type }) => type !== "null") ?? [];
    return anyOf && rest.length === 1 && rest[0] ? this.open(rest[0]) : schema;
  }
}

function propertiesOf(schema: Fields): readonly (readonly [string, Fields])[] {
  return Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, Fields>>);
}

function readFields(name: OperationName, endpoint: Endpoint, schemas: Schemas): readonly FieldCard[] {
  const { paths, secretFields = [] } = endpoint;
  const input = schemas.input(name, endpoint);
  const partsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, part = ""]) => part);
  const inEveryPath = partsOf(paths[0]).filter(
    (part) => !appKeyNames.has(part) && paths.every((path) => partsOf(path).includes(part)),
  );
  const fields = propertiesOf(input).flatMap(([field, schema]) => {
    const isRequired = ((input["required"] ?? []) as readonly string[]).includes(field);
    return readField([field], schema, { isRequired, schemas });
  });
  const marked = fields.map((field): FieldCard => {
    const place = field.path.join(".");
    return Object.assign(
      field,
      inEveryPath.includes(place) && { isArgument: true },
      secretFields.includes(place) && { isSecret: true },
    );
  });
  // Arguments in the order of the path.
  const order = (field: FieldCard) =>
    field.isArgument ? inEveryPath.indexOf(field.path[0] ?? "") : inEveryPath.length;
  return marked.toSorted((one, other) => order(one) - order(other));
}

interface Found {
  readonly isRequired: boolean;
  readonly schemas: Schemas;
}

function readField(path: readonly string[], given: Fields, { isRequired, schemas }: Found): FieldCard[] {
  const schema = schemas.open(given);
  const inside = propertiesOf(schema);
  if (path.length === 1 && inside.length > 0 && schema["additionalProperties"] === undefined) {
    const required = (schema["required"] ?? []) as readonly string[];
    return inside.flatMap(([name, held]) =>
      readField([...path, name], held, { isRequired: isRequired && required.includes(name), schemas }),
    );
  }
  const oneOf = valuesOf(schema);
  const limits = oneOf ? undefined : describeLimits(schema);
  return [
    {
      path,
      type: typeOf(schema),
      ...(isRequired && { isRequired: true }),
      ...(oneOf && { oneOf }),
      ...(limits && { limits }),
    },
  ];
}

/** What a schema allows, one by one, null aside. */
function alternatives(schema: Fields): readonly Fields[] {
  const { anyOf = [schema] } = schema as { readonly anyOf?: readonly Fields[] };
  return anyOf
    .flatMap((one) => (Array.isArray(one["type"]) ? one["type"].map((type: unknown) => ({ ...one, type })) : [one]))
    .filter(({ type }) => type !== "null");
}

function valuesOf(schema: Fields): readonly string[] | undefined {
  const found = alternatives(schema).find(({ enum: values }) => Array.isArray(values));
  const values = found?.["enum"] as readonly unknown[] | undefined;
  const isTruth = values?.every((value) => value === "true" || value === "false");
  return isTruth ? undefined : values?.map(String);
}

function typeOf(schema: Fields): FieldCard["type"] {
  if (schema["id"] === "Flag") return "switch";
  const types = alternatives(schema).map(({ type }) => type);
  if (new Set(types).size > 2) return "value";
  if (types.includes("boolean") && types.every((type) => type === "boolean" || type === "string")) return "switch";
  if (["Count", "Page", "RowId"].includes(String(schema["id"]))) return "number";
  const list = alternatives(schema).find(({ type }) => type === "array") as { readonly items?: Fields } | undefined;
  if (list && isText(list.items ?? {})) return types.includes("string") && !hasValues(list) ? "text" : "list";
  if (types.every((type) => type === "integer" || type === "number")) return "number";
  return isText(schema) ? "text" : "json";
}

function hasValues({ items }: { readonly items?: Fields }): boolean {
  return valuesOf(items ?? {}) !== undefined;
}

/** Whether a field takes text. A schema without a type does, and validates it itself. */
function isText(schema: Fields): boolean {
  return alternatives(schema).some(
    ({ type, enum: values, anyOf, $ref }) =>
      type === "string" || Array.isArray(values) || (type ?? anyOf ?? $ref) === undefined,
  );
}

/** Describes the accepted values: format, range, and length. */
function describeLimits(schema: Fields): string | undefined {
  const all = alternatives(schema).concat(schema);
  const find = (key: string) => all.map((one) => one[key]).find((value) => value !== undefined);
  const [maxLength, minimum, maximum, maxItems] = ["maxLength", "minimum", "maximum", "maxItems"].map(find);
  const words = [
    find("pattern") === "^[A-Za-z0-9_-]+$" && "letters, digits, _ and -",

    find("format") === "uri" && "http:// or https://",
    describesTime(find("description")) && "YYYY-MM-DD or timestamp",
    typeof maximum === "number" && `${typeof minimum === "number" ? minimum : 0} to ${maximum}`,
    typeof maxLength === "number" && `at most ${maxLength} characters`,
    typeof maxItems === "number" && `at most ${maxItems}`,
  ].filter((word) => typeof word === "string");
  return words.length > 0 ? words.join(", ") : undefined;
}

function describesTime(description: unknown): boolean {
  return typeof description === "string" && description.startsWith("YYYY-MM-DD");
}

/** The fields of a list that only `details` adds. */
function readDetailColumns(name: OperationName, endpoint: Endpoint, schemas: Schemas): readonly string[] {
  const hasDetails = propertiesOf(schemas.input(name, endpoint)).some(([field]) => field === "details");
  const element = hasDetails ? elementOf(endpoint, schemas) : undefined;
  const required = (element?.["required"] ?? []) as readonly string[];
  return element ? readColumns(endpoint, schemas).filter((column) => !required.includes(column)) : [];
}

function elementOf(endpoint: Endpoint, schemas: Schemas): Fields | undefined {
  const inside = propertiesOf(schemas.open(schemas.output(endpoint)));
  const list = inside.find(([name]) => name === endpoint.listing?.items)?.[1];
  return list && schemas.open((schemas.open(list)["items"] ?? {}) as Fields);
}

/** The fields that a table can show: those of each element of a list, or of the single record. */
function readColumns(endpoint: Endpoint, schemas: Schemas): readonly string[] {
  const output = schemas.open(schemas.output(endpoint));
  const inside = propertiesOf(output);
  const [only] = inside;
  const record =
    elementOf(endpoint, schemas) ??
    (inside.length === 1 && only && propertiesOf(schemas.open(only[1])).length > 0 ? schemas.open(only[1]) : output);
  return propertiesOf(record)
    .filter(([, schema]) => isCell(schemas.open(schema)))
    .map(([name]) => name);
}

function isCell(schema: Fields): boolean {
  return alternatives(schema).every(({ type, enum: values, const: only }) => {
    return (
      ["string", "integer", "number", "boolean", "null"].includes(String(type)) ||
      Array.isArray(values) ||
      only !== undefined
    );
  });
}
