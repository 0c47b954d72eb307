import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

describePlaces("a database from before accounts needed permission to send emails", (place) => {
  it("allows all of its accounts to send emails", async () => {
    const url = await place();
    await makeVersion(9, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('one', 's', 5), ('two', 's', 6)`.execute(
        db,
      );
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const permissions = await db
      .selectFrom("email_permissions")
      .select(["account_id", "enabled_at", "daily_quota", "quota_used"])
      .orderBy("account_id")
      .execute();
    await db.destroy();
    expect(permissions).toEqual([
      { account_id: 1, enabled_at: 5, daily_quota: null, quota_used: 0 },
      { account_id: 2, enabled_at: 6, daily_quota: null, quota_used: 0 },
    ]);
  });
});
