import { readFileSync, writeFileSync } from "node:fs";
import { makeGzip, makeZip } from "../../../support/archives.ts";
import { compare, importFile, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";

/** Imports the same file plain, as gzip, and as zip. */
export const archives: Part = async (bench) => {
  const rows = bench.rows ?? 150_000;
  const plain = writeOrders(bench.folder, realistic(rows));
  const bytes = readFileSync(plain);
  writeFileSync(`${plain}.gz`, makeGzip(bytes));
  writeFileSync(`${plain}.zip`, makeZip([{ name: "orders.csv", bytes, hasDescriptor: true }]));
  return compare(bench, rows, {
    "plain file": () => importFile(bench, plain),
    gzip: () => importFile(bench, `${plain}.gz`),
    zip: () => importFile(bench, `${plain}.zip`),
  });
};
