import {
  type FieldError,
  type ItemOutcome,
  productChange,
  type ProductField,
  productFields,
  productInput,
} from "../../contract/index.ts";
import { readBoolean } from "../../import/check/date.ts";
import {
  describeIssues,
  lastOf,
  pickSpecs,
  readProductId,
  settlePrice,
  unknownElement,
} from "../../import/check/fields.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import { readOutcomes } from "../../import/check/service-outcomes.ts";
import type { Item, ItemError, RowError } from "../../import/item.ts";
import type { PreparedImport, RecordImporter, RecordKind } from "../../import/kind.ts";
import type { ImportOptions } from "../../import/options.ts";
import { listProducts } from "../../service/listings.ts";
import { bigcommerceProducts } from "./layouts/bigcommerce.ts";
import { magento1Products, magentoProducts } from "./layouts/magento.ts";
import { shopifyProducts, shopifyVariants } from "./layouts/shopify.ts";
import { vendProducts, wixProducts } from "./layouts/hosted-shops.ts";
import { woocommerceProducts } from "./layouts/woocommerce.ts";
import { productUndo } from "./undo.ts";
import { storedProducts } from "./verify.ts";
import type { Layout } from "../../import/layouts/layout.ts";
import type { PlanBehavior } from "../../import/plan/plan-behavior.ts";
import { type FieldSynonyms, synonyms } from "../../import/mapping/names.ts";
import { productSynonyms } from "../product-synonyms.ts";

const columnSynonyms: Readonly<Record<string, FieldSynonyms>> = {
  product_id: productSynonyms.id,
  name: productSynonyms.name,
  url: productSynonyms.url,
  image_url: productSynonyms.image,
  description: productSynonyms.description,
  currency_iso: productSynonyms.currency,
  price: productSynonyms.price,
  product_tags: productSynonyms.tags,
  blacklisted: synonyms("blacklisted|blacklist|no mails|mails stopped|gesperrt|ausgeschlossen"),
  ...productSynonyms.specs,
};

const productPlan: PlanBehavior = {
  ids: [{ type: "product", writtenIn: "product_id", name: "name" }],
  keyOf: ({ key }) => key,

  loadStored: async (service, tally, options) => {
    for await (const page of listProducts(service, {}, options)) {
      for (const { external_id, name } of page) tally.addStored("product", external_id, name);
    }
  },

  describe: async (_options, rehearsed) => {
    if (!rehearsed) return {};
    const { service, startedMs, callOptions } = rehearsed;
    const since = new Date(startedMs).toISOString();
    let changed = 0;
    for await (const page of listProducts(service, { updated_at_min: since }, callOptions)) {
      changed += page.filter(({ created_at }) => Date.parse(created_at) < startedMs).length;
    }
    return { changed };
  },
};

/**
 * The product catalog that other review vendors export. Its columns are aliases of the native ones, so nothing needs
 * translation.
 */
const catalog: Layout = {
  name: "catalog",
  title: "a product catalog",
  signatures: [["Product ID", "Product Name", "Product URL", "Product Image URL", "Product Price"]],
  fields: {},
};

type WireProduct = Record<string, unknown>;

/** The columns that are sent as they are. */
const plainFields = Object.entries<ProductField>(productFields).flatMap(([name, { type, isSpec }]) =>
  isSpec === true || type === "boolean" ? [] : [{ name, isPrice: type === "price" }],
);

/**
 * What `--empty clear` does to products.
 * Source: spec "mass_update": an empty description erases the stored one. Assumed: the specification says nothing
 * similar about other fields, and creating an existing product only adds to it; their empty cells are dropped with a
 * notice.
 */
const erasedByUpdate = { fields: ["description"], otherwise: "the service can erase only a description" };
const erasedByNothing = {
  fields: [],
  otherwise: "creating products erases nothing; to erase a description, pass --update",
};

export interface ProductOptions extends ImportOptions {
  update?: boolean | undefined;
}

export const productImporter: RecordImporter = {
  prepare: prepareImport,
  layouts: [
    catalog,
    shopifyProducts,
    shopifyVariants,
    woocommerceProducts,
    magentoProducts,
    magento1Products,
    bigcommerceProducts,
    wixProducts,
    vendProducts,
  ],
  synonyms: columnSynonyms,
  plan: productPlan,
  undo: () => productUndo,
};

function prepareImport({ update = false }: ProductOptions, { fields }: RecordKind): PreparedImport {
  const shape = (update ? productChange : productInput)();
  return {
    operation: update ? "products.massUpdate" : "products.massCreate",
    ...(update && {
      fields: fields.map((field) => ({ ...field, required: field.name === "product_id" })),
    }),
    groupField: "product_id",
    idField: "product_id",
    maxRows,
    join: joinProduct,
    erasing: update ? erasedByUpdate : erasedByNothing,

    read: (row, source, reportDropped, erased) => {
      const problems: RowError[] = [];
      const key = readProductId(row, problems);
      const blacklisted = readBoolean(row, "blacklisted", problems);
      const specs = pickSpecs(row, reportDropped);
      const picked = plainFields.flatMap(({ name, isPrice }) => {
        const cell = row(name);
        const value = cell !== "" && isPrice ? settlePrice(cell, name, problems) : cell;
        return value === undefined || value === "" ? [] : [[name, value]];
      });
      const value: WireProduct = {
        ...Object.fromEntries(picked),
        ...Object.fromEntries(erased.map((field) => [field, ""])),
        ...(specs ? { specs } : {}),
        ...(blacklisted === undefined ? {} : { blacklisted }),
      };
      const parsed = shape.safeParse(value);
      if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, lastOf));
      if (problems.length > 0) return problems;
      return { key, batchKey: "", rows: [source], size: JSON.stringify(value).length, payload: value };
    },

    writes: ({ key, payload }) => [[key, payload]],
    storedRecords: storedProducts,

    send: async (service, items, options) => {
      const sent = { products: Object.fromEntries(items.map((item) => [item.key, item.payload])) };
      const call = update ? service.products.massUpdate : service.products.massCreate;
      const { errors = {}, outcomes } = await call({ ...sent, details: true }, options);
      const located = Object.entries(errors).map(([ordinal, error]) => {
        const at = items.findIndex((item) => item.key === (error.product_id ?? ordinal));
        if (at < 0) throw unknownElement(`product ${error.product_id ?? ordinal}`);
        return locate(at, error);
      });
      const byId = new Map(outcomes?.map((outcome) => [outcome.product_id, outcome]));
      const inOrder = outcomes && items.map(({ key }) => withColumns(byId.get(key)));
      return readOutcomes({ outcomes: inOrder, errors: located }, locate);
    },
  };
}

/** The maximum number of rows that are combined, so that memory use is bounded. */
const maxRows = 1_000;

/**
 * Adds the values of a further row of the same product, which win. Sending the rows one after the other would store the
 * same values, but each would change those of the row before it.
 */
function joinProduct(item: Item, next: Item): undefined {
  const [before, added] = [item.payload as WireProduct, next.payload as WireProduct];
  const [first] = item.rows;
  const [row] = next.rows;
  if (!first || !row) return;
  item.writtenIn ??= new Map(fieldsOf(before).map((field) => [field, first]));
  for (const field of fieldsOf(added)) item.writtenIn.set(field, row);
  const specs = { ...specsOf(before), ...specsOf(added) };
  item.payload = { ...before, ...added, ...(Object.keys(specs).length > 0 && { specs }) };
  item.isIndivisible = true;
  item.rows.push(...next.rows);
  item.size += next.size;
}

function fieldsOf(product: WireProduct): string[] {
  return [...Object.keys(product), ...Object.keys(specsOf(product))];
}

function specsOf({ specs }: WireProduct): Readonly<Record<string, unknown>> {
  return (specs ?? {}) as Readonly<Record<string, unknown>>;
}

/** The outcome with the columns of its fields: for `specs.sku`, `sku`. */
function withColumns(found: ItemOutcome | undefined): ItemOutcome | undefined {
  return found && { ...found, fields: found.fields?.map((field) => lastOf(field.split("."))) };
}

function locate(item: number, { field: path, error }: FieldError): ItemError {
  return { item, ...readServiceProblem(lastOf(path.split(".")), error) };
}
