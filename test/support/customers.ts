import { readFileSync, existsSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { sql } from "kysely";
import type { Harness, TestAccount } from "./backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "./builders.ts";
import { aQuestion, lastToken } from "./emails.ts";
import { tinyPng } from "./photos.ts";

export const zeb = {
  email: "zebulon@quarkmail.example",
  name: "Zebulon Quarkfeather",
  reference: "zebulon-ref-77",
  /** Part of everything that the customer writes, and that others write about it. */
  text: "xylotext",
  orderId: "Z1",
};
export type TestCustomer = typeof zeb;

export const bob: TestCustomer = {
  email: "bob@mail.example",
  name: "Bob",
  reference: "b",
  text: "bobtext",
  orderId: "B1",
};

/** What must not be left of a customer, in lower case. */
export const wordsOf = ({ email, name, text }: TestCustomer): readonly string[] =>
  [email, ...name.split(" "), text].map((word) => word.toLowerCase());

/** Creates a customer with records of every kind. */
export async function addCustomer(
  harness: Harness,
  { service }: TestAccount,
  { email, name, reference, text, orderId }: TestCustomer,
): Promise<void> {
  const products = { teapot: anOrderedProduct({ quantity: 2 }), "bad id": anOrderedProduct({ name: "Odd pot" }) };
  const order = { email: email.toUpperCase(), customer_name: name, order_id: orderId, user_reference: reference };
  await service.orders.massCreate(bulkOrders([anOrder({ ...order, products })], { send_mail: true }));
  const author = { email, display_name: name };
  const review = aReview({
    ...author,
    user_reference: reference,
    review_content: `${text} review`,
    review_title: `${text} title`,
  });
  const { image_upload_token } = await service.reviews.create(review);
  await service.images.upload({ image_upload_token, image: tinyPng });
  await service.links.follow({ token: await lastToken(harness, "verify_url") });
  await service.reviews.createNow(review, { idempotencyKey: `review ${email}` });
  await service.unsubscribers.massCreate({ email_list: { 2: [email] } }, { idempotencyKey: `list ${email}` });
  await service.questions.sendConfirmation(aQuestion({ ...author, review_content: `${text} question?` }));
  await service.links.follow({ token: await lastToken(harness, "confirm_url") });
  const question_id = (await service.questions.list({ sku: "teapot" })).questions[0]?.id ?? 0;
  await service.answers.create({ question_id, content: `${text} answer`, ...author });
  const { reviews } = await service.reviews.list({ deleted: true });
  const id = reviews.find(({ email: address }) => address === email)?.id ?? 0;
  await service.reviews.vote({ review_id: id, vote_type: "up" });
  await service.reviews.comment({ review_id: id, content: `${text} comment, ${name}` });
  await service.reviews.setPublished({ review_id: id, published: false, reason: `${text} reason of ${name}` });
  await service.reviews.setPublished({ review_id: id, published: true, reason: "fine" });
  await addEmailHistory(harness, email);
}

/** Adds what moderators write: a held and hidden review, and a comment and an answer that named the customer before edits. */
export async function addModeration(
  harness: Harness,
  account: TestAccount,
  { email, name, text }: TestCustomer,
): Promise<void> {
  const { service } = account;
  const visitor = harness.service({ appKey: account.caller.appKey });
  const author = { email, display_name: name };
  const title = `${text} on https://${text}.example`;
  // The address of a page that was opened from an email.
  const product = { sku: "kettle", product_url: `https://shop.example/kettle?email=${encodeURIComponent(email)}` };
  const texts = { review_title: title, review_content: `${name} asks for ${text}` };
  await visitor.reviews.create(aReview({ ...author, ...product, ...texts }));
  await service.coupons.upload({ codes: [`${email}/10`], coupon_action: "map_review" });
  await service.coupons.issue({ coupon_action: "map_review", email });
  const { reviews } = await service.reviews.queue({ state: "held" });
  const held = reviews.find((review) => review.email === email)?.id ?? 0;
  await service.reviews.setPublished({ review_id: held, published: false, reason: `spam of ${name}` });
  await service.reviews.requeue({ review_id: held, reason: `${text} returned`, by: name });
  await service.reviews.setPublished({ review_id: held, published: false, reason: `spam of ${name}` });
  const review_id = (await service.customers.get({ email })).customer.reviews.at(-1)?.id ?? 0;
  await service.reviews.comment({ review_id, content: `${text} is what ${name} wrote in the first comment` });
  await service.reviews.editComment({ review_id, content: "Thank you", reason: `named ${name}` });
  const question_id = (await service.customers.get({ email })).customer.questions[0]?.id ?? 0;
  const answer = { question_id, content: `Hello ${name}, ${text} is what the store answered first` };
  await service.answers.create(answer);
  const { questions } = await service.questions.search({ email });
  const answer_id = questions[0]?.sorted_public_answers.find(({ content }) => content === answer.content)?.id ?? 0;
  await service.answers.edit({ answer_id, content: "It does.", reason: `named ${name}`, by: name });
}

/** Adds what only workers and providers write: sent and bounced emails, their events, and delivery attempts. */
async function addEmailHistory({ database: { db } }: Harness, email: string): Promise<void> {
  const [mail] = await db
    .selectFrom("mails")
    .selectAll()
    .where("email_key", "=", email)
    .orderBy("id", "desc")
    .limit(1)
    .execute();
  if (!mail) throw new Error("the customer has no emails");
  const { id, account_id } = mail;
  await db
    .updateTable("mails")
    .set({ state: "bounced", sent_at: 1, reason: `550 <${email}> is unknown` })
    .where("id", "=", id)
    .execute();
  const message = { subject: `For ${email}`, headers: `To: <${email}>\r\n`, text: email, html: `<p>${email}</p>` };
  await db
    .insertInto("mail_messages")
    .values({ account_id, mail_row: id, ...message, sent_at: 1 })
    .execute();
  const event = { account_id, mail_row: id, event: "bounced", event_key: `${id}:x`, occurred_at: 1, created_at: 1 };
  await db
    .insertInto("mail_events")
    .values({ ...event, detail: `https://x.example/?to=${encodeURIComponent(email)}` })
    .execute();
  await db
    .insertInto("mail_suppressions")
    .values({ account_id, email_key: email, kind: "bounces", mail_row: id, created_at: 1 })
    .execute();
  const [delivery] = await db.selectFrom("webhook_deliveries").select("id").orderBy("id", "desc").limit(1).execute();
  const attempt = {
    account_id,
    delivery_row: delivery?.id ?? 0,
    worker: "w",
    started_at: 1,
    duration_ms: 1,
    status: 500,
  };
  await db
    .insertInto("webhook_attempts")
    .values({ ...attempt, problem: `no account for ${email.toUpperCase()}` })
    .execute();
}

/** Every text that is stored, in every column of every table. */
export async function* readTexts({
  database: { db },
}: Harness): AsyncGenerator<readonly [place: string, text: string]> {
  const tables = await db.introspection.getTables();
  // The rows of partitions are also those of their table. Citus has tables of its own in other schemas.
  const own = tables.filter(({ name, schema = "public" }) => schema === "public" && !/_\d$/.test(name));
  for (const { name } of own) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value === "string") yield [`${name}.${column}`, value];
      }
    }
  }
}

/** Finds where words occur: in every column of every table, also compressed, and in the bytes of a SQLite database. */
export async function findWords(harness: Harness, words: readonly string[]): Promise<string[]> {
  const { db, dialect, shownAs } = harness.database;
  const found = new Set<string>();
  const check = (place: string, text: string) => {
    const folded = text.toLowerCase();
    for (const word of words) if (folded.includes(word)) found.add(`${place}: ${word}`);
  };
  for await (const [place, text] of readTexts(harness)) {
    check(place, text);
    const [, packed] = /^(?:deflated|list):(.+)$/.exec(text) ?? [];
    if (packed) check(place, inflateRawSync(Buffer.from(packed, "base64")).toString());
  }
  if (dialect.name === "postgres") {
    const { rows } = await sql<{ place: string; text: string }>`
      select tablename || '.' || attname || ' (statistics)' as place,
        concat_ws(' ', most_common_vals::text, histogram_bounds::text, most_common_elems::text) as text
      from pg_stats where schemaname = current_schema()`.execute(db);
    for (const { place, text } of rows) check(place, text);
    return [...found];
  }
  for (const path of [shownAs, `${shownAs}-wal`].filter((name) => existsSync(name))) {
    check(path.slice(shownAs.length) || "file", readFileSync(path).toString("latin1"));
  }
  return [...found].toSorted();
}
