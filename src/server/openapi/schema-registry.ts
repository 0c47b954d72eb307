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
 * The elements of bulk calls as they should be. The calls themselves take any element, since each is checked by
 * itself and told in `errors`.
 */
const elements: Partial<Record<OperationName, Readonly<Record<string, z.ZodType>>>> = {
  "orders.create": bulkOrder.shape,
  "orders.massCreate": { orders: z.array(bulkOrder) },
  "products.massCreate": { products: z.record(z.string(), productInput()) },
  "products.massUpdate": { products: z.record(z.string(), productChange()) },
};

/** A call's input as its callers should make it. */
export function documentedInput(name: OperationName, { input }: Endpoint): z.ZodType {
  const fields = elements[name];
  return fields && input instanceof z.ZodObject ? input.extend(fields) : input;
}

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

/** What a shape's own JSON Schema does not say. One with an `id` is described once, under that name. */
const told = z.registry<Record<string, unknown>>();

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
for (const [id, schema] of Object.entries(named)) told.add(schema, { id });

const wholeNumber = {
  anyOf: [
    { type: "integer", minimum: 0 },
    { type: "string", pattern: "^\\d{1,15}$" },
  ],
};
told
  .add(shape.count, { id: "Count", description: "A whole number, in digits or as a number.", ...wholeNumber })
  .add(shape.rowId, { id: "RowId", description: "An id, in digits or as a number.", ...wholeNumber })
  .add(shape.boolean, { id: "Flag", description: "Yes or no, also in words." })
  .add(shape.id, { minLength: 1, maxLength: maxLength.id })
  .add(shape.legalId, { minLength: 1, maxLength: maxLength.id, pattern: "^[A-Za-z0-9_-]+$" })
  .add(shape.name, { minLength: 1, maxLength: maxLength.name })
  .add(shape.content, { minLength: 1, maxLength: maxLength.description })
  .add(shape.reference, { maxLength: maxLength.id })
  .add(shape.email, { format: "email" })
  .add(shape.url, { format: "uri", description: "Starts with `http://` or `https://`." })
  .add(shape.optionalUrl, { description: "Starts with `http://` or `https://`; empty means none." })
  .add(shape.date, { format: "date" })
  .add(shape.price, { maxLength: 32, description: "Digits, and a point before the decimals." })
  .add(shape.currency, { description: "An ISO currency code." })
  .add(shape.tags, { description: "A text, or a list of texts." })
  .add(timestamp(), { format: "date-time" });

/** For `z.toJSONSchema`. */
const namedShapes = told;
