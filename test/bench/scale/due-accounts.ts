import type { Client } from "pg";

/** Adds accounts, each with an old order whose review request is due. Orders of that age are too old for one. */
export async function fillDueAccounts(client: Client, accounts: number): Promise<void> {
  const now = Date.now();
  const added = "accounts.app_key like 'due-%'";
  for (const statement of [
    `insert into accounts (app_key, secret_sealed, created_at)
      select 'due-' || number, '', 0 from generate_series(1, ${accounts}) as number`,
    `insert into account_versions (account_id, version, emails_due_at)
      select id, 1, ${now} from accounts where ${added}`,
    `insert into email_permissions (account_id, enabled_at) select id, 0 from accounts where ${added}`,
    `insert into products (account_id, product_id, name, url, created_at, updated_at)
      select id, 'p-1', 'A product', 'https://shop.example/p-1', 0, 0 from accounts where ${added}`,
    `insert into orders (account_id, order_id, platform, email, customer_name, order_date, created_at)
      select id, '1001', 'general', 'ann@mail.example', 'Ann', 0, 0 from accounts where ${added}`,
    `insert into purchases (account_id, order_row, product_row, unit, created_at)
      select account_id, orders.id, products.id, 1, 0 from orders join products using (account_id)`,
    `insert into mails (account_id, category, email_type_id, email, email_key, name, data, state, due_at, created_at,
        order_row, product_row)
      select account_id, 'map', 1, email, email, customer_name, '{}', 'queued', ${now}, 0, orders.id, products.id
      from orders join products using (account_id)`,
    "analyze",
  ]) {
    await client.query(statement);
  }
}
