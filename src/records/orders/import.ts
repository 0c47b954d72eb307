import {
  emailKeyOf,
  type FieldError,
  isSurelyHead,
  languages,
  matchLanguage,
  maxQuantity,
  orderFields,
  orderHead,
  type OrderError,
  type OrderHead,
  orderLimits,
  type Platform,
  platforms,
} from "../../contract/index.ts";
import { usageError } from "../../import/import-error.ts";
import { readDate } from "../../import/check/date.ts";
import { describeIssues, lastOf, readProductId, unknownElement } from "../../import/check/fields.ts";
import { readServiceProblem } from "../../import/check/service-errors.ts";
import { readOutcomes } from "../../import/check/service-outcomes.ts";
import { productFieldOf, readProduct, type WireProduct } from "./line-item.ts";
import { platformOf, WaitingMails, withoutEmails } from "./scheduled-emails.ts";
import type { RecordUnit } from "../../import/csv/file-format.ts";
import type { Item, ItemError, ReportDropped, RowError, RowView, SourceRow } from "../../import/item.ts";
import type {
  ItemPreparation,
  PreparedAttempt,
  PreparedImport,
  RecordImporter,
  RecordKind,
} from "../../import/kind.ts";
import { type OrderOptions, orderPlan } from "./plan.ts";
import { orderLayouts } from "./layouts/all.ts";
import { isCanceledStatus } from "./layouts/lines.ts";
import { orderSynonyms } from "./synonyms.ts";
import { pricesOf, ProductValues } from "./product-values.ts";
import { createOrderUndo } from "./undo.ts";
import { storedOrders } from "./verify.ts";

/** The order's own fields; columns and wire fields have the same names. */
const headFields = Object.keys(orderFields);

/** The limits of one order, in addition to those of the service, in rows and characters. */
const maxOrder = { rows: 5_000, size: 2 * 1024 * 1024 } as const;

/** What a row and a unit add to the size of a call, in characters: calls then have no more units than the service accepts. */
const addedSize = { row: 90, unit: 210 } as const;

type OrderPayload = OrderHead & { products: Record<string, WireProduct> };

function isPlatform(value: string): value is Platform {
  return (platforms as readonly string[]).includes(value);
}

/** Reads the order's own fields and adds all their errors. */
function readHead(
  row: RowView,
  validate: boolean,
  problems: RowError[],
  reportDropped: ReportDropped,
): OrderHead | undefined {
  const values: Record<string, string | undefined> = {};
  for (const field of headFields) values[field] = row(field) || undefined;
  const date = values["order_date"];
  if (date !== undefined) values["order_date"] = readDate(date) ?? date;
  const language = values["language"];
  if (language !== undefined) {
    values["language"] = matchLanguage(language);
    if (values["language"] === undefined) reportDropped("language", `is not one of ${languages.join(", ")}`);
  }
  if (isSurelyHead(values) && (date !== undefined || !validate)) return values;
  const parsed = orderHead().safeParse(values);
  if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, lastOf));
  if (date === undefined && validate) problems.push({ field: "order_date", code: "missing", reason: "is missing" });
  return parsed.data;
}

/**
 * Adds the product of a further row to an order. Repeating a product adds units; its last row wins. Rows with an
 * explicit quantity never exceed the limit: the quantity was capped, and so is the sum.
 * @param size the size of the order with the row
 */
function addProduct(item: Item, productId: string, product: WireProduct, size: number): boolean {
  const { products } = item.payload as OrderPayload;
  const before = products[productId];
  // Counts only if there can be as many: each product has a part, and each unit its share of the size.
  const isNearLimit = (item.parts?.length ?? 0) >= orderLimits.products;
  if (!before && isNearLimit && Object.keys(products).length >= orderLimits.products) return false;
  const units = (before ? (before.quantity ?? 1) : 0) + (product.quantity ?? 1);
  if (units > maxQuantity && product.quantity === undefined) return false;
  const quantity = Math.min(units, maxQuantity);
  const added = quantity - (before?.quantity ?? (before ? 1 : 0));
  if (size > addedSize.unit * orderLimits.units && unitsOf(item) + added > orderLimits.units) return false;
  products[productId] = before ? joinProducts(before, product, quantity) : product;
  return true;
}

/** What a row writes to its product; most products have nothing else. */
function withoutUnits(product: WireProduct): WireProduct {
  if (product.quantity === undefined && product.unit_prices === undefined) return product;
  const { quantity: _quantity, unit_prices: _prices, ...written } = product;
  return written;
}

function unitsOf({ payload }: Item): number {
  const { products } = payload as OrderPayload;
  return Object.values(products).reduce((sum, { quantity = 1 }) => sum + quantity, 0);
}

/** Each unit keeps the price of its own row; the product has the last price. */
function joinProducts(before: WireProduct, product: WireProduct, quantity: number): WireProduct {
  // A row without an image leaves that of an earlier one; only calls need an empty one.
  const image = product.image || before.image;
  const { unit_prices: _prices, ...joined } = { ...before, ...product, image, quantity };
  const prices = [...pricesOf(before), ...pricesOf(product)].slice(0, quantity);
  const isOnePrice = prices.every((price) => price === (joined.price ?? null));
  return isOnePrice ? joined : { ...joined, unit_prices: prices };
}

/**
 * The number of units of a row's line item; 1 without a column for it.
 * Assumed: more than the maximum count as the maximum; an integer may have zero decimals, as shops export it.
 */
function readUnits(row: RowView, problems: RowError[], reportDropped: ReportDropped): number {
  const value = row("quantity");
  if (value === "") return 1;
  const field = "quantity";
  const units = /^\d{1,15}(?:[.,]0+)?$/.test(value) ? Number.parseInt(value, 10) : 0;
  if (units < 1) {
    problems.push({ field, code: "bad_quantity", reason: "is not a positive integer number of units" });
  } else if (units > maxQuantity) {
    reportDropped(field, `more than ${maxQuantity} units of a product; ${maxQuantity} are stored`);
  }
  return Math.min(units, maxQuantity);
}

/** Reads the product of a row, and the number of its units. */
function readLine(
  row: RowView,
  problems: RowError[],
  reportDropped: ReportDropped,
  storedUrl: string | undefined,
): { readonly product: WireProduct; readonly units: number } | undefined {
  const units = readUnits(row, problems, reportDropped);
  const product = readProduct(row, problems, reportDropped, storedUrl);
  // Stated units replace those of a stored order; otherwise, a row is one more unit.
  if (product && row("quantity") !== "") product.quantity = units;
  return product && { product, units };
}

function sizeOf(cells: readonly string[], units: number): number {
  let size = addedSize.row + addedSize.unit * units;
  for (const cell of cells) size += cell.length;
  return size;
}

export const orderImporter: RecordImporter = {
  prepare: prepareImport,
  layouts: orderLayouts,
  synonyms: orderSynonyms,
  plan: orderPlan,
  undo: createOrderUndo,
};

/**
 * What `--empty clear` does to orders. Assumed: nothing, since the service keeps an order as it was first sent. A line
 * item also writes its product, but only a product update erases fields.
 */
const erasedByOrders = {
  fields: [],
  otherwise: "orders erase nothing; to erase a description, use `products import --update`",
};

/** What an import knows of its rows. */
class OrderReader implements ItemPreparation {
  readonly #options: OrderOptions;
  readonly #platform: Platform;
  /** Whether orders that are canceled cause no emails. */
  readonly #findsCanceled: boolean;
  #values: ProductValues | undefined;
  /** Items that are canceled. */
  #canceled = 0;

  constructor(options: OrderOptions, platform: Platform) {
    this.#options = options;
    this.#platform = platform;
    this.#findsCanceled = options.sendMail === true && options.includeCanceled !== true;
  }

  /** What calls add so that the service leaves products alone that existed before the run. */
  get restriction() {
    return this.#values?.restriction;
  }

  async open(attempt: PreparedAttempt): Promise<this> {
    this.#values = await ProductValues.open(attempt, this.#options.updateProducts !== true);
    await this.#values.requireUrls(attempt);
    return this;
  }

  read(row: RowView, source: SourceRow, reportDropped: ReportDropped): Item | readonly RowError[] {
    const problems: RowError[] = [];
    const head = readHead(row, this.#options.validate ?? true, problems, reportDropped);
    const productId = readProductId(row, problems);
    const platform = row("platform") || this.#platform;
    if (!isPlatform(platform)) {
      problems.push({ field: "platform", code: "bad_platform", reason: `'${platform}' is not a known platform` });
    }
    const storedUrl = this.#values?.fillsUrls ? this.#values.urlOf(productId) : undefined;
    const line = readLine(row, problems, reportDropped, storedUrl);
    if (!head || !line || problems.length > 0) return problems;
    const isCanceled = this.#findsCanceled && isCanceledStatus(row("order_status"));
    const payload = head as OrderPayload;
    // An object without a prototype is faster for keys that vary.
    payload.products = Object.create(null) as OrderPayload["products"];
    payload.products[productId] = line.product;
    const size = sizeOf(source.cells, line.units);
    return {
      key: head.order_id,
      batchKey: isCanceled ? `${platform}${withoutEmails}` : platform,
      rows: [source],
      size,
      payload,
      parts: [{ id: productId, row: source, record: line.product }],
    };
  }

  prepare(item: Item): void {
    this.#values?.prepare(item);
    if (item.batchKey.endsWith(withoutEmails)) this.#canceled++;
  }

  *notices(): Generator<string> {
    if (this.#canceled > 0) {
      const orders = this.#canceled === 1 ? "1 order is" : `${this.#canceled.toLocaleString("en-US")} orders are`;
      yield `${orders} canceled, refunded, or voided, and ${this.#canceled === 1 ? "causes" : "cause"} no emails; to send them too, pass --include-canceled`;
    }
    yield* this.#values?.notices() ?? [];
  }

  [Symbol.dispose](): void {
    this.#values?.[Symbol.dispose]();
  }
}

function prepareImport(options: OrderOptions, { fields }: RecordKind): PreparedImport {
  const { platform, validate = true, sendMail = false } = options;
  const defaultPlatform = platform ?? "general";
  if (!isPlatform(defaultPlatform)) {
    const accepted = `accepted values: ${platforms.join(", ")}`;
    throw usageError(`invalid value "${defaultPlatform}" for --platform`, accepted);
  }
  const waiting = new WaitingMails();
  const reader = new OrderReader(options, defaultPlatform);
  return {
    operation: "orders.massCreate",
    keyedBy: "run",
    ...(!validate && {
      fields: fields.map((field) => (field.name === "order_date" ? { ...field, required: false } : field)),
    }),
    groupField: "order_id",
    sharedFields: [...headFields, "platform", "order_status"],
    // A given flag takes precedence over a layout's platform.
    ...(platform !== undefined && { suppliedFields: { platform: defaultPlatform } }),
    erasing: erasedByOrders,
    read: (row, source, reportDropped) => reader.read(row, source, reportDropped),

    // The order itself, and its products; no product ID contains a space.
    writes: function* ({ key, payload }) {
      yield [`order ${key}`, payload];
      for (const [id, product] of Object.entries((payload as OrderPayload).products)) yield [id, withoutUnits(product)];
    },

    join: joinOrder,
    prepareItems: (attempt) => reader.open(attempt),
    storedRecords: storedOrders,

    send: async (service, items, callOptions) => {
      const batchKey = items[0]?.batchKey ?? defaultPlatform;
      const isSilent = batchKey.endsWith(withoutEmails);
      const reply = await service.orders.massCreate(
        {
          platform: platformOf(batchKey),
          validate_data: validate,
          send_mail: sendMail && !isSilent,
          ...reader.restriction,
          details: true,
          orders: items.map((item) => item.payload as OrderPayload),
        },
        // The key names the rows of the run, whose files never change.
        { ...callOptions, engine: service.engine && { inputStage: "checked", inputText: callOptions.idempotencyKey } },
      );
      if (!isSilent) waiting.add(reply.mails);
      const errors = (reply.errors ?? []).map((error) => locateError(items, error));
      const outcomes = reply.outcomes?.map((outcome) => {
        return outcome.fields ? Object.assign({}, outcome, { fields: columnsOf(outcome.fields) }) : outcome;
      });
      return readOutcomes({ outcomes, errors }, (at, dropped) => locateIn(items, at, dropped));
    },

    notices: () => (sendMail ? waiting.describe() : []),
  };
}

function joinOrder(item: Item, next: Item, unit: RecordUnit): RowError | undefined {
  const [mine, other] = [item.payload as OrderPayload, next.payload as OrderPayload];
  const differs = `differs from ${unit} ${item.rows[0]?.line} of the same order`;
  if (emailKeyOf(mine.email) !== emailKeyOf(other.email)) {
    return { field: "email", code: "order_conflict", reason: differs };
  }
  if (platformOf(next.batchKey) !== platformOf(item.batchKey))
    return { field: "platform", code: "order_conflict", reason: differs };
  const size = item.size + next.size;
  const isTooLarge = item.rows.length >= maxOrder.rows || size > maxOrder.size;
  const { id = "" } = next.parts?.[0] ?? {};
  const product = other.products[id];
  if (isTooLarge || !product || !addProduct(item, id, product, size)) {
    return {
      field: "order_id",
      code: "order_too_large",
      reason: `an order may have at most ${orderLimits.products} products, ${orderLimits.units} units, ${maxQuantity} units of a product, ${maxOrder.rows} rows, and 2 MiB`,
    };
  }
  item.rows.push(...next.rows);
  item.parts?.push(...(next.parts ?? []));
  item.size = size;
  return undefined;
}

/** The columns of changed fields: for `products.<product id>.price`, `product_price`. */
function columnsOf(fields: readonly string[]): string[] {
  return [...new Set(fields.map((field) => productFieldOf(field.split("."))))];
}

/** Errors are matched by order ID, since services differ in the first value of `order_num`. */
function locateError(items: readonly Item[], error: OrderError): ItemError {
  const byId = items.findIndex((item) => item.key === error.order_id);
  const at = byId >= 0 ? byId : (error.order_num ?? -1);
  if (!items[at]) throw unknownElement(`order ${error.order_id}`);
  return locateIn(items, at, error);
}

function locateIn(items: readonly Item[], at: number, { field, error }: FieldError): ItemError {
  const item = items[at] as Item;
  const path = field.split(".");
  // `products.<product id>.<field>`: the first row of the order with this product.
  const part = path[0] === "products" ? item.parts?.find(({ id }) => id === path[1]) : undefined;
  const row = part ? item.rows.indexOf(part.row) : -1;
  const problem = readServiceProblem(productFieldOf(path), error);
  return { item: at, ...problem, ...(row >= 0 && { row }) };
}
