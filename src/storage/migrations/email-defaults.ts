import { type Kysely, sql } from "kysely";
import type { Migration } from "./table-builders.ts";

/**
 * Keeps one email per product in existing accounts, because the default changed to one per order; and corrects the number
 * of delivered emails, which included those that bounced later.
 */
export const emailDefaults: Migration = {
  version: 8,
  name: "one email per order, and delivered emails without bounces",
  up: async () => {},
  updateRows: async (db) => {
    await sql`insert into account_settings (account_id, name, value, updated_at)
      select id, 'one_mail_per', '"product"', created_at from accounts
      where not exists (select 1 from account_settings
        where account_settings.account_id = accounts.id and account_settings.name = 'one_mail_per')`.execute(db);
    for (const { account_id, category, day, mails } of await countUndelivered(db)) {
      await sql`update mail_counts set mails = mails - ${mails}
        where account_id = ${account_id} and category = ${category} and day = ${day} and counter = 'delivered'`.execute(
        db,
      );
    }
  },
};

interface Undelivered {
  readonly account_id: number;
  readonly category: string;
  readonly day: number;
  readonly mails: number;
}

/** Counts emails that were counted as delivered, but bounced or were dropped, by the day on which they were counted. */
async function countUndelivered(db: Kysely<never>): Promise<readonly Undelivered[]> {
  const { rows } = await sql<Undelivered>`
    select mails.account_id, mails.category, delivered.first_at / 86400000 as day, count(*) as mails
    from (select mail_row, min(occurred_at) as first_at from mail_events where event = 'delivered' group by mail_row)
      as delivered
    join mails on mails.id = delivered.mail_row
    where exists (select 1 from mail_events where mail_events.mail_row = mails.id and mail_events.event in
      ('bounced', 'blocked', 'invalid_address', 'spam_dropped', 'dropped_unsubscribed', 'dropped_bounced',
        'dropped_spam_reported', 'failed'))
    group by mails.account_id, mails.category, delivered.first_at / 86400000`.execute(db);
  return rows;
}
