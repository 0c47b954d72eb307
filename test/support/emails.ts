import type { Harness } from "./backends.ts";

/** A stored email with its decoded data. */
export interface StoredEmailContent {
  readonly category: string;
  readonly email_type_id: number;
  readonly email: string;
  readonly name: string;
  readonly state: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns all stored emails, oldest first. */
export async function readEmails({ database }: Harness): Promise<StoredEmailContent[]> {
  const rows = await database.db
    .selectFrom("mails")
    .select(["category", "email_type_id", "email", "name", "state", "data"])
    .orderBy("id")
    .execute();
  return rows.map(({ data, ...row }) => Object.assign(row, { data: JSON.parse(data) as StoredEmailContent["data"] }));
}

/** Returns the token of the link `name` in the newest email. */
export async function lastToken(harness: Harness, name: string): Promise<string> {
  const url = (await readEmails(harness)).at(-1)?.data[name];
  if (typeof url !== "string") throw new Error(`the newest email has no ${name}`);
  return url.slice(url.lastIndexOf("/") + 1);
}

/** Returns the counters of a category by name. */
export async function readEmailCounts({ database }: Harness, category: string): Promise<Record<string, number>> {
  const rows = await database.db
    .selectFrom("mail_counts")
    .select(["counter", "mails"])
    .where("category", "=", category)
    .execute();
  return Object.fromEntries(rows.map(({ counter, mails }) => [counter, mails]));
}

/** Disables a feature in the database. */
export async function disableFeature({ database }: Harness, appKey: string, feature: string): Promise<void> {
  const { id } = await database.db
    .selectFrom("accounts")
    .select("id")
    .where("app_key", "=", appKey)
    .executeTakeFirstOrThrow();
  await database.db.insertInto("account_features").values({ account_id: id, feature, enabled: 0 }).execute();
}

/** Returns a valid question. */
export function aQuestion(fields: Record<string, unknown> = {}) {
  return {
    review_content: "Does it pour well?",
    display_name: "Ann Asker",
    email: "ann@mail.example",
    product_id: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    ...fields,
  };
}
