import { actorNames, type contract, missingField, recordNotFound } from "../../contract/index.ts";
import { findStorePerson, readStoreName } from "../accounts/account-profile.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { findRow } from "../kernel/account-rows.ts";
import { accountOf, actorOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { announceQuestion, queueAnswerNotifications } from "./question-messages.ts";
import { recordQuestionEvent } from "./question-history.ts";
import { toAnswer } from "./question-list.ts";
import { answerModerationHandlers } from "./question-moderation.ts";
import { addToQuestionTotals } from "./question-index.ts";
import { findOrAddShopper, type Person } from "../accounts/shoppers.ts";
import { castVotes } from "../kernel/votes.ts";

export const answerHandlers: Handlers<typeof contract.answers> = {
  ...answerModerationHandlers,

  /**
   * Votes on a public answer.
   * @throws ServiceError `recordNotFound`
   * Source: spec "Questions and answers".
   */
  vote: operation("answers.vote", {
    owner: { kind: "answer", field: "answer_id" },
    runMany: (inputs, context) => {
      const votes = inputs.map(({ answer_id, vote_type }) => ({ row: answer_id, voteType: vote_type }));
      return castVotes("answer", votes, context);
    },
  }),

  /**
   * Answers a public question. The answer is public immediately.
   * @throws ServiceError `featureDisabled`, `recordNotFound`, `invalidParams` if only one of name and address is specified
   * Assumed: without a name and an address, the store answers.
   */
  create: async ({ question_id, content, display_name, email }, context) => {
    await requireFeature(context, "questions_and_answers");
    const shopper = parseShopper(display_name, email);
    const accountId = accountOf(context).id;
    const productRow = await findQuestion(question_id, context);
    const person = shopper
      ? await findOrAddShopper(shopper, accountId, context)
      : await findStorePerson(accountId, context);
    const row = await storeAnswer({ id: question_id, productRow }, { content, person, email }, context);
    return { answer: toAnswer({ ...row, ...person }, await readStoreName(context, accountId)) };
  },
};

/**
 * Stores an answer, which is public immediately, and announces it.
 * @param answer `email` is that of the shopper who answers; absent if the store does
 */
export async function storeAnswer(
  { id, productRow }: { readonly id: number; readonly productRow: number },
  {
    content,
    person,
    email,
  }: { readonly content: string; readonly person: Person; readonly email?: string | undefined },
  context: HandlerContext,
) {
  const accountId = accountOf(context).id;
  const byStore = email === undefined;
  const row = await insertAnswer({ question_row: id, content, by_store: byStore ? 1 : 0 }, person, context);
  await addPublicIds("answer", [row.answer_row], accountId, context);
  await addToQuestionTotals({ accountId, productRow }, { questions: 0, answers: 1 }, context);
  const [answerId, by] = [row.answer_row, byStore ? actorOf(context) : actorNames.user];
  const event = { questionId: id, answerId, authorRow: person.id, event: "answered", by };
  await recordQuestionEvent(event, accountId, context);
  await announceQuestion({ id, accountId }, context, { id: answerId, content, by_store: byStore });
  await queueAnswerNotifications({ id, accountId }, { id: answerId, content, email }, context);
  return row;
}

function parseShopper(display_name: string | undefined, email: string | undefined) {
  if (display_name === undefined && email === undefined) return undefined;
  if (display_name === undefined) throw missingField("display_name");
  if (email === undefined) throw missingField("email");
  return { display_name, email };
}

/** Finds a public question of the account, and returns its product's row ID. */
async function findQuestion(id: number, context: HandlerContext): Promise<number> {
  const found = await findRow("questions", ["product_row"], { id, state: "public" }, context);
  if (!found) throw recordNotFound("Question", "id", id);
  return found.product_row;
}

function insertAnswer(
  answer: { readonly question_row: number; readonly content: string; readonly by_store: number },
  person: Person,
  context: HandlerContext,
) {
  return context.transaction
    .insertInto("answers")
    .values({
      ...answer,
      account_id: accountOf(context).id,
      user_row: person.id,
      published: 1,
      votes_up: 0,
      votes_down: 0,
      created_at: context.nowMs,
    })
    .returning(["id as answer_row", "content", "by_store", "votes_up", "votes_down", "created_at as answered_at"])
    .executeTakeFirstOrThrow();
}
