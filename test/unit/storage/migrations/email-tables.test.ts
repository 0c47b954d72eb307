import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

describePlaces("emails of schema version 2", (place) => {
  it("keep their rows, but are not sent", async () => {
    const url = await place();
    await makeVersion(2, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('key', 's', 0)`.execute(db);
      await sql`insert into orders (account_id, order_id, platform, email, customer_name, order_date, created_at)
        values (1, '1001', 'general', 'ann@mail.example', 'Ann', 0, 0)`.execute(db);
      await sql`insert into mails
          (account_id, category, email_type_id, email, email_key, name, data, state, due_at, created_at)
        values (1, 'anonymous_testimonials_request', 14, 'A@mail.example', 'a@mail.example', 'A', '{}', 'queued', 0, 0)`.execute(
        db,
      );
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const mails = await db.selectFrom("mails").select(["state", "reason", "attempts", "email"]).execute();
    const orders = await db.selectFrom("orders").select(["order_id", "sends_mail"]).execute();
    await db.destroy();
    const reason = expect.any(String) as string;
    expect(mails).toEqual([{ state: "not_sent", reason, attempts: 0, email: "A@mail.example" }]);
    expect(orders).toEqual([{ order_id: "1001", sends_mail: 0 }]);
  });
});
