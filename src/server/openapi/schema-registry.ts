import * as z from "zod";
import {
  answer,
  coreProduct,
  day,
  type Endpoint,
  fullReview,
  itemOutcome,
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

/** A part of the document. A test validates the complete document. */
export type Fields = Record<string, unknown>;

/** Collects the named schemas, which are described once and referenced wherever they are used. */
export interface SchemaRegistry {
  /** Converts the schema of an input or output to JSON Schema. */
  readonly describe: (schema: z.ZodType, io: "input" | "output") => Fields;
  /** Returns the named schemas, sorted by name. */
  readonly named: () => Fields;
}

export function createSchemaRegistry(): SchemaRegistry {
  const named = new Map<string, Fields>();
  const addNamed = (name: string, schema: Fields) => {
    const existing = named.get(name);
    if (existing && JSON.stringify(existing) !== JSON.stringify(schema)) {
      throw new Error(`two schemas have the name ${name}`);
    }
    named.set(name, schema);
  };
  return {
    describe: (schema, io) => {
      // Wrapped in an object, so that a named schema is converted to a reference.
      const { $defs = {}, properties } = convert(z.object({ root: schema }), io);
      for (const [name, definition] of Object.entries($defs as Readonly<Record<string, Fields>>)) {
        const { id: _id, ...rest } = definition;
        addNamed(name, rest);
      }
      return (properties as { readonly root: Fields }).root;
    },
    named: () => Object.fromEntries([...named].toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))),
  };
}

function convert(schema: z.ZodType, io: "input" | "output"): Fields {
  const converted = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    metadata: schemaDetails,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, io === "input" && describePipe(zodSchema));
      // A later version may add fields. The safe-integer bounds apply to every integer.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // Property names are always strings.
      delete jsonSchema.propertyNames;
    },
  });
  const text = JSON.stringify(converted).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/');
  return JSON.parse(text) as Fields;
}

/** Describes the accepted values of an input that is normalized before it is validated. */
function describePipe(schema: unknown): Fields {
  if (!(schema instanceof z.ZodPipe)) return {};
  const { in: before, out: after } = schema;
  if (after instanceof z.ZodEnum) return { enum: after.options };
  if (after instanceof z.ZodNumber && after.minValue !== Number.MIN_SAFE_INTEGER) {
    return { minimum: after.minValue, maximum: after.maxValue };
  }
  if (!(after instanceof z.ZodArray && after.element instanceof z.ZodEnum && before instanceof z.ZodUnion)) return {};
  const one = { type: "string", enum: after.element.options };
  return { anyOf: [one, { type: "array", items: one }] };
}

/** Additional properties of schemas. A schema with an `id` is a named schema. */
const schemaDetails = z.registry<Record<string, unknown>>();

const named: Readonly<Record<string, z.ZodType>> = {
  Answer: answer(),
  BulkOrder: bulkOrder,
  CoreProduct: coreProduct(),
  ItemOutcome: itemOutcome(),
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
for (const [id, schema] of Object.entries(named)) schemaDetails.add(schema, { id });

const wholeNumber = {
  anyOf: [
    { type: "integer", minimum: 0 },
    { type: "string", pattern: "^\\d{1,15}$" },
  ],
};
schemaDetails
  .add(shape.count, { id: "Count", description: "An integer, as a number or a string of digits.", ...wholeNumber })
  .add(shape.page, {
    id: "Page",
    description: "A page number or a page size, as a number or a string of digits. Less than 1 counts as 1.",
    anyOf: [{ type: "integer" }, { type: "string", pattern: "^-?\\d{1,15}$" }],
  })
  .add(shape.rowId, { id: "RowId", description: "An ID, as a number or a string of digits.", ...wholeNumber })
  .add(shape.boolean, { id: "Flag", description: "A Boolean, or a common text for one." })
  .add(shape.id, { minLength: 1, maxLength: maxLength.id })
  .add(shape.legalId, { minLength: 1, maxLength: maxLength.id, pattern: "^[A-Za-z0-9_-]+$" })
  .add(shape.name, { minLength: 1, maxLength: maxLength.name })
  .add(shape.content, { minLength: 1, maxLength: maxLength.content })
  .add(shape.reference, { maxLength: maxLength.id })
  .add(shape.email, { format: "email" })
  .add(shape.url, { format: "uri", description: "Starts with `http://` or `https://`." })
  .add(shape.optionalUrl, { description: "Starts with `http://` or `https://`; empty means none." })
  .add(day(), { format: "date" })
  .add(shape.date, { description: "YYYY-MM-DD, or an ISO 8601 timestamp, of which only the day counts." })
  .add(shape.time, { description: "YYYY-MM-DD, or an ISO 8601 timestamp; without an offset, UTC." })
  .add(shape.price, { maxLength: 32, description: "Digits, with a decimal point." })
  .add(shape.currency, { description: "An ISO currency code." })
  .add(shape.tags, { description: "A string or a list of strings." })
  .add(timestamp(), { format: "date-time" });
