import { builds, compare, importFile, importWithSqlite, importWithSqliteUtils, type Part } from "../bench.ts";
import { manyProducts, type OrdersFile, realistic, writeOrders } from "../files.ts";
import type { Goal } from "../../support/figures.ts";

const usualRows = 150_000;

/** Imports an orders file, and compares that with loading it into one plain table. */
function comparison(describe: (rows: number) => OrdersFile, goals: Readonly<Record<string, Goal>>): Part {
  return async (bench) => {
    const file = describe(bench.rows ?? usualRows);
    const path = writeOrders(bench.folder, file);
    const competitors = {
      ...builds(bench, "starpost", (build) => importFile(bench, path, { build })),
      "sqlite3 .import": () => importWithSqlite(bench, path),
      "sqlite-utils insert --csv": () => importWithSqliteUtils(bench, path),
    };
    return compare(bench, file.rows, competitors, goals);
  };
}

export const realisticFile = comparison(realistic, {
  "sqlite3 .import": { required: 0.3, aim: 0.4 },
  "sqlite-utils insert --csv": { required: 1.8, aim: 2.5 },
});

export const products40k = comparison(manyProducts, { "sqlite3 .import": { required: 0.22, aim: 0.3 } });
