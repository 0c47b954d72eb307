import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

const composed = "caf\u00e9";
const decomposed = "cafe\u0301";

describePlaces("group names of schema version 5", (place) => {
  it("are stored in NFC, and remain unique", async () => {
    const url = await place();
    await makeVersion(5, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at)
        values ('key', 's', 0), ('other', 's', 0)`.execute(db);
      for (const [account, name] of [
        [1, decomposed],
        [1, composed],
        [1, `${composed} (2)`],
        [2, decomposed],
        [2, "plain"],
      ] as const) {
        await sql`insert into product_groups (account_id, name, created_at, updated_at)
          values (${account}, ${name}, 0, 0)`.execute(db);
      }
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const groups = await db.selectFrom("product_groups").select("name").orderBy("id").execute();
    await db.destroy();
    expect(groups.map(({ name }) => name)).toEqual([`${composed} (3)`, composed, `${composed} (2)`, composed, "plain"]);
  });
});
