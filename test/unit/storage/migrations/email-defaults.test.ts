import { sql } from "kysely";
import { expect, it } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";

describePlaces("a database of schema version 7", (place) => {
  it("keeps one email per product, unless its account chose otherwise", async () => {
    const url = await place();
    await makeVersion(7, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('one', 's', 5), ('two', 's', 5)`.execute(
        db,
      );
      await sql`insert into account_settings (account_id, name, value, updated_at)
        values (2, 'one_mail_per', '"order"', 6)`.execute(db);
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const settings = await db.selectFrom("account_settings").selectAll().orderBy("account_id").execute();
    await db.destroy();
    expect(settings).toEqual([
      { account_id: 1, name: "one_mail_per", value: '"product"', updated_at: 5 },
      { account_id: 2, name: "one_mail_per", value: '"order"', updated_at: 6 },
    ]);
  });

  it("no longer counts emails as delivered that bounced later", async () => {
    const url = await place();
    const day = 86_400_000;
    await makeVersion(7, url, async (db) => {
      await sql`insert into accounts (app_key, secret_sealed, created_at) values ('one', 's', 5)`.execute(db);
      const addMail = async (events: readonly (readonly [string, number])[]) => {
        const { rows } = await sql<{ id: number }>`insert into mails
            (account_id, category, email_type_id, email, email_key, name, data, state, due_at, created_at)
          values (1, 'map', 1, 'a@mail.example', 'a@mail.example', 'A', '{}', 'sent', 0, 0) returning id`.execute(db);
        const id = rows[0]?.id ?? 0;
        for (const [event, at] of events) {
          await sql`insert into mail_events (account_id, mail_row, event, event_key, occurred_at, created_at)
            values (1, ${id}, ${event}, ${`${id}:${event}:${at}`}, ${at}, ${at})`.execute(db);
        }
      };
      await addMail([["delivered", day + 5]]);
      await addMail([
        ["delivered", 2 * day],
        ["delivered", day + 6],
        ["bounced", 2 * day],
        ["blocked", 2 * day],
      ]);
      await addMail([["bounced", day]]);
      await sql`insert into mail_counts (account_id, category, day, counter, mails)
        values (1, 'map', 1, 'delivered', 2), (1, 'map', 2, 'bounces', 2), (1, 'map', 2, 'delivered', 9)`.execute(db);
    });
    const { db } = await openDatabase(url, { nowMs: 7 });
    const counts = await db.selectFrom("mail_counts").select(["day", "counter", "mails"]).orderBy("day").execute();
    await db.destroy();
    expect(counts).toEqual(
      expect.arrayContaining([
        { day: 1, counter: "delivered", mails: 1 },
        { day: 2, counter: "bounces", mails: 2 },
        { day: 2, counter: "delivered", mails: 9 },
      ]),
    );
  });
});
