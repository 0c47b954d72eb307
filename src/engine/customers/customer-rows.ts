import type { ExpressionBuilder } from "kysely";
import type { Tables } from "../../storage/tables.ts";
import type { Customer, SentEmailCategory } from "../../contract/index.ts";
import { publicName } from "../accounts/shoppers.ts";
import { findRows, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { createAddressReplacer, findOwnNames, type OwnRecords, type PersonalValues } from "./redaction.ts";
import type { Person } from "./person.ts";
import { readCustomer } from "./person-records.ts";

/** Every row that contains data of a customer, by ID, except those of the address itself. */
export interface CustomerRows {
  readonly person: Person;
  readonly customer: Customer;
  readonly reviews: readonly number[];
  readonly questions: readonly number[];
  /** Answers of the customer. */
  readonly ownAnswers: readonly number[];
  /** Answers of others to questions of the customer. */
  readonly answersToQuestions: readonly number[];
  readonly deleted: DeletedTexts;
  readonly mails: readonly number[];
  /** Emails to others that quote the customer. */
  readonly mailsToOthers: readonly number[];
  readonly deliveries: readonly number[];
  readonly values: PersonalValues;
}

/** Texts of the customer that were deleted. Their histories and copies are left. */
interface DeletedTexts {
  readonly questions: readonly number[];
  readonly answers: readonly number[];
}

/** Selects the events of the customer's questions with all answers, and of the customer's answers to others. */
export function isOwnEvent({
  questions,
  ownAnswers,
  deleted,
}: Pick<CustomerRows, "questions" | "ownAnswers" | "deleted">) {
  return (eb: ExpressionBuilder<Tables, "question_events">) =>
    eb.or([
      eb("question_row", "in", [0, ...questions, ...deleted.questions]),
      eb("answer_row", "in", [0, ...ownAnswers, ...deleted.answers]),
    ]);
}

export async function findCustomerRows(person: Person, context: HandlerContext): Promise<CustomerRows> {
  const customer = await readCustomer(person, context);
  const reviews = customer.reviews.map(({ id }) => id);
  const questions = customer.questions.map(({ id }) => id);
  const ownAnswers = customer.answers.map(({ id }) => id);
  const answersToQuestions = await findAnswers(person.accountId, { questions, ownAnswers }, context);
  const deleted = await findDeletedTexts(person, { questions, ownAnswers }, context);
  const records = {
    reviews: new Set(reviews),
    questions: new Set([...questions, ...deleted.questions]),
    answers: new Set([...ownAnswers, ...answersToQuestions, ...deleted.answers]),
    users: new Set(person.userRows),
  };
  return {
    person,
    customer,
    reviews,
    questions,
    ownAnswers,
    answersToQuestions,
    deleted,
    mails: customer.mails.map(({ id }) => id),
    values: { ...listValues(person, customer), names: await findOwnNames(person, customer, context), records },
    mailsToOthers: await findMailsToOthers({ person, customer, records }, context),
    deliveries: await findDeliveries({ person, records }, context),
  };
}

function listValues(
  { spellings, slugs }: Person,
  { names, orders, reviews, questions, answers }: Customer,
): Pick<PersonalValues, "addresses" | "values"> {
  const shortNames = names.map((display_name) => publicName({ kind: "shopper", display_name }));
  const texts = [
    ...reviews.flatMap(({ title, content, comment }) => [title, content, comment ?? ""]),
    ...[...questions, ...answers].map(({ content }) => content),
  ];
  const references = [...orders, ...reviews].map(({ user_reference }) => user_reference ?? "");
  const values = new Set([...names, ...shortNames, ...slugs, ...texts, ...references]);
  values.delete("");
  return { addresses: spellings, values };
}

async function findAnswers(
  accountId: number,
  { questions, ownAnswers }: Pick<CustomerRows, "questions" | "ownAnswers">,
  { transaction }: HandlerContext,
): Promise<number[]> {
  if (questions.length === 0) return [];
  const rows = await findRows("answers", ["id"], { account_id: accountId, question_row: questions }, { transaction });
  const own = new Set(ownAnswers);
  return rows.map(({ id }) => id).filter((id) => !own.has(id));
}

async function findDeletedTexts(
  { accountId, userRows }: Person,
  { questions, ownAnswers }: Pick<CustomerRows, "questions" | "ownAnswers">,
  { transaction }: HandlerContext,
): Promise<DeletedTexts> {
  if (userRows.length === 0) return { questions: [], answers: [] };
  const events = await selectAccountRows("question_events", accountId, transaction)
    .select(["question_row", "answer_row"])
    .distinct()
    .where("user_row", "in", userRows)
    .execute();
  const stored = { questions: new Set(questions), answers: new Set(ownAnswers) };
  const found = {
    questions: events.flatMap(({ question_row, answer_row }) => (answer_row === null ? question_row : [])),
    answers: events.flatMap(({ answer_row }) => answer_row ?? []),
  };
  return {
    questions: found.questions.filter((id) => !stored.questions.has(id)),
    answers: found.answers.filter((id) => !stored.answers.has(id)),
  };
}

/** Rows that are read at once. */
const pageSize = 1_000;

const quotingCategories: readonly SentEmailCategory[] = [
  "comment_request",
  "answer_request_shop_owner",
  "answer_request_shoppers",
  "answer_notification_shop_owner",
  "answer_notification_shoppers",
];

/** Finds emails to others that quote the customer, by the IDs in their data. */
async function findMailsToOthers(
  {
    person: { accountId, key },
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
      .where("email_key", "<>", key)
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
async function findDeliveries(
  { person: { accountId, spellings }, records }: { readonly person: Person; readonly records: OwnRecords },
  { transaction }: HandlerContext,
): Promise<number[]> {
  const replace = createAddressReplacer(spellings, "");
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
