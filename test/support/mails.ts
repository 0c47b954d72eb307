import type { Harness } from "./backends.ts";

/** A mail of the outbox, as a test reads it. */
export interface QueuedMail {
  readonly category: string;
  readonly email_type_id: number;
  readonly email: string;
  readonly name: string;
  readonly state: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** All mails of the store, in the order in which they were queued. */
export async function readMails({ database }: Harness): Promise<QueuedMail[]> {
  const rows = await database.db
    .selectFrom("mails")
    .select(["category", "email_type_id", "email", "name", "state", "data"])
    .orderBy("id")
    .execute();
  return rows.map(({ data, ...row }) => Object.assign(row, { data: JSON.parse(data) as QueuedMail["data"] }));
}

/** The token of a link that the last mail holds under `name`. */
export async function lastToken(harness: Harness, name: string): Promise<string> {
  const url = (await readMails(harness)).at(-1)?.data[name];
  if (typeof url !== "string") throw new Error(`the last mail holds no ${name}`);
  return url.slice(url.lastIndexOf("/") + 1);
}

/** What was counted of a category: counter to number, over all days. */
export async function readMailCounts(
  { database }: Harness,
  category: string,
): Promise<Record<string, number>> {
  const rows = await database.db
    .selectFrom("mail_counts")
    .select(["counter", "mails"])
    .where("category", "=", category)
    .execute();
  return Object.fromEntries(rows.map(({ counter, mails }) => [counter, mails]));
}

/** Switches a feature off by hand. */
export async function switchOff({ database }: Harness, appKey: string, feature: string): Promise<void> {
  const { id } = await database.db
    .selectFrom("accounts")
    .select("id")
    .where("app_key", "=", appKey)
    .executeTakeFirstOrThrow();
  await database.db.insertInto("account_features").values({ account_id: id, feature, enabled: 0 }).execute();
}

/** A question that is valid. */
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
