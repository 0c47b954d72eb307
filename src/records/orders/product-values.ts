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
import { asNumber, type WireProduct } from "./line-item.ts";

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

/** Separates values: no text that is sent contains it. */
const separator = "\0";

/** The values of a product as one text, in the order of `names`: a list takes more time to compare, and more memory. */
function textOf(product: WireProduct, currency: string | null): string {
  const own: Value = product;
  const specs: Value | null | undefined = product.specs;
  const values = names.map((name, at) =>
    at < lineNames.length ? own[name] : at < currencyAt ? specs?.[name] : currency,
  );
  return values.join(separator);
}

/** The values of a text that `textOf` returned. */
function readText(text: string): Values {
  return text.split(separator).map((value, at) => (value === "" ? null : at === priceAt ? asNumber(value) : value));
}

/** What is known of a product: the values of the newest orders that specify them. */
interface Known {
  /** The day of the newest order. */
  day: string;
  /** See `textOf`. */
  text: string;
  /** The days of the orders that the values are from, if not all are from the newest. */
  days?: string[] | undefined;
  /** The fields in which the orders differ, as bits of `comparedFields`. */
  differing: number;
}

/** The day of an order without a date, to which the service gives that of the call: no file has a later one. */
const lastDay = "9999-12-31";

/** Fields whose differences are reported, with their names in the plural, and their bits in `Known.differing`. */
const comparedFields = [
  { one: "name", many: "names", at: names.indexOf("name"), bit: 1 },
  { one: "price", many: "prices", at: priceAt, bit: 2 },
  { one: "URL", many: "URLs", at: urlAt, bit: 4 },
];

/** The most products named in a notice. */
const maxExamples = 3;

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
  readonly #differences = comparedFields.map((field) => Object.assign({ count: 0, examples: Array<string>() }, field));
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
    const day = order_date || lastDay;
    let stale: Set<string> | undefined;
    for (const { id, record } of item.parts ?? []) {
      if (!this.#note(id, record as WireProduct, currency_iso, day)) (stale ??= new Set()).add(id);
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
      if (product && known) products[id] = withValues(product, readText(known.text), currency_iso);
    }
  }

  /** @returns whether the values of a row are the newest */
  #note(id: string, product: WireProduct, currency: string | null, day: string): boolean {
    const text = textOf(product, currency);
    const known = this.#known.get(id);
    if (!known) {
      this.#known.set(id, { day, text, days: undefined, differing: 0 });
      return true;
    }
    if (known.days || text !== known.text) return this.#merge(id, known, text.split(separator), day);
    if (day > known.day) known.day = day;
    return true;
  }

  #merge(id: string, known: Known, own: readonly string[], day: string): boolean {
    const values = known.text.split(separator);
    const { days = values.map(() => known.day) } = known;
    let [isNewest, isChanged] = [true, false];
    this.#compare(id, known, values, own);
    const isNewer = (field: number) => values[field] === "" || day >= (days[field] ?? "");
    // A currency is that of the price, if there is one.
    const bearer = own[priceAt] === "" && values[priceAt] === "" ? currencyAt : priceAt;
    const takesCurrency = own[bearer] !== "" && isNewer(bearer);
    for (let field = 0; field < names.length; field++) {
      const value = own[field] ?? "";
      if (value === "") continue;
      if (field === currencyAt ? takesCurrency : isNewer(field)) {
        isChanged ||= values[field] !== value;
        values[field] = value;
        days[field] = day;
      } else if (values[field] !== value) isNewest = false;
    }
    if (isChanged) known.text = values.join(separator);
    if (day > known.day) known.day = day;
    known.days = days.some((one, field) => one !== known.day && values[field] !== "") ? days : undefined;
    return isNewest;
  }

  #compare(id: string, known: Known, values: readonly string[], own: readonly string[]): void {
    for (const difference of this.#differences) {
      const { at, bit, examples } = difference;
      const [before = "", now = ""] = [values[at], own[at]];
      if (before === now || before === "" || now === "" || (known.differing & bit) !== 0) continue;
      if (at === priceAt && toShortPrice(before) === toShortPrice(now)) continue;
      known.differing |= bit;
      difference.count++;
      if (examples.length < maxExamples) examples.push(`${id} (${before}; ${now})`);
    }
  }

  /** The products whose rows differ. */
  *notices(): Generator<string> {
    for (const { one, many, count, examples } of this.#differences) {
      if (count === 0) continue;
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
  for (let at = 0; at < currencyAt; at++) {
    const name = names[at] ?? "";
    const target = at < lineNames.length ? changed : specs;
    if (target === undefined || readValue(target[name]) === null) continue;
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
