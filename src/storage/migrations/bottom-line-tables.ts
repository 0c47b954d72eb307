import { sql } from "kysely";
import { addColumns, addIndex, createOwned, type Migration } from "./table-builders.ts";

/**
 * Records the time of each change instead of the time from which it counts, so that readers decide which changes to
 * include, also changes of groups. Existing changes are applied at once: they do not include those of groups, so only the
 * current totals are known to be true.
 */
export const bottomLineTables: Migration = {
  version: 5,
  name: "bottom lines as of any time",
  up: async (schema, dialect) => {
    await schema.dropTable("bottom_line_changes").execute();
    await addColumns(createOwned(schema, "bottom_line_changes", dialect), {
      shelf: "text",
      reviews: "integer",
      score: "integer",
      "left_group?": "bigint",
      "joined_group?": "bigint",
      applied: "integer",
      changed_at: "bigint",
    }).execute();
    await addIndex(schema, "bottom_line_changes_by_time", "bottom_line_changes", [
      "account_id",
      "applied",
      "changed_at",
    ]);
    await schema
      .alterTable("review_totals")
      .addColumn("shown_group", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
    await schema
      .createIndex("review_totals_grouped")
      .on("review_totals")
      .columns(["account_id", "product_row", "updated_at", "shown_group"])
      .where(sql<boolean>`listed = 1 and shown_group > 0`)
      .execute();
    await schema
      .createIndex("review_totals_by_group")
      .on("review_totals")
      .columns(["shown_group"])
      .where(sql<boolean>`shown_group > 0`)
      .execute();
  },
  updateRows: async (db) => {
    await sql`update review_totals set
      shown_reviews = stars_1 + stars_2 + stars_3 + stars_4 + stars_5,
      shown_score = stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5,
      shown_group = coalesce((select group_row from group_products
        where group_products.product_row = review_totals.product_row), 0)`.execute(db);
    await sql`update review_totals set listed = case when product_row is not null and (shown_reviews > 0 or exists (
      select 1 from review_totals as grouped
      where grouped.shelf = 'g' || cast(review_totals.shown_group as text) and grouped.shown_reviews > 0
    )) then 1 else 0 end`.execute(db);
  },
};
