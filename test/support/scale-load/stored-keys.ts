import { execute } from "../postgres.ts";
import type { LoadedAccount, RecordKind } from "./client.ts";

/** Statements that list the keys of the records of a kind, with the app key of their account. */
const statements: Readonly<Record<RecordKind, string>> = {
  orders: "select account_id, order_id as key from orders",
  reviews: "select account_id, title as key from reviews where title like 'reviews-%'",
  "public reviews": "select account_id, title as key from reviews where title like 'public-reviews-%'",
  "review votes": "select account_id, id as key from votes where target = 'review'",
  products: "select account_id, product_id as key from products where product_id like 'products-%'",
  unsubscribers: "select account_id, substr(email, 1, position('@' in email) - 1) as key from unsubscribers",
  questions: "select account_id, content as key from questions",
  answers: "select account_id, content as key from answers",
  "answer votes": "select account_id, id as key from votes where target = 'answer'",
};

const hasServerIds: ReadonlySet<RecordKind> = new Set(["review votes", "answer votes"]);

/** Compares what clients know about each account with what is stored. @returns the differences */
export async function compareLedgers(url: string, accounts: readonly LoadedAccount[]): Promise<string[]> {
  const differences: string[] = [];
  for (const [kind, statement] of Object.entries(statements) as [RecordKind, string][]) {
    const rows = await execute(
      `select accounts.app_key, found.key from (${statement}) as found join accounts on accounts.id = found.account_id`,
      url,
    );
    const stored = new Map(accounts.map(({ appKey }) => [appKey, [] as string[]]));
    for (const { app_key, key } of rows) stored.get(String(app_key))?.push(String(key));
    for (const { appKey, ledgers } of accounts) {
      const keys = stored.get(appKey) ?? [];
      const ledger = ledgers[kind];
      const found = hasServerIds.has(kind) ? ledger.compareIds(keys) : ledger.compare(keys);
      differences.push(...found.map((difference) => `${kind} of ${appKey}: ${difference}`));
    }
  }
  return differences;
}
