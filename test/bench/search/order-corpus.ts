import { type RawBuilder, sql } from "kysely";
import { batchRows } from "../../../src/storage/batch.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createRandom } from "./review-corpus.ts";

/** The numbers of records, other than orders. Each order has a line and an email. */
export const shop = { customers: 400_000, products: 20_000, coupons: 50_000, unsubscribers: 30_000 } as const;

const insertedAtOnce = 20_000;
const startMs = Date.UTC(2024, 0, 1);

const syllables = "an ber chi da el fer go hil in jo ka li mar ne os pe qui ro sam tor ul va wil xi yo zu".split(" ");
const domains = "gmail.example gmail.example gmail.example yahoo.example outlook.example web.example shop.test".split(
  " ",
);

function createName(random: () => number, length: number): string {
  const name = Array.from({ length }, () => syllables[Math.floor(syllables.length * random() ** 1.5)]).join("");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** The customer with a number, the same in every run. Some names have accents. */
export function customerOf(number: number): Person {
  const random = createRandom(number);
  const [first, last] = [createName(random, 2), createName(random, 2 + Math.floor(2 * random()))];
  const domain = domains[Math.floor(domains.length * random())];
  const email = `${first}.${last}${number % 10_000}@${domain}`.toLowerCase();
  return { name: `${random() < 0.05 ? first.replace("a", "ä") : first} ${last}`, email };
}

export const orderIdOf = (number: number) => `#${100_000 + number}`;

/** Fills account 1 with orders, and others with which they are searched. */
export async function fillOrders({ db, dialect }: Database, orders: number): Promise<void> {
  const random = createRandom(1);
  const insert = async (
    count: number,
    row: (at: number) => readonly unknown[],
    into: (batch: RawBuilder<unknown>) => RawBuilder<unknown>,
  ) => {
    for (let from = 0; from < count; from += insertedAtOnce) {
      const rows = Array.from({ length: Math.min(insertedAtOnce, count - from) }, (_, at) => row(1 + from + at));
      const columns = { id: "integer", code: "text", email: "text", name: "text", other: "integer" } as const;
      const batch = sql`${batchRows<Record<keyof typeof columns, unknown>>(columns, rows, dialect)} where true`;
      await db.transaction().execute(async (transaction) => void (await into(batch).execute(transaction)));
    }
  };
  await insert(
    shop.products,
    (id) => [id, `sku-${id}`, "", `${createName(random, 3)} ${createName(random, 2)} ${id}`, 0],
    (batch) => sql`insert into products (account_id, product_id, name, url, created_at, updated_at)
      select 1, code, name, 'https://shop.example/' || code, 0, id from ${batch}`,
  );
  await insert(
    shop.coupons,
    (id) => [id, `${createName(random, 2)}-${createName(random, 3)}${id}`.toUpperCase(), "", "", 0],
    (batch) =>
      sql`insert into coupons (account_id, action, code, created_at) select 1, 'map_review', code, 0 from ${batch}`,
  );
  await insert(
    shop.unsubscribers,
    (id) => [id, "", customerOf(id * 7).email, "", 0],
    (batch) => sql`insert into unsubscribers (account_id, email_type_id, email, email_key, by_name, created_at)
      select 1, 1, email, email || id, 'USER', id from ${batch}`,
  );
  const order = (id: number) => {
    const { name, email } = customerOf(Math.floor(shop.customers * random()));
    return [id, orderIdOf(id), email, name, 1 + Math.floor(shop.products * random())];
  };
  await insert(
    orders,
    order,
    (batch) => sql`insert into orders (id, account_id, order_id, platform, email, customer_name, order_date, created_at)
      select id, 1, code, 'general', email, name, ${startMs} + id * 60000, ${startMs} + id * 60000 from ${batch}`,
  );
  await insert(
    orders,
    (id) => [id, "", "", "", 1 + Math.floor(shop.products * random())],
    (batch) => sql`insert into purchases (account_id, order_row, product_row, unit, created_at)
      select 1, id, other, 1, ${startMs} + id * 60000 from ${batch}`,
  );
  await sql`insert into mails (account_id, category, email_type_id, email, email_key, name, data, state, due_at, created_at, order_row, product_row)
    select 1, 'map', 1, email, email, customer_name, '{}', 'sent', order_date, created_at, id, 0 from orders where account_id = 1`.execute(
    db,
  );
  await sql`insert into purchase_days (account_id, day, first_id, purchases)
    select 1, 20000, min(id), count(*) from purchases where account_id = 1`.execute(db);
  await sql`analyze`.execute(db);
}
