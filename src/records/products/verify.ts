import { type ProductField, productFields, type ProductInput } from "../../contract/index.ts";
import * as comparable from "../../import/verify/comparable.ts";
import { expectOne, type StoredRecords } from "../../import/verify/stored-records.ts";
import { type ListedProduct, listProducts } from "../../service/listings.ts";

/** Every column that was sent is compared. */
export const storedProducts: StoredRecords = {
  expected: (item) => {
    const values = valuesSent(item.payload as Partial<ProductInput>);
    return expectOne(item, item.key, "product_id", { product_id: item.key }, values);
  },
  list: async function* (service, options, since) {
    const query = { details: true, ...(since && { updated_at_min: since.toISOString() }) };
    for await (const page of listProducts(service, query, options)) {
      // A product that changes while it is listed appears again, in its new state.
      yield page.map((product) => ({ key: product.external_id, values: valuesStored(product) }));
    }
  },
  canNarrow: true,
};

const fields = Object.entries<ProductField>(productFields);

function valuesSent(product: Partial<ProductInput>): comparable.Values {
  const values: Readonly<Record<string, unknown>> = { ...product, ...product.specs };
  return Object.fromEntries(fields.map(([name, field]) => [name, comparable.sentValue(values[name], field)]));
}

function valuesStored(product: ListedProduct): comparable.Values {
  const values: Readonly<Record<string, unknown>> = product;
  const stored = fields.map(([name, field]) => [name, comparable.storedValue(values[field.listedAs ?? name], field)]);
  return Object.fromEntries(stored);
}
