import { sql } from "kysely";
import type { ExportedParts } from "../../contract/index.ts";
import { findRows, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { linkedUrl } from "../reviews/photo-storage.ts";
import { formatImageUrls } from "../reviews/review-response.ts";
import { findMentions } from "./mentions.ts";
import { isOwnEvent, type CustomerRows } from "./customer-rows.ts";

/** Reads everything about a customer that `customers.get` does not return. */
export async function readExport(rows: CustomerRows, context: HandlerContext): Promise<ExportedParts> {
  return {
    ...(await readReviewParts(rows, context)),
    question_events: await readQuestionEvents(rows, context),
    answers_to_questions: await readAnswersToQuestions(rows, context),
    mail_contents: await readMailContents(rows, context),
    webhook_deliveries: await readDeliveries(rows, context),
    mentions: await readMentions(rows, context),
  };
}

/** SQLite and PostgreSQL accept no empty list, and no row has the ID 0. */
const orNone = (ids: readonly number[]) => (ids.length === 0 ? [0] : ids);

async function readReviewParts({ person: { accountId }, reviews }: CustomerRows, context: HandlerContext) {
  const { transaction, publicUrl } = context;
  const images = await selectAccountRows("review_images", accountId, transaction)
    .select(["id", "review_row as review_id", "content_type", "base64", "photo_type", linkedUrl.as("url")])
    .select(sql<Uint8Array | null>`coalesce(webp_1200, photo)`.as("photo"))
    .where("review_row", "in", orNone(reviews))
    .orderBy("id")
    .execute();
  const events = await selectAccountRows("review_events", accountId, transaction)
    .select(["review_row as review_id", "event", "by_name as by", "reason", "previous as previous_content"])
    .select("created_at")
    .where("review_row", "in", orNone(reviews))
    .orderBy("id")
    .execute();
  return {
    images: images.map(({ photo_type, photo, ...image }) => {
      const converted = photo && { content_type: photo_type ?? "", base64: Buffer.from(photo).toString("base64") };
      return Object.assign(image, converted, { url: formatImageUrls(image, publicUrl).original_url });
    }),
    review_events: events.map((event) => Object.assign(event, { created_at: iso(event.created_at) })),
  };
}

async function readQuestionEvents(rows: CustomerRows, { transaction }: HandlerContext) {
  const events = await selectAccountRows("question_events", rows.person.accountId, transaction)
    .select(["question_row as question_id", "answer_row as answer_id", "event", "by_name as by", "reason"])
    .select(["previous as previous_content", "created_at"])
    .where(isOwnEvent(rows))
    .orderBy("id")
    .execute();
  return events.map((event) => Object.assign(event, { created_at: iso(event.created_at) }));
}

async function readAnswersToQuestions(
  { person: { accountId }, answersToQuestions }: CustomerRows,
  { transaction }: HandlerContext,
) {
  const rows = await selectAccountRows("answers", accountId, transaction)
    .select(["id", "question_row as question_id", "content", "created_at"])
    .where("id", "in", orNone(answersToQuestions))
    .orderBy("id")
    .execute();
  return rows.map((row) => Object.assign(row, { created_at: iso(row.created_at) }));
}

async function readMailContents(
  { person: { accountId }, mails, mailsToOthers }: CustomerRows,
  { transaction }: HandlerContext,
): Promise<ExportedParts["mail_contents"]> {
  const all = orNone([...mails, ...mailsToOthers]);
  const rows = await findRows("mails", ["id", "data"], { account_id: accountId, id: all }, { transaction }, "id");
  const messages = await selectAccountRows("mail_messages", accountId, transaction)
    .select(["mail_row", "subject", "headers", "text", "html"])
    .where("mail_row", "in", all)
    .execute();
  const events = await selectAccountRows("mail_events", accountId, transaction)
    .select(["mail_row", "event", "detail", "occurred_at"])
    .where("mail_row", "in", all)
    .orderBy("id")
    .execute();
  const own = new Set(mails);
  return rows.map(({ id, data }) => {
    const message = messages.find(({ mail_row }) => mail_row === id);
    return {
      mail_id: id,
      is_to_customer: own.has(id),
      data: JSON.parse(data) as Record<string, unknown>,
      message: message
        ? { subject: message.subject, headers: message.headers, text: message.text, html: message.html }
        : null,
      events: events
        .filter(({ mail_row }) => mail_row === id)
        .map(({ event, detail, occurred_at }) => ({ event, detail, occurred_at: iso(occurred_at) })),
    };
  });
}

async function readDeliveries({ person: { accountId }, deliveries }: CustomerRows, { transaction }: HandlerContext) {
  const rows = await selectAccountRows("webhook_deliveries", accountId, transaction)
    .select(["id", "event_name", "state", "created_at", "body"])
    .where("id", "in", orNone(deliveries))
    .orderBy("id")
    .execute();
  return rows.map((row) => Object.assign(row, { created_at: iso(row.created_at) }));
}

/** Tables whose texts the export contains under other names. */
const exportedTables: ReadonlySet<string> = new Set(
  "orders order_emails mails mail_messages mail_suppressions missed_products unsubscribers coupons".split(" "),
);
const exportedColumns: ReadonlySet<string> = new Set(["webhook_deliveries.body", "mail_events.detail"]);

async function readMentions(rows: CustomerRows, context: HandlerContext): Promise<ExportedParts["mentions"]> {
  const found = await findMentions(rows, "", context);
  return found
    .map(({ table, column, text }) => ({ table, place: `${table}.${column}`, text }))
    .filter(({ table, place }) => !exportedTables.has(table) && !exportedColumns.has(place))
    .map(({ place, text }) => ({ place, text }));
}
