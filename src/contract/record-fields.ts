import type { shape } from "./shapes.ts";

/** A field of a stored record. Everything that reads, checks, stores, merges, lists, or compares the record derives from it. */
export interface RecordField {
  /** The type on the wire, with its limits: see `shape`. */
  readonly type: keyof typeof shape;
  readonly isRequired?: true;
  /** `key`: identifies the record. `fixed`: another value is refused. By default, a value that is sent replaces the stored one. */
  readonly change?: "key" | "fixed";
  /** Whether an empty value in an update erases the stored one. By default, it leaves it unchanged. */
  readonly isErasable?: true;
  /** The name in lists, if it is not the field's. */
  readonly listedAs?: string;
  /** Whether lists contain it only on request, because the specification does not. */
  readonly isDetail?: true;
  /** Other names of its column in files. */
  readonly aliases?: readonly string[];
  /** Free text: when an export is imported again, whitespace at both ends is part of the value. */
  readonly isText?: true;
  /** It may describe the customer: it is shown with the customer's data, and erased with it. */
  readonly isPersonal?: true;
  /** An ID, in which a number in scientific notation is damage. */
  readonly isId?: true;
}

export type RecordFields = Readonly<Record<string, RecordField>>;

/** An order without its products. Source: spec "Order (input)". */
export const orderFields = {
  email: { type: "email", isRequired: true, change: "fixed", listedAs: "user_email" },
  customer_name: { type: "name", isRequired: true, listedAs: "user_name", isText: true },
  order_id: { type: "id", isRequired: true, change: "key", isText: true, isId: true },
  order_date: { type: "date" },
  currency_iso: { type: "currency", isDetail: true },
  user_reference: { type: "reference", isDetail: true, isText: true, isPersonal: true, isId: true },
  /** An extension of the specification. */
  language: { type: "language", isDetail: true, isPersonal: true },
} as const satisfies RecordFields;

/** The fields in the order of columns: the key comes first. */
export function inColumnOrder<F extends RecordFields>(fields: F): F {
  const entries = Object.entries(fields);
  const isKey = ([, { change }]: (typeof entries)[number]) => change === "key";
  return Object.fromEntries([...entries.filter(isKey), ...entries]) as F;
}

export interface ProductField extends RecordField {
  /** Whether it is one of `specs`, whose values are normalized. */
  readonly isSpec?: true;
  /** The field of a line item of an order: its name in calls, and in files and lists of line items (`column`). */
  readonly inOrder?: { readonly name: string; readonly column: string; readonly isDetail?: true };
}

const spec = { type: "reference", isSpec: true } as const;

/** The fields of a product, besides its ID. Source: spec "Product (input)". */
export const productFields = {
  name: {
    type: "name",
    isRequired: true,
    isText: true,
    inOrder: { name: "name", column: "product_name" },
    aliases: ["product name"],
  },
  url: { type: "url", isRequired: true, inOrder: { name: "url", column: "product_url" }, aliases: ["product url"] },
  image_url: {
    type: "optionalUrl",
    inOrder: { name: "image", column: "product_image", isDetail: true },
    aliases: ["product image url"],
  },
  description: {
    type: "text",
    isErasable: true,
    isText: true,
    inOrder: { name: "description", column: "product_description" },
    aliases: ["product description"],
  },
  currency_iso: { type: "currency", listedAs: "currency", aliases: ["currency"] },
  price: {
    type: "price",
    inOrder: { name: "price", column: "product_price", isDetail: true },
    aliases: ["product price"],
  },
  product_tags: {
    type: "tags",
    isDetail: true,
    isText: true,
    inOrder: { name: "product_tags", column: "product_tags", isDetail: true },
  },
  blacklisted: { type: "boolean" },
  upc: { ...spec, isDetail: true, isId: true, aliases: ["spec upc"] },
  mpn: { ...spec, isId: true, aliases: ["spec mpn"] },
  brand: { ...spec, aliases: ["spec brand"] },
  isbn: { ...spec, isDetail: true, isId: true, aliases: ["spec isbn"] },
  sku: { ...spec, isId: true, aliases: ["spec sku"] },
  external_sku: { ...spec, isDetail: true, isId: true, aliases: ["spec external sku"] },
} as const satisfies Readonly<Record<string, ProductField>>;

type Fields = typeof productFields;

/** The fields of a product that a line item of an order has, by their names there; the specs are fields of `specs`. */
type LineFields = {
  readonly [
    F in keyof Fields as Fields[F] extends { readonly inOrder: { readonly name: infer N extends string } } ? N : never
  ]: Fields[F];
};

const listed = Object.entries<ProductField>(productFields);

export const lineFields = Object.fromEntries(
  listed.flatMap(([, field]) => (field.inOrder ? [[field.inOrder.name, field]] : [])),
) as LineFields;

type SpecFields = {
  readonly [F in keyof Fields as Fields[F] extends { readonly isSpec: true } ? F : never]: Fields[F];
};

export type SpecName = keyof SpecFields;

export const specFields = Object.fromEntries(listed.filter(([, { isSpec }]) => isSpec === true)) as SpecFields;

/** Source: spec "Product (input)". */
export const specNames = Object.keys(specFields) as readonly SpecName[];

type ColumnOf<F extends keyof Fields> = F extends SpecName
  ? F
  : Fields[F] extends { readonly inOrder: { readonly column: infer C extends string } }
    ? C
    : never;

/** Columns of files of orders, and fields of lists of purchases, to the fields of products. */
export const lineColumns = Object.fromEntries(
  listed.flatMap(([name, { inOrder, isSpec }]) =>
    inOrder || isSpec === true ? [[inOrder?.column ?? name, name]] : [],
  ),
) as { readonly [F in keyof Fields as ColumnOf<F>]: F };

export type LineColumn = keyof typeof lineColumns;

type NamesWith<P extends "isDetail" | "isPersonal", F extends RecordFields> = {
  [N in keyof F]: F[N] extends Readonly<Record<P, true>> ? N & string : never;
}[keyof F];

function namesWith<P extends "isDetail" | "isPersonal", F extends RecordFields>(property: P, fields: F) {
  return Object.keys(fields).filter((name): name is NamesWith<P, F> => fields[name]?.[property] === true);
}

/** The fields of an order and of a product that lists contain only with `details`. */
export const orderDetails = namesWith("isDetail", orderFields);
export const productDetails = namesWith("isDetail", productFields);

/** The optional fields of an order that may describe the customer. */
export const personalOrderFields = namesWith("isPersonal", orderFields);

type LineDetail = {
  [F in keyof Fields]: Fields[F] extends { readonly isSpec: true } | { readonly inOrder: { readonly isDetail: true } }
    ? ColumnOf<F>
    : never;
}[keyof Fields];

/** The columns of a line item that lists of purchases contain only with `details`. */
export const lineDetails = (Object.keys(lineColumns) as LineColumn[]).filter((column): column is LineDetail => {
  const { inOrder, isSpec }: ProductField = productFields[lineColumns[column]];
  return isSpec === true || inOrder?.isDetail === true;
});
