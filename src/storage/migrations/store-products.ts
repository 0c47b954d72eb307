import { sql } from "kysely";
import type { Migration } from "./table-builders.ts";

/** Finds the first product of a store, which states its domain, without reading all of them. */
export const storeProducts: Migration = {
  version: 15,
  name: "first product of a store",
  up: async (schema) => {
    await schema
      .createIndex("products_by_store")
      .on("products")
      .columns(["account_id", "id"])
      .where(sql.ref("named_by_visitor"), "=", sql.lit(0))
      .execute();
  },
};
