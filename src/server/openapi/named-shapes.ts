import * as z from "zod";
import {
  answer,
  coreProduct,
  fullReview,
  listedReview,
  orderError,
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
  maxLength,
} from "../../contract/index.ts";
import { bulkOrder } from "./documented-inputs.ts";

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
export const namedShapes = told;
