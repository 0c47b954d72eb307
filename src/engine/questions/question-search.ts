import { sql } from "kysely";
import type * as z from "zod";
import { type contract, type FoundQuestion, type QuestionState, questionStates } from "../../contract/index.ts";
import { readStoreName } from "../accounts/account-profile.ts";
import { personColumns, toSummary } from "../accounts/shoppers.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { type Condition, type FilteredList, findPage } from "../kernel/lists/filtered-list.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { isWrittenBy } from "../kernel/lists/authors.ts";
import { findProductRow } from "../products/product-lookup.ts";
import { toAnswer } from "./question-list.ts";
import { questionTags } from "./question-index.ts";

type Operation = typeof contract.questions.search;
type Query = z.output<Operation["input"]>;

/**
 * Lists the questions that match filters, with their public answers.
 * Assumed: the list is sorted by creation time, with `search` by ID.
 */
export async function searchQuestions(query: Query, context: HandlerContext): Promise<z.output<Operation["output"]>> {
  const { ids, pagination } = await findPage(await planSearch(query, context), query, context);
  return { questions: await readQuestions(ids, context), pagination };
}

async function planSearch(query: Query, context: HandlerContext): Promise<FilteredList> {
  const { email, product_id, unanswered, state: states = ["public"] } = query;
  const few = await findFewParts(query, context);
  const isUnanswered: readonly Condition[] = unanswered === true ? [sql`questions.answered = 0`] : [];
  const sorted = states.map((state) => all([sql`questions.state = ${state}`, ...isUnanswered]));
  const state = context.dialect.withoutIndex(sql.ref("questions.state"));
  return {
    table: "questions",
    words: "question_words",
    parts: few ?? sorted,
    isFew: few !== undefined,
    conditions: [
      ...(states.length < questionStates.length ? [sql<boolean>`${state} in (${sql.join(states)})`] : []),
      ...isUnanswered,
      ...(email !== undefined && product_id !== undefined ? [isWrittenBy("questions", email, context)] : []),
    ],
    isNarrow: few !== undefined || isUnanswered.length > 0 || !states.includes("public"),
    tags: [
      ...(states.length < questionStates.length ? [states.map(questionTags.state)] : []),
      ...(unanswered === true ? [[questionTags.unanswered]] : []),
    ],
  };
}

async function findFewParts({ email, product_id }: Query, context: HandlerContext) {
  if (product_id !== undefined) {
    return [sql<boolean>`questions.product_row = ${await findProductRow(product_id, context)}`];
  }
  return email === undefined ? undefined : [isWrittenBy("questions", email, context)];
}

function all(conditions: readonly Condition[]): Condition {
  return sql`${sql.join([...conditions], sql` and `)}`;
}

async function readQuestions(ids: readonly number[], context: HandlerContext): Promise<FoundQuestion[]> {
  if (ids.length === 0) return [];
  const accountId = accountOf(context).id;
  const found = await selectAccountRows("questions", accountId, context.transaction)
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .select(["questions.id as question_row", "questions.content", "questions.state", "questions.user_type"])
    .select(["questions.created_at as asked_at", "products.product_id as sku", "products.name as product_title"])
    .select(["users.email", ...personColumns])
    .where("questions.id", "in", ids)
    .execute();
  const answers = await readAnswers(ids, context);
  const storeName = await readStoreName(context, accountId);
  const byId = new Map(found.map((row) => [row.question_row, row]));
  return ids.flatMap((id): FoundQuestion[] => {
    const row = byId.get(id);
    if (!row) return [];
    const { content, sku, product_title, state, email, user_type, asked_at, ...asker } = row;
    const own = answers.filter(({ question_row }) => question_row === id);
    return [
      {
        id,
        sku,
        product_title,
        content,
        state: state as QuestionState,
        email,
        asker: toSummary(asker),
        user_type,
        created_at: iso(asked_at),
        total_answers: own.length,
        sorted_public_answers: own.map((answer) => toAnswer(answer, storeName)),
      },
    ];
  });
}

function readAnswers(ids: readonly number[], context: HandlerContext) {
  return selectAccountRows("answers", accountOf(context).id, context.transaction)
    .innerJoin("users", sameAccount("users.id", "answers.user_row"))
    .select(["answers.question_row", "answers.id as answer_row", "answers.content", "answers.by_store"])
    .select(["answers.votes_up", "answers.votes_down", "answers.created_at as answered_at", ...personColumns])
    .where("answers.question_row", "in", ids)
    .where("answers.published", "=", 1)
    .orderBy("answers.by_store", "desc")
    .orderBy("answers.votes_up", "desc")
    .orderBy("answers.id")
    .execute();
}
