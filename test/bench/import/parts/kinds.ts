import { builds, compare, importFile, type Part } from "../bench.ts";
import { createRandom, writeFile } from "../files.ts";
import type { Figure } from "../../support/figures.ts";

interface KindFile {
  readonly columns: readonly string[];
  readonly flags?: readonly string[];
  readonly row: (n: number) => string;
}

const files: Readonly<Record<string, KindFile>> = {
  products: {
    columns: ["Product ID", "Product Name", "Product Description", "Product URL", "Product Price", "Currency"],
    row: (n) =>
      `p${n},Garden chair ${n},"A chair, for garden and balcony",https://shop.example/products/${n},${n % 400}.90,EUR`,
  },
  unsubscribers: { columns: ["email"], flags: ["--type", "1"], row: (n) => `customer-${n}@example.com` },
  coupons: { columns: ["code"], flags: ["--action", "map_review"], row: (n) => `THANKS-${n.toString(36)}-${n}` },
};

/** Imports each kind of record whose items are independent of one another. */
export const kinds: Part = async (bench) => {
  const rows = bench.rows ?? 200_000;
  const figures: Omit<Figure, "part">[] = [];
  for (const [kind, { columns, flags = [], row }] of Object.entries(files)) {
    const path = writeFile(bench.folder, `${kind}-${rows}.csv`, columns, rows, row);
    const competitors = builds(bench, kind, (build) => importFile(bench, path, { kind, flags, build }));
    const goals = { [`${kind}, other build`]: { required: 1, aim: 1.5 } };
    figures.push(...(await compare(bench, rows, competitors, goals)));
  }
  return figures;
};

const words = "delivery arrived on time the product is very good and I recommend this store great quality".split(" ");

/** Imports past reviews, one call each. */
export const reviews: Part = async (bench) => {
  const rows = bench.rows ?? 3_566;
  const random = createRandom();
  const text = (length: number) =>
    Array.from({ length }, () => words[Math.floor(random() * words.length)] ?? "").join(" ");
  const columns = ["published", "review_title", "review_content", "review_score", "date", "product_id"];
  const path = writeFile(bench.folder, `reviews-${rows}.csv`, [...columns, "display_name", "email"], rows, (n) => {
    const [score, product] = [1 + Math.floor(random() * 5), Math.floor(random() * rows * 0.8)];
    const date = `20${15 + Math.floor(random() * 9)}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`;
    return `true,${text(4)},"${text(14)}, ${n}",${score},${date},p${product},Customer ${n},customer-${n}@example.com`;
  });
  const competitors = builds(bench, "reviews", (build) => importFile(bench, path, { kind: "reviews", build }));
  return compare(bench, rows, competitors, { reviews: { required: 3_000, aim: 6_000 } });
};
