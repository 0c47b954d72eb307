import { type ProductInput, specNames } from "../../contract/index.ts";
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

function valuesSent(product: Partial<ProductInput>): comparable.Values {
  const { name, url, image_url, description, currency_iso, price, product_tags, specs, blacklisted } = product;
  return {
    name: comparable.sentText(name),
    url: comparable.sentText(url),
    image_url: comparable.sentText(image_url),
    // An update with an empty description erases the stored one; other empty values are not sent.
    description: comparable.text(description),
    currency_iso: comparable.sentText(currency_iso?.toUpperCase()),
    price: comparable.price(price),
    product_tags: comparable.sentText(product_tags),
    blacklisted: comparable.text(blacklisted),
    ...Object.fromEntries(specNames.map((spec) => [spec, comparable.sentSpec(specs?.[spec])])),
  };
}

function valuesStored(product: ListedProduct): comparable.Values {
  const { name, url, image_url, description, currency, price, product_tags, blacklisted } = product;
  return {
    name: comparable.text(name),
    url: comparable.text(url),
    image_url: comparable.text(image_url),
    description: comparable.text(description),
    currency_iso: comparable.text(currency),
    price: comparable.price(price),
    product_tags: comparable.text(product_tags),
    blacklisted: comparable.text(blacklisted),
    ...Object.fromEntries(specNames.map((spec) => [spec, comparable.text(product[spec])])),
  };
}
