import {
  type Answer,
  type contract,
  type FoundQuestion,
  type Question,
  questionPage,
  type QuestionState,
  questionStates,
} from "../../contract/index.ts";
import { ownerNameOf, readStoreName } from "../accounts/account-profile.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type Person, personColumns, toSummary } from "../accounts/shoppers.ts";
import { iso } from "../kernel/times.ts";
import { sql } from "kysely";
import type * as z from "zod";
import { type Condition, type FilteredList, findPage } from "../kernel/lists/filtered-list.ts";
import { isWrittenBy } from "../kernel/lists/authors.ts";
import { findProductRow } from "../products/product-lookup.ts";
import { questionTags } from "./question-index.ts";

interface Page {
  readonly count?: number | undefined;
  readonly page?: number | undefined;
}

/**
 * Lists a page of a product's public questions with all their public answers.
 * Source: spec "Question and answer". Assumed: questions are sorted newest first; `page` starts at 1; the store's answers
 * come first, then those with more upvotes, then older ones.
 * @returns steps that read them, independent of one another, and the result when all are done
 */
export function listQuestions(productId: string, page: Page, context: HandlerContext) {
  let questions: Awaited<ReturnType<ReturnType<typeof selectQuestions>["execute"]>> = [];
  let answers: Awaited<ReturnType<ReturnType<typeof selectAnswers>["execute"]>> = [];
  let storeName: string | null = null;
  const answersOf = (questionRow: number) =>
    answers.filter(({ question_row }) => question_row === questionRow).map((row) => toAnswer(row, storeName));
  return {
    steps: [
      async () => void (questions = await selectQuestions(productId, page, context).execute()),
      async () => void (answers = await selectAnswers(productId, page, context).execute()),
      async () => void (storeName = await readStoreName(context, accountOf(context).id)),
    ],
    toQuestions: () =>
      questions.map(({ question_row, content, user_type, asked_at, ...asker }): Question => ({
        id: question_row,
        content,
        asker: toSummary(asker),
        user_type,
        created_at: iso(asked_at),
        sorted_public_answers: answersOf(question_row),
      })),
  };
}

/** The columns of an answer and its author, and of a question and the person who asks. */
export const answerColumns = [
  ...(["answers.question_row", "answers.id as answer_row", "answers.content", "answers.by_store"] as const),
  ...(["answers.votes_up", "answers.votes_down", "answers.created_at as answered_at"] as const),
  ...personColumns,
] as const;

/** Selects the IDs of the page using only an index. */
function selectPage(productId: string, { count = questionPage.default, page = 1 }: Page, context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  const size = Math.min(count, questionPage.max);
  return selectAccountRows("questions", accountId, context.transaction)
    .select("questions.id")
    .where("product_row", "=", (eb) =>
      eb.selectFrom("products").select("id").where("account_id", "=", accountId).where("product_id", "=", productId),
    )
    .where("state", "=", "public")
    .orderBy("questions.id", "desc")
    .limit(size)
    .offset(Math.min((Math.max(page, 1) - 1) * size, Number.MAX_SAFE_INTEGER));
}

function selectQuestions(productId: string, page: Page, context: HandlerContext) {
  return context.transaction
    .selectFrom(selectPage(productId, page, context).as("paged"))
    .innerJoin("questions", (join) =>
      join.on("questions.account_id", "=", accountOf(context).id).onRef("questions.id", "=", "paged.id"),
    )
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .select([
      "questions.id as question_row",
      "questions.content",
      "questions.user_type",
      "questions.created_at as asked_at",
      ...personColumns,
    ])
    .orderBy("paged.id", "desc");
}

function selectAnswers(productId: string, page: Page, context: HandlerContext) {
  return context.transaction
    .selectFrom(selectPage(productId, page, context).as("paged"))
    .crossJoin("answers")
    .where("answers.account_id", "=", accountOf(context).id)
    .whereRef("answers.question_row", "=", "paged.id")
    .where("answers.published", "=", 1)
    .innerJoin("users", sameAccount("users.id", "answers.user_row"))
    .select(answerColumns)
    .orderBy("answers.by_store", "desc")
    .orderBy("answers.votes_up", "desc")
    .orderBy("answers.id");
}

interface AnswerRow extends Pick<Row<"answers">, "content" | "by_store" | "votes_up" | "votes_down"> {
  readonly answer_row: number;
  readonly answered_at: number;
}

/**
 * Converts an answer with the columns of its author.
 * Assumed: answers of the store appear under its current name, or else its owner's.
 */
export function toAnswer(row: AnswerRow & Person, storeName: string | null): Answer {
  return {
    id: row.answer_row,
    content: row.content,
    store_owner_comment: row.by_store === 1,
    answerer: toSummary(row.by_store === 1 ? { ...row, display_name: storeName ?? ownerNameOf(row) } : row),
    votes_up: row.votes_up,
    votes_down: row.votes_down,
    created_at: iso(row.answered_at),
  };
}

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
    .select(answerColumns)
    .where("answers.question_row", "in", ids)
    .where("answers.published", "=", 1)
    .orderBy("answers.by_store", "desc")
    .orderBy("answers.votes_up", "desc")
    .orderBy("answers.id")
    .execute();
}
