import { closeSync, existsSync, openSync, statSync, writeSync } from "node:fs";

/** The columns of a generated orders file. */
export const columns = [
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

const catalogSize = 5_000;

/**
 * Writes an orders file: 12 columns, about 250 bytes per row, quotes in 10 % of the rows, 1 % invalid rows,
 * 1.5 rows per order, and a catalog of 5,000 products. The same number of rows yields the same bytes.
 */
export function writeOrdersFile(path: string, rows: number): void {
  if (existsSync(path) && statSync(path).size > 0) return;
  const random = createRandom(12_345);
  const hex = (length: number) => {
    let text = "";
    while (text.length < length)
      text += Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, "0");
    return text.slice(0, length);
  };
  const descriptor = openSync(path, "w");
  let text = `${columns.join(",")}\n`;
  let [order, customer, date, left] = ["", "", "", 0];
  for (let row = 0; row < rows; row++) {
    if (left === 0) {
      left = random() < 0.5 ? 1 : 2;
      [order, customer] = [hex(24), hex(12)];
      const [year, month, day] = [
        15 + Math.floor(random() * 9),
        1 + Math.floor(random() * 9),
        Math.floor(random() * 10),
      ];
      date = `20${year}-0${month}-1${day}`;
    }
    left--;
    const product = Math.floor(random() * catalogSize);
    const id = `p${product.toString(16).padStart(11, "0")}`;
    const email = random() < 0.01 ? customer : `${customer}@example.com`;
    const name = product % 10 === 0 ? `"Garden ""chair"", ${id.slice(-6)}"` : `Garden chair ${id.slice(-6)}`;
    const address = `https://shop.example/products/${id},https://shop.example/images/${id}.jpg`;
    const price = ((product % 400) / 2 + 1).toFixed(2);
    text +=
      `${order},${date},Customer ${customer.slice(0, 8)},${email},EUR,ref-${customer},${id},${name},` +
      `${address},A chair for the garden and the balcony,${price}\n`;
    if (text.length > 1_048_576) {
      writeSync(descriptor, text);
      text = "";
    }
  }
  writeSync(descriptor, text);
  closeSync(descriptor);
}

/** A linear congruential generator, because the benchmark needs reproducible files, not good randomness. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
