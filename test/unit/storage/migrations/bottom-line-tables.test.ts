import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

describePlaces("bottom lines of schema version 4", (place) => {
  it("become the current totals and groups", async () => {
    const url = await place();
    await makeVersion(4, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('key', 's', 0)`.execute(db);
      await sql`insert into group_products (account_id, group_row, product_row) values (1, 9, 1), (1, 9, 2)`.execute(
        db,
      );
      await sql`insert into review_totals (account_id, shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
          shown_reviews, shown_score, listed, updated_at)
        values (1, 'p1', 1, 0, 0, 0, 1, 2, 1, 5, 1, 0), (1, 'p2', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0),
          (1, 'p3', 3, 0, 0, 0, 0, 0, 1, 1, 1, 0), (1, 'g9', null, 0, 0, 0, 1, 2, 0, 0, 0, 0)`.execute(db);
      await sql`insert into bottom_line_changes (account_id, shelf, reviews, score, due_at)
        values (1, 'p1', 2, 9, 3600000), (1, 'p3', -1, -1, 3600000), (1, 'g9', 3, 14, 3600000)`.execute(db);
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const totals = await db
      .selectFrom("review_totals")
      .select(["shelf", "shown_reviews", "shown_score", "shown_group", "listed"])
      .orderBy("shelf")
      .execute();
    const changes = await db.selectFrom("bottom_line_changes").selectAll().execute();
    await db.destroy();
    expect(totals.map((row) => Object.values(row))).toEqual([
      ["g9", 3, 14, 0, 0],
      ["p1", 3, 14, 9, 1],
      ["p2", 0, 0, 9, 1],
      ["p3", 0, 0, 0, 0],
    ]);
    expect(changes).toEqual([]);
  });
});
