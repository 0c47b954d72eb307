import type { ExpressionBuilder } from "kysely";
import type { Tables } from "../../storage/tables.ts";
import type { Customer } from "../../contract/index.ts";
import { publicName } from "../accounts/shoppers.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { findDeliveries, findMailsToOthers } from "./copies.ts";
import { findOwnNames } from "./names.ts";
import type { PersonalValues } from "./redaction.ts";
import type { Person } from "./person.ts";
import { readCustomer } from "./person-records.ts";

/** Every row that contains data of a customer, by ID, except those of the address itself. */
export interface Traces {
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
export interface DeletedTexts {
  readonly questions: readonly number[];
  readonly answers: readonly number[];
}

/** Selects the events of the customer's questions with all answers, and of the customer's answers to others. */
export function isOwnEvent({ questions, ownAnswers, deleted }: Pick<Traces, "questions" | "ownAnswers" | "deleted">) {
  return (eb: ExpressionBuilder<Tables, "question_events">) =>
    eb.or([
      eb("question_row", "in", [0, ...questions, ...deleted.questions]),
      eb("answer_row", "in", [0, ...ownAnswers, ...deleted.answers]),
    ]);
}

export async function findTraces(person: Person, context: HandlerContext): Promise<Traces> {
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
  { keys, slugs }: Person,
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
  return { addresses: keys, values };
}

async function findAnswers(
  accountId: number,
  { questions, ownAnswers }: Pick<Traces, "questions" | "ownAnswers">,
  { transaction }: HandlerContext,
): Promise<number[]> {
  if (questions.length === 0) return [];
  const rows = await selectAccountRows("answers", accountId, transaction)
    .select("id")
    .where("question_row", "in", questions)
    .execute();
  const own = new Set(ownAnswers);
  return rows.map(({ id }) => id).filter((id) => !own.has(id));
}

async function findDeletedTexts(
  { accountId, userRows }: Person,
  { questions, ownAnswers }: Pick<Traces, "questions" | "ownAnswers">,
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
