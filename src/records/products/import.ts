import { productChange, productInput } from "../../contract/index.ts";
import { readBoolean } from "../../import/check/boolean.ts";
import {
  describeIssues,
  lastOf,
  pick,
  pickSpecs,
  readProductId,
  settlePrice,
  unknownElement,
} from "../../import/check/fields.ts";
import { fixableFields } from "../../import/check/valid-id.ts";
import { productHoldings } from "../holdings.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import type { FieldSpec, Importing, Kind, RowProblem } from "../../import/kind.ts";

type WireProduct = Record<string, unknown>;

/** Columns, with the names of the catalogue layout that other vendors export. */
const fields: readonly FieldSpec[] = [
  { name: "product_id", required: true },
  { name: "name", aliases: ["product name"], required: true },
  { name: "url", aliases: ["product url"], required: true },
  { name: "image_url", aliases: ["product image url"] },
  { name: "description", aliases: ["product description"] },
  { name: "currency_iso", aliases: ["currency"] },
  { name: "price", aliases: ["product price"] },
  { name: "product_tags" },
  { name: "blacklisted" },
  { name: "upc", aliases: ["spec upc"] },
  { name: "mpn", aliases: ["spec mpn"] },
  { name: "brand", aliases: ["spec brand"] },
  { name: "isbn", aliases: ["spec isbn"] },
  { name: "sku", aliases: ["spec sku"] },
  { name: "external_sku", aliases: ["spec external sku"] },
];

const wireFields = {
  name: "name",
  url: "url",
  image_url: "image_url",
  description: "description",
  currency_iso: "currency_iso",
  price: "price",
  product_tags: "product_tags",
} as const;

/**
 * What `--empty clear` does to products.
 * Source: spec "mass_update": an empty description erases the stored one. Assumed: of the other fields the
 * specification says no such thing, and creating a product that is there only adds to it: their empty cells are left
 * out, and said.
 */
const erasedByUpdate = { fields: ["description"], otherwise: "the service erases nothing but a description" };
const erasedByNothing = {
  fields: [],
  otherwise: "creating products erases nothing; --update erases a description",
};

export const products: Kind = {
  name: "products",
  prepare: ({ update = false }) => createImporting(update),
};

function createImporting(update: boolean): Importing {
  const shape = (update ? productChange : productInput)();
  return {
    operation: update ? "products.massUpdate" : "products.massCreate",
    fields: update ? fields.map((field) => ({ ...field, required: field.name === "product_id" })) : fields,
    idField: "product_id",
    urlField: "url",
    legalIds: fixableFields,
    erasing: update ? erasedByUpdate : erasedByNothing,
    itemName: { one: "product", many: "products" },

    read: (row, source, leaveOut, erased) => {
      const problems: RowProblem[] = [];
      const key = readProductId(row, problems);
      const blacklisted = readBoolean(row, "blacklisted", problems);
      const specs = pickSpecs(row, leaveOut);
      const picked = pick(row, wireFields);
      settlePrice(picked, "price", problems);
      const value: WireProduct = {
        ...picked,
        ...Object.fromEntries(erased.map((field) => [field, ""])),
        ...(specs ? { specs } : {}),
        ...(blacklisted === undefined ? {} : { blacklisted }),
      };
      const parsed = shape.safeParse(value);
      if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, lastOf));
      if (problems.length > 0) return problems;
      return { key, lane: "", rows: [source], size: JSON.stringify(value).length, payload: value };
    },

    writes: ({ key, payload }) => [[key, JSON.stringify(payload)]],
    holdings: productHoldings,

    send: async (service, items, options) => {
      const sent = { products: Object.fromEntries(items.map((item) => [item.key, item.payload])) };
      const call = update ? service.products.massUpdate : service.products.massCreate;
      const { errors = {} } = await call(sent, options);
      return Object.entries(errors).map(([ordinal, error]) => {
        const at = items.findIndex((item) => item.key === (error.product_id ?? ordinal));
        if (at < 0) throw unknownElement(`product ${error.product_id ?? ordinal}`);
        const { field, code, reason } = readServiceProblem(lastOf(error.field.split(".")), error.error);
        return { item: at, field, code, reason };
      });
    },
  };
}
