import * as z from "zod";
import {
  answer,
  coreProduct,
  type Endpoint,
  fullReview,
  listedReview,
  maxLength,
  type OperationName,
  orderError,
  orderHead,
  orderProduct,
  productChange,
  productErrors,
  productInput,
  purchaseRecord,
  question,
  shape,
  specs,
  successStatus,
  timestamp,
  topReview,
  unsubscriber,
  userSummary,
  widgetPage,
  widgetReview,
} from "../../contract/index.ts";

const orderProducts = z.record(z.string(), orderProduct());

const bulkOrder = orderHead().extend({ products: orderProducts });

/**
 * The documented elements of bulk calls. The calls themselves accept any element, because each one is validated
 * separately and reported in `errors`.
 */
const elements: Partial<Record<OperationName, Readonly<Record<string, z.ZodType>>>> = {
  "orders.create": bulkOrder.shape,
  "orders.massCreate": { orders: z.array(bulkOrder) },
  "products.massCreate": { products: z.record(z.string(), productInput()) },
  "products.massUpdate": { products: z.record(z.string(), productChange()) },
};

/** The documented input of a call. */
export function documentedInput(name: OperationName, { input }: Endpoint): z.ZodType {
  const fields = elements[name];
  return fields && input instanceof z.ZodObject ? input.extend(fields) : input;
}

/** A part of the document. A validator for the format checks its content. */
export type Fields = Record<string, unknown>;

/** Collects the schemas that are defined once and referenced by name. */
export interface SchemaBook {
  /** Returns the JSON Schema of an input or output. */
  readonly describe: (schema: z.ZodType, io: "input" | "output") => Fields;
  /** Returns the named schemas, sorted by name. */
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
      Object.assign(jsonSchema, io === "input" && describePipe(zodSchema));
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

/** Describes the accepted values of an input that is normalized before validation. */
function describePipe(schema: unknown): Fields {
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

/** Metadata that the JSON Schema of a shape lacks. A shape with an `id` is defined once, under that name. */
const namedShapes = z.registry<Record<string, unknown>>();

const named: Readonly<Record<string, z.ZodType>> = {
  Answer: answer(),
  BulkOrder: bulkOrder,
  CoreProduct: coreProduct(),
  ListedReview: listedReview(),
  OrderError: orderError(),
  OrderProduct: orderProduct(),
  Product: productInput(),
  ProductChange: productChange(),
  ProductErrors: productErrors(),
  ProductSpecs: specs(),
  Purchase: purchaseRecord(),
  Question: question(),
  Review: fullReview(),
  Success: successStatus(),
  TopReview: topReview(),
  Unsubscriber: unsubscriber(),
  UserSummary: userSummary(),
  WidgetPage: widgetPage(),
  WidgetReview: widgetReview(),
};
for (const [id, schema] of Object.entries(named)) namedShapes.add(schema, { id });

const wholeNumber = {
  anyOf: [
    { type: "integer", minimum: 0 },
    { type: "string", pattern: "^\\d{1,15}$" },
  ],
};
namedShapes
  .add(shape.count, {
    id: "Count",
    description: "A non-negative integer, as a string of digits or a number.",
    ...wholeNumber,
  })
  .add(shape.rowId, { id: "RowId", description: "An ID, as a string of digits or a number.", ...wholeNumber })
  .add(shape.boolean, {
    id: "Flag",
    description: "A boolean; strings such as `true` and `no` are also accepted.",
  })
  .add(shape.id, { minLength: 1, maxLength: maxLength.id })
  .add(shape.legalId, { minLength: 1, maxLength: maxLength.id, pattern: "^[A-Za-z0-9_-]+$" })
  .add(shape.name, { minLength: 1, maxLength: maxLength.name })
  .add(shape.content, { minLength: 1, maxLength: maxLength.description })
  .add(shape.reference, { maxLength: maxLength.id })
  .add(shape.email, { format: "email" })
  .add(shape.url, { format: "uri", description: "Starts with `http://` or `https://`." })
  .add(shape.optionalUrl, { description: "Starts with `http://` or `https://`; empty means none." })
  .add(shape.date, { format: "date" })
  .add(shape.price, { maxLength: 32, description: "A decimal number, such as 12.50." })
  .add(shape.currency, { description: "An ISO currency code." })
  .add(shape.tags, { description: "A string, or a list of strings." })
  .add(timestamp(), { format: "date-time" });
