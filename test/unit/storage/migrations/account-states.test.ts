import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

describePlaces("a database of schema version 8", (place) => {
  it("keeps its accounts active", async () => {
    const url = await place();
    await makeVersion(8, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('one', 's', 5)`.execute(db);
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const accounts = await db.selectFrom("accounts").selectAll().execute();
    await db.destroy();
    expect(accounts).toMatchObject([
      { app_key: "one", created_at: 5, disabled_at: null, deletion_began_at: null, secret_changed_at: null },
    ]);
  });
});
