import { closeSync, existsSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The columns of a generated orders file. */
export const orderColumns = [
  "order_id",
  "order_date",
  "customer_name",
  "email",
  "currency_iso",
  "user_reference",
  "product_id",
  "product_name",
  "product_url",
  "product_image",
  "product_description",
  "product_price",
] as const;

export interface OrdersFile {
  readonly rows: number;
  readonly products: number;
  /** Whether the name of a product differs between rows, as if it had been renamed. */
  readonly hasVaryingNames: boolean;
}

/** 5,000 products, each always with the same values. */
export function realistic(rows: number): OrdersFile {
  return { rows, products: 5_000, hasVaryingNames: false };
}

/** 40,000 products, each with three names. */
export function manyProducts(rows: number): OrdersFile {
  return { rows, products: 40_000, hasVaryingNames: true };
}

/**
 * Writes an orders file if it does not exist: 245 bytes per row on average, one quoted cell in every row, 1.5 rows per
 * order. The same description yields the same bytes.
 * @returns its path
 */
export function writeOrders(folder: string, { rows, products, hasVaryingNames }: OrdersFile): string {
  const random = createRandom();
  const hex = (length: number) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join("");
  let [head, left] = ["", 0];
  return writeFile(
    folder,
    `orders-${rows}-${products}${hasVaryingNames ? "-varying" : ""}.csv`,
    orderColumns,
    rows,
    () => {
      if (left === 0) {
        left = random() < 0.5 ? 1 : 2;
        const customer = hex(12);
        const date = `20${15 + Math.floor(random() * 9)}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`;
        head = `${hex(24)},${date},Customer ${customer.slice(0, 8)},${customer}@example.com,EUR,r-${customer.slice(0, 6)}`;
      }
      left--;
      const product = Math.floor(random() * products);
      const id = `p${product.toString(16).padStart(9, "0")}`;
      const name = `Garden chair ${id.slice(-5)}${hasVaryingNames ? ` v${Math.floor(random() * 3)}` : ""}`;
      const urls = `https://shop.example/products/${id},https://shop.example/images/${id}.jpg`;
      const price = ((product % 400) / 2 + 1).toFixed(2);
      return `${head},${id},${name},${urls},"A chair, for garden and balcony",${price}`;
    },
  );
}

/**
 * Writes a CSV file of numbered rows if it does not exist.
 * @returns its path
 */
export function writeFile(
  folder: string,
  name: string,
  columns: readonly string[],
  rows: number,
  row: (n: number) => string,
): string {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const descriptor = openSync(`${path}.new`, "w");
  let text = `${columns.join(",")}\n`;
  for (let n = 0; n < rows; n++) {
    text += `${row(n)}\n`;
    if (text.length < 1_048_576) continue;
    writeSync(descriptor, text);
    text = "";
  }
  writeSync(descriptor, text);
  closeSync(descriptor);
  renameSync(`${path}.new`, path);
  return path;
}

/** A simple generator of numbers, because the benchmark needs reproducible files, not good randomness. */
export function createRandom(seed = 12_345): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
