import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { operations } from "../../../../src/contract/index.ts";
import { createDocument } from "../../../../src/server/openapi/document.ts";

type Fields = Record<string, unknown>;

interface Operation {
  readonly operationId: string;
  readonly "x-alias-of"?: string;
  readonly "x-extension"?: string;
  readonly parameters?: readonly Fields[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Fields }>> };
  readonly responses: Fields;
  readonly security: readonly Fields[];
}

const root = join(import.meta.dirname, "../../../..");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
const document = JSON.parse(JSON.stringify(createDocument({ version }))) as Fields & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const described = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Resolves a `$ref`; returns other parts unchanged. */
function resolve(part: Fields): Fields {
  const { $ref } = part;
  if (typeof $ref !== "string") return part;
  const found = $ref
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((held, key) => (held as Fields | undefined)?.[key], document);
  if (found === undefined) throw new Error(`nothing is at ${$ref}`);
  return found as Fields;
}

/** Every object in the document. */
function listParts(part: unknown): readonly Fields[] {
  if (typeof part !== "object" || part === null) return [];
  return [...(Array.isArray(part) ? [] : [part as Fields]), ...Object.values(part).flatMap(listParts)];
}

const bodyOf = (id: string) => {
  const found = described.find(({ operation }) => operation.operationId === id);
  return found?.operation.requestBody?.content["application/json"]?.schema as
    | { readonly properties: Readonly<Record<string, Fields>>; readonly required?: readonly string[] }
    | undefined;
};
const queryOf = (id: string) =>
  (described.find(({ operation }) => operation.operationId === id)?.operation.parameters ?? [])
    .map(resolve)
    .filter((parameter) => parameter["in"] === "query")
    .map(({ name, required = false }) => [name, required]);

describe("the OpenAPI document", () => {
  it("states the version and the URL of the service", () => {
    expect(createDocument({ version: "9.8.7", publicUrl: "https://api.example" })).toMatchObject({
      info: { version: "9.8.7", license: { identifier: "MIT" } },
      servers: [{ url: "https://api.example" }],
    });
    expect(document).toMatchObject({ info: { version }, servers: [{ url: "/" }] });
  });

  it("is valid OpenAPI 3.1 according to a validator", async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    const { info: _info, ...broken } = structuredClone(document);
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  it("contains no dangling references", () => {
    const references = listParts(document).filter((part) => "$ref" in part);
    expect(references.length).toBeGreaterThan(100);
    for (const reference of references) expect(resolve(reference)).toBeTypeOf("object");
  });

  it("uses every component", () => {
    const used = new Set(listParts(document).map(({ $ref }) => $ref));
    const { securitySchemes: _named, ...components } = document["components"] as Readonly<Record<string, Fields>>;
    const held = Object.entries(components).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect(held.filter((name) => !used.has(name))).toEqual([]);
  });

  it("contains JSON Schemas of the 2020-12 draft", () => {
    const ajv = new Ajv2020({ strict: false });
    const schemas = [
      ...Object.values((document["components"] as { schemas: Fields }).schemas),
      ...listParts(document).flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
    ];
    expect(schemas.length).toBeGreaterThan(100);
    for (const schema of schemas) expect([ajv.validateSchema(schema as Fields), ajv.errors]).toEqual([true, null]);
  });
});

describe("operations", () => {
  it("are the 46 of the specification and the extensions", () => {
    const own = described.map(({ operation }) => operation).filter((operation) => !operation["x-alias-of"]);
    expect(own.filter((operation) => !operation["x-extension"])).toHaveLength(46);
    expect(own.map(({ operationId }) => operationId).toSorted()).toEqual([...operations.keys()].toSorted());
  });

  it("cover exactly the paths of the contract", () => {
    const declared = [...operations.values()].flatMap(({ method, alsoGet, paths, htmlPaths = [] }) =>
      [...paths, ...htmlPaths].flatMap((path) =>
        [method, alsoGet && "GET"].flatMap((each) => (each ? [`${each} ${path}`] : [])),
      ),
    );
    const found = described.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(found.toSorted()).toEqual(declared.toSorted());
  });

  it("have unique IDs, and aliases refer to the main path", () => {
    const ids = described.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of described) {
      const of = operation["x-alias-of"];
      if (of) expect(operation.operationId.startsWith(`${of}.`)).toBe(true);
    }
  });

  it("have paths that no other path matches", () => {
    const shapes = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, "{}"));
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it.each(described)("declare each path parameter once: $method $path", ({ path, operation }) => {
    const parameters = (operation.parameters ?? []).map(resolve);
    const inPath = parameters.filter((parameter) => parameter["in"] === "path");
    const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
    expect(inPath.map(({ name, required }) => [name, required])).toEqual(parts.map((part) => [part, true]));
    const keys = parameters.map((parameter) => `${String(parameter["in"])} ${String(parameter["name"])}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("authentication", () => {
  it.each([
    ["coupons.list", [{ utoken: [] }]],
    ["coupons.upload", [{ utoken: [] }, {}]],
    ["core.listProducts", [{ serviceToken: [] }]],
    ["reviews.get", []],
    ["reviews.create", []],
  ])("secure %s with %j", (id, security) => {
    const found = described.find(({ operation }) => operation.operationId === id);
    expect(found?.operation.security).toEqual(security);
  });

  it("uses the app key in the query or body if the path has none", () => {
    expect(queryOf("users.signIn")).toContainEqual(["app_key", true]);
    expect(bodyOf("reviews.create")?.required).toContain("appkey");
    expect(bodyOf("products.massCreate")?.properties).not.toHaveProperty("appkey");
    expect(bodyOf("products.massCreate")?.properties).toHaveProperty("utoken");
  });
});

describe("inputs", () => {
  it("of a GET are in the query, and lists are repeated", () => {
    expect(queryOf("reviews.widget")).toEqual([
      ["per_page", false],
      ["page", false],
      ["star", false],
      ["sort[]", false],
      ["direction", false],
    ]);
    expect(queryOf("reviews.bottomLine")).toEqual([["callback", false]]);
  });

  it("include the limits of bulk calls and the schemas of their elements", () => {
    const { orders } = bodyOf("orders.massCreate")?.properties ?? {};
    expect(orders).toEqual({ type: "array", maxItems: 2_000, items: { $ref: "#/components/schemas/BulkOrder" } });
    expect(bodyOf("products.massCreate")?.properties["products"]).toMatchObject({
      maxProperties: 500,
      additionalProperties: { $ref: "#/components/schemas/Product" },
    });
    expect(bodyOf("orders.create")?.required?.toSorted()).toEqual(
      ["customer_name", "email", "order_id", "platform", "products"].toSorted(),
    );
  });
});
