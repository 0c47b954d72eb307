import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

describePlaces("a database of schema version 10", (place) => {
  it("keeps which reviews are published, and the decisions of the store", async () => {
    const url = await place();
    await makeVersion(10, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('one', 's', 5)`.execute(db);
      await sql`insert into users (account_id, email, display_name, password_hash, url, slug, created_at)
        values (1, 'a@mail.example', 'A', '', '', 'a', 5)`.execute(db);
      for (const [published, event] of [
        [1, "created"],
        [1, "imported"],
        [0, "imported"],
        [0, "unpublished"],
        [1, "published"],
      ] as const) {
        const { rows } = await sql<{
          id: number;
        }>`insert into reviews (account_id, user_row, shelf, title, content, score,
          reviewer_type, published, votes_up, votes_down, images, created_at, updated_at)
          values (1, 1, 's1', 't', 'c', 5, 'anonymous', ${published}, 0, 0, 0, 5, 5) returning id`.execute(db);
        await sql`insert into review_events (account_id, review_row, event, by_name, created_at)
          values (1, ${rows[0]?.id ?? 0}, ${event}, 'USER', 5)`.execute(db);
      }
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const reviews = await db.selectFrom("reviews").select(["published", "moderation"]).orderBy("id").execute();
    await db.destroy();
    expect(reviews).toEqual([
      { published: 1, moderation: null },
      { published: 1, moderation: "published" },
      { published: 0, moderation: "unpublished" },
      { published: 0, moderation: "unpublished" },
      { published: 1, moderation: "published" },
    ]);
  });
});
