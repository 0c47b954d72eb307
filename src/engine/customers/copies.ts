import type { Customer, SentEmailCategory } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import type { Person } from "./person.ts";
import { createAddressReplacer, type OwnRecords } from "./redaction.ts";

/** Rows that are read at once. */
const pageSize = 1_000;

const quotingCategories: readonly SentEmailCategory[] = [
  "comment_request",
  "answer_request_shop_owner",
  "answer_notification_shop_owner",
  "answer_notification_shoppers",
];

/** Finds emails to others that quote the customer, by the IDs in their data. */
export async function findMailsToOthers(
  {
    person: { accountId, keys },
    customer: { questions, answers },
    records,
  }: { readonly person: Person; readonly customer: Customer; readonly records: OwnRecords },
  { transaction }: HandlerContext,
): Promise<number[]> {
  if (records.reviews.size + records.questions.size + records.answers.size === 0) return [];
  const texts = new Set([...questions, ...answers].map(({ content }) => content));
  // The data of earlier versions contain no IDs of questions.
  const isQuoting = ({ review_id, question_id, answer_id, content, answer }: Record<string, unknown>) =>
    typeof review_id === "number"
      ? records.reviews.has(review_id)
      : typeof question_id === "number"
        ? records.questions.has(question_id) || (typeof answer_id === "number" && records.answers.has(answer_id))
        : [content, answer].some((text) => typeof text === "string" && texts.has(text));
  const found: number[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const rows: { id: number; data: string }[] = await selectAccountRows("mails", accountId, transaction)
      .select(["id", "data"])
      .where("category", "in", quotingCategories)
      .where("email_key", "not in", keys)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    found.push(...rows.filter(({ data }) => isQuoting(JSON.parse(data) as never)).map(({ id }) => id));
    after = rows.length < pageSize ? undefined : rows.at(-1)?.id;
  }
  return found;
}

/** Finds deliveries of events about the customer: by the ID that their bodies begin with, and by the address. */
export async function findDeliveries(
  { person: { accountId, keys }, records }: { readonly person: Person; readonly records: OwnRecords },
  { transaction }: HandlerContext,
): Promise<number[]> {
  const replace = createAddressReplacer(keys, "");
  const found: number[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const rows: { id: number; body: string }[] = await selectAccountRows("webhook_deliveries", accountId, transaction)
      .select(["id", "body"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    const own = rows.filter(({ body }) => isAbout(body, records) || replace(body) !== body);
    found.push(...own.map(({ id }) => id));
    after = rows.length < pageSize ? undefined : rows.at(-1)?.id;
  }
  return found;
}

/** Texts cannot imitate the IDs, because JSON escapes their quotation marks. */
function isAbout(body: string, { reviews, questions, answers }: OwnRecords): boolean {
  const [, kind, id] = /^\{"event":"(review|question)_\w+","data":\{"id":(\d+),/.exec(body) ?? [];
  if (kind === undefined) return false;
  if ((kind === "review" ? reviews : questions).has(Number(id))) return true;
  const [, answer] = /"answer":\{"id":(\d+),/.exec(body) ?? [];
  return answer !== undefined && answers.has(Number(answer));
}
