import { sql } from "kysely";
import type { Migration } from "./table-builders.ts";

/**
 * Records which reviews the store has decided on, and which products only visitors have named.
 * Existing reviews that are hidden, imported, or were published again have been decided on; existing products count as named
 * by the store.
 */
export const reviewModeration: Migration = {
  version: 11,
  name: "moderation of reviews",
  up: async (schema) => {
    await schema
      .alterTable("products")
      .addColumn("named_by_visitor", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.alterTable("reviews").addColumn("moderation", "text").execute();
  },
  updateRows: async (db) => {
    await sql`update reviews set moderation = case when published = 0 then 'unpublished' else 'published' end
      where published = 0 or exists (select 1 from review_events
        where review_row = reviews.id and event in ('imported', 'published'))`.execute(db);
  },
};
