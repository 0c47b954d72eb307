import { join } from "node:path";
import {
  lineFields,
  type OrderHead,
  productFields,
  type ProductField,
  ServiceError,
  specNames,
  toShortPrice,
} from "../../contract/index.ts";
import { usageError } from "../../import/import-error.ts";
import type { Item } from "../../import/item.ts";
import type { ItemPreparation, PreparedAttempt } from "../../import/kind.ts";
import { BeforeStore, noteKey } from "../../import/undo/previous-values.ts";
import { type ListedProduct, listProducts } from "../../service/listings.ts";
import { DiskMap } from "../../storage/sqlite/disk-map.ts";
import type { WireProduct } from "./line-item.ts";

type OrderPayload = OrderHead & { products: Record<string, WireProduct> };

/** The fields of a product in an order, and then its specs and its currency. */
const lineNames = Object.keys(lineFields);
const names: readonly string[] = [...lineNames, ...specNames, "currency_iso"];
const [urlAt, priceAt, currencyAt] = [names.indexOf("url"), names.indexOf("price"), names.indexOf("currency_iso")];

/** The values of a product, in the order of `names`; null if not specified. */
type Values = (string | number | null)[];

type Value = Readonly<Record<string, unknown>>;

function readValue(value: unknown): string | number | null {
  return (typeof value === "string" && value !== "") || typeof value === "number" ? value : null;
}

function valuesOf(product: WireProduct, currency: string | null): Values {
  const own: Value = product;
  const specs: Value | null | undefined = product.specs;
  const values = lineNames.map((name) => readValue(own[name]));
  for (const name of specNames) values.push(specs ? readValue(specs[name]) : null);
  values.push(readValue(currency));
  return values;
}

/** The same values, without the block of the file that they are part of. */
function copy(values: Values): Values {
  return JSON.parse(JSON.stringify(values)) as Values;
}

/** Whether a product has exactly these values. Most rows of a product are the same, so this does not collect them. */
function hasValues(product: WireProduct, currency: string | null, values: Values): boolean {
  const own: Value = product;
  const specs: Value | null | undefined = product.specs;
  for (let at = 0; at < currencyAt; at++) {
    const name = names[at] ?? "";
    const value = at < lineNames.length ? own[name] : specs?.[name];
    if (readValue(value) !== values[at]) return false;
  }
  return readValue(currency) === values[currencyAt];
}

/** What is known of a product: the values of the newest orders that specify them. */
interface Known {
  /** The date of the newest order, in milliseconds since the epoch. */
  at: number;
  values: Values;
  /** The dates of the orders that the values are from, if not all are from the newest. */
  dates?: readonly number[];
  /** The fields in which the orders differ, as bits of `comparedFields`. */
  differing?: number;
}

/** Fields whose differences are reported, with their names in the plural. */
const comparedFields = [
  { one: "name", many: "names", at: names.indexOf("name") },
  { one: "price", many: "prices", at: priceAt },
  { one: "URL", many: "URLs", at: urlAt },
];

/** The most products named in a notice. */
const maxExamples = 3;

interface Difference {
  count: number;
  readonly examples: string[];
}

/**
 * What the orders of a run write to the products that they name. A product has one name, URL, and price, and the service
 * keeps those of the last order that it receives, whereas a file may begin with the newest one. So each order is sent with
 * the values of the newest order so far that has a value for the field. The last order of a product then has the newest
 * ones of all, in whatever order the rows of a file are.
 */
export class ProductValues implements ItemPreparation {
  readonly #known: DiskMap<Known>;
  /** The products as they were before the run, and their highest ID. */
  readonly #stored: BeforeStore | undefined;
  /** Whether orders are sent the stored values of their products. */
  readonly #keepsStored: boolean;
  /** Whether rows without a URL have that of the stored product. */
  readonly fillsUrls: boolean;
  /** The products without a URL, while they are counted. */
  #withoutUrl: DiskMap<1> | undefined;
  readonly #differences = comparedFields.map((): Difference => ({ count: 0, examples: [] }));
  readonly #separates: boolean;
  /** What calls add so that the service leaves products alone that existed before the run. */
  readonly restriction: { readonly update_products_since_id?: number };

  private constructor(
    { folder, options, withoutUrl }: PreparedAttempt,
    { stored, keepsStored }: { readonly stored: BeforeStore | undefined; readonly keepsStored: boolean },
  ) {
    this.#known = new DiskMap(join(folder, "newest.db"));
    this.#stored = stored;
    this.#separates = options.productIdFrom === undefined;
    this.fillsUrls = withoutUrl !== undefined;
    const lastId = keepsStored ? stored?.get(noteKey)?.["last_id"] : undefined;
    this.restriction = typeof lastId === "number" ? { update_products_since_id: lastId } : {};
    this.#keepsStored = keepsStored && stored !== undefined && lastId === undefined;
  }

  /**
   * @param keepsStored whether products that exist before the run are not changed
   * @throws ServiceError if the service does not answer
   */
  static async open(attempt: PreparedAttempt, keepsStored: boolean): Promise<ProductValues> {
    const path = join(attempt.folder, "products.db");
    if (attempt.isFirst && (keepsStored || attempt.withoutUrl)) await recordStored(path, attempt);
    return new ProductValues(attempt, { stored: BeforeStore.find(path), keepsStored });
  }

  /** The URL of a stored product, for a row of a file without URLs. */
  urlOf(id: string): string | undefined {
    const url = (this.#stored?.get(id)?.["values"] as Values | undefined)?.[urlAt];
    if (!url) this.#withoutUrl?.set(id, 1);
    return url ? String(url) : undefined;
  }

  /** @throws ImportError `usage` if a file lacks URLs, and so do products that it names */
  async requireUrls({ folder, withoutUrl, isFirst, service, ...attempt }: PreparedAttempt): Promise<void> {
    if (!withoutUrl || !isFirst || !service) return;
    using found = new DiskMap<1>(join(folder, "without-url.db"));
    this.#withoutUrl = found;
    await attempt.readItems(() => {});
    this.#withoutUrl = undefined;
    const { message, hint, quotesCells } = withoutUrl;
    const which = found.size === 1 ? "1 product is" : `${found.size.toLocaleString("en-US")} products are`;
    if (found.size > 0) throw usageError(`${message}; ${which} not stored with one`, hint, { quotesCells });
  }

  prepare(item: Item): void {
    const { products, order_date, currency_iso = null } = item.payload as OrderPayload;
    // The service gives an order without a date that of the call.
    const at = order_date ? Date.parse(order_date) : Number.POSITIVE_INFINITY;
    let stale: Set<string> | undefined;
    for (const { id, record } of item.parts ?? []) {
      if (!this.#note(id, record as WireProduct, currency_iso, at)) (stale ??= new Set()).add(id);
    }
    if (!stale && !this.#keepsStored) return;
    for (const [id, product] of this.#keepsStored ? Object.entries(products) : []) {
      // A service without extensions changes a product with every order, so it is sent what it has stored.
      const stored = this.#stored?.get(id);
      if (stored) products[id] = withValues(product, stored["values"] as Values, currency_iso);
      if (stored) stale?.delete(id);
    }
    for (const id of stale ?? []) {
      const [product, known] = [products[id], this.#known.get(id)];
      if (product && known) products[id] = withValues(product, known.values, currency_iso);
    }
  }

  /** @returns whether the values of a row are the newest */
  #note(id: string, product: WireProduct, currency: string | null, at: number): boolean {
    const known = this.#known.get(id);
    if (!known) {
      this.#known.set(id, { at, values: copy(valuesOf(product, currency)) });
      return true;
    }
    if (!known.dates && hasValues(product, currency, known.values)) {
      if (at > known.at) known.at = at;
      return true;
    }
    return this.#merge(id, known, valuesOf(product, currency), at);
  }

  #merge(id: string, known: Known, own: Values, at: number): boolean {
    const { values } = known;
    const dates = known.dates?.slice() ?? values.map(() => known.at);
    let isNewest = true;
    this.#compare(id, known, values, own);
    const isNewer = (field: number) => values[field] === null || at >= (dates[field] ?? 0);
    // A currency is that of the price, if there is one.
    const bearer = own[priceAt] === null && values[priceAt] === null ? currencyAt : priceAt;
    const takesCurrency = own[bearer] !== null && isNewer(bearer);
    for (const [field, value] of own.entries()) {
      if (value === null) continue;
      if (field === currencyAt ? takesCurrency : isNewer(field)) {
        values[field] = value;
        dates[field] = at;
      } else if (values[field] !== value) isNewest = false;
    }
    known.values = copy(values);
    known.at = Math.max(at, known.at);
    if (dates.some((date, field) => date !== known.at && values[field] !== null)) known.dates = dates;
    else delete known.dates;
    return isNewest;
  }

  #compare(id: string, known: Known, values: Values, own: Values): void {
    for (const [index, { at }] of comparedFields.entries()) {
      const [before = null, now = null] = [values[at], own[at]];
      const bit = 1 << index;
      if (before === null || now === null || ((known.differing ?? 0) & bit) !== 0) continue;
      if (before === now || (at === priceAt && toShortPrice(String(before)) === toShortPrice(String(now)))) continue;
      known.differing = (known.differing ?? 0) | bit;
      const difference = this.#differences[index];
      if (!difference) continue;
      difference.count++;
      if (difference.examples.length < maxExamples) difference.examples.push(`${id} (${before}; ${now})`);
    }
  }

  /** The products whose rows differ. */
  *notices(): Generator<string> {
    for (const [index, { count, examples }] of this.#differences.entries()) {
      if (count === 0) continue;
      const { one = "", many = "" } = comparedFields[index] ?? {};
      const others = count > examples.length ? `, and ${(count - examples.length).toLocaleString("en-US")} more` : "";
      const which = `${count === 1 ? "1 product has" : `${count.toLocaleString("en-US")} products have`} several ${many}: ${examples.join(", ")}${others}`;
      const separate =
        one === "name" && this.#separates ? "; to import them as separate products, pass --product-id-from name" : "";
      yield `${which}; a new product gets the ${one} of its newest order${separate}`;
    }
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
    this.#stored?.[Symbol.dispose]();
  }
}

/**
 * Records which products exist before a run: their highest ID, or, if the service does not report it, their values.
 * @throws ServiceError if the service does not answer
 */
async function recordStored(path: string, attempt: PreparedAttempt): Promise<void> {
  const { service, callOptions, report, withoutUrl } = attempt;
  if (!service) return;
  try {
    const { products, pagination } = await service.core.listProducts({ limit: 1, details: true }, callOptions);
    if (products.length === 0) return;
    const { last_id } = pagination;
    using store = new BeforeStore(path);
    if (store.ended) return;
    await store.fill(async () => {
      if (last_id !== undefined) store.add([[noteKey, { last_id }]]);
      if (last_id !== undefined && !withoutUrl) return;
      let [records, calls] = [0, 1];
      for await (const page of listProducts(service, {}, callOptions)) {
        store.add(page.map((product) => [product.external_id, { values: storedValues(product) }]));
        records += page.length;
        report({ type: "readBack", records, calls: ++calls });
      }
    });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.temporary) throw error;
    if (withoutUrl) return;
    const count = await countProducts(attempt);
    const change = `may change the names, URLs, images, and prices of ${count === 1 ? "1 product" : `up to ${count.toLocaleString("en-US")} products`} that it has already`;
    report({
      type: "notice",
      message: `the service ${change}: it does not list its products (${error.message}), so they cannot be kept as they are`,
    });
  }
}

async function countProducts(attempt: PreparedAttempt): Promise<number> {
  using seen = new DiskMap<1>(join(attempt.folder, "seen.db"));
  await attempt.readItems((items) => {
    for (const id of items.flatMap(({ payload }) => Object.keys((payload as OrderPayload).products))) seen.set(id, 1);
  });
  return seen.size;
}

function storedValues(product: ListedProduct): Values {
  const listed: Value = product;
  const fields = Object.entries<ProductField>(productFields);
  const stored = new Map(
    fields.map(([name, { inOrder, listedAs }]) => [inOrder?.name ?? name, readValue(listed[listedAs ?? name])]),
  );
  return names.map((name) => stored.get(name) ?? null);
}

/**
 * A product with other values in the fields that it has; those without a value are omitted. Its units keep their prices.
 * @param currency the order's
 */
function withValues(product: WireProduct, values: Values, currency: string | null): WireProduct {
  const changed: Record<string, unknown> = { ...product };
  const specs: Record<string, unknown> | undefined = product.specs ? { ...product.specs } : undefined;
  for (const [at, name] of names.entries()) {
    const target = at < lineNames.length ? changed : specs;
    if (at === currencyAt || target === undefined || readValue(target[name]) === null) continue;
    const value = values[at] ?? null;
    if (value !== null) target[name] = value;
    else if (name === "image") target[name] = "";
    else delete target[name];
  }
  if (specs) changed["specs"] = specs;
  const own = values[currencyAt] ?? null;
  if (own !== null && own !== currency) changed["currency_iso"] = own;
  const price = values[priceAt] ?? null;
  if (product.price !== undefined && price !== product.price) changed["unit_prices"] = pricesOf(product);
  return changed as WireProduct;
}

/** The price of each unit. */
export function pricesOf({ quantity = 1, price = null, unit_prices = [] }: WireProduct): (string | number | null)[] {
  return Array.from({ length: quantity }, (_, unit) => unit_prices[unit] ?? (unit in unit_prices ? null : price));
}
