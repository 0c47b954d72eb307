import * as z from "zod";
import { namedShapes } from "./named-shapes.ts";

/** A part of the document; what it may hold is checked by a validator that knows the format. */
export type Fields = Record<string, unknown>;

/** Collects the schemas that are described once and named wherever they are used. */
export interface SchemaBook {
  /** The JSON Schema of what goes in, or comes out. */
  readonly describe: (schema: z.ZodType, io: "input" | "output") => Fields;
  /** By name, in the order of names. */
  readonly named: () => Fields;
}

export function createSchemaBook(): SchemaBook {
  const named = new Map<string, Fields>();
  const keep = (name: string, schema: Fields) => {
    const kept = named.get(name);
    if (kept && JSON.stringify(kept) !== JSON.stringify(schema)) {
      throw new Error(`the name ${name} stands for two schemas`);
    }
    named.set(name, schema);
  };
  return {
    describe: (schema, io) => {
      // Inside of another, so that a schema which has a name is referred to as everywhere else.
      const { $defs = {}, properties } = convert(z.object({ held: schema }), io);
      for (const [name, definition] of Object.entries($defs as Readonly<Record<string, Fields>>)) {
        const { id: _id, ...rest } = definition;
        keep(name, rest);
      }
      return (properties as { readonly held: Fields }).held;
    },
    named: () =>
      Object.fromEntries([...named].toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))),
  };
}

function convert(schema: z.ZodType, io: "input" | "output"): Fields {
  const converted = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    metadata: namedShapes,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, io === "input" && tellOfPipe(zodSchema));
      // A later version may add fields, and these are the bounds of every number that is an integer.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // Every name is text.
      delete jsonSchema.propertyNames;
    },
  });
  const text = JSON.stringify(converted).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/');
  return JSON.parse(text) as Fields;
}

/** What is left to say of an input whose form is made uniform before it is judged: the values that pass. */
function tellOfPipe(schema: unknown): Fields {
  if (!(schema instanceof z.ZodPipe)) return {};
  const { in: before, out: after } = schema;
  if (after instanceof z.ZodEnum) return { enum: after.options };
  if (after instanceof z.ZodNumber && after.minValue !== Number.MIN_SAFE_INTEGER) {
    return { minimum: after.minValue, maximum: after.maxValue };
  }
  if (!(after instanceof z.ZodArray && after.element instanceof z.ZodEnum && before instanceof z.ZodUnion)) {
    return {};
  }
  const one = { type: "string", enum: after.element.options };
  return { anyOf: [one, { type: "array", items: one }] };
}
