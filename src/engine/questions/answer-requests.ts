import { type AnswerRequest, answerFormFields, type contract, reviewFormLimits } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { findAndRenameShopper, publicName } from "../accounts/shoppers.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { recordClick } from "../kernel/email-log.ts";
import { collapseSpaces, findTextProblem, normalizeBreaks } from "../kernel/form-text.ts";
import { type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { type Claim, readClaim } from "../kernel/signed-link.ts";
import { iso } from "../kernel/times.ts";
import { openProductView } from "../products/product-view.ts";
import { storeAnswer } from "./answers.ts";

const gone: AnswerRequest = {
  state: "gone",
  store_name: "",
  product: null,
  question: "",
  fields: { content: "", display_name: "" },
  problems: [],
  answer: null,
};

/**
 * Shows the question of a link to a buyer, and stores the answer.
 * Assumed: a link works as long as the question is public, even if its recipient has since unsubscribed; each recipient
 * answers once.
 */
export const answerRequestHandlers: Handlers<typeof contract.answerRequests> = {
  /** Assumed: an expired or invalid link has the state `gone`; it is not an error. */
  show: operation("answerRequests.show", {
    owner: { claim: "token" },
    run: async ({ token }, context) => {
      const found = await findRequested(token, context);
      return { request: found ? found.request : gone };
    },
  }),

  write: operation("answerRequests.write", {
    owner: { claim: "token" },
    run: async ({ token, content: typed, display_name = "" }, context) => {
      const found = await findRequested(token, context);
      if (!found || found.request.state === "done") return { request: found?.request ?? gone };
      const fields = { content: normalizeBreaks(typed), display_name };
      const answer = { content: fields.content.trim(), display_name: collapseSpaces(display_name) };
      const problems = answerFormFields.flatMap((field) => {
        const error = findTextProblem(answer[field], { ...rules[field], limit: reviewFormLimits[field] });
        return error === undefined ? [] : [{ field, error }];
      });
      if (problems.length > 0) return { request: { ...found.request, fields, problems } };
      const { accountId, appKey, mailId, productRow, questionId, email } = found;
      const accountContext = { ...context, account: { id: accountId, appKey } };
      const shopper = { display_name: answer.display_name, email };
      const person = await findAndRenameShopper(shopper, accountId, accountContext);
      const question = { id: questionId, productRow };
      await storeAnswer(question, { content: answer.content, person, email }, accountContext);
      await recordClick({ accountId, mailId, category: "answer_request_shoppers" }, context);
      return { request: (await findRequested(token, context))?.request ?? gone };
    },
  }),
};

const rules = {
  content: { name: "The answer", required: "Write your answer." },
  display_name: { name: "The name", required: "Write the name to show with your answer." },
} as const;

async function findRequested(token: string, context: HandlerContext) {
  const claim = readClaim(token, ["answer_question"], context);
  const found = claim && (await findQuestion(claim, context));
  if (!claim || !found) return undefined;
  const { accountId, mailId = 0, id: questionId } = claim;
  const { email, email_key, recipient, known_name, question, product_row: productRow, ...product } = found;
  const { show } = await openProductView([product], accountId, context);
  const { name, url, image_url } = show(product);
  const { displayName, appKey } = await readAccountProfile(context, accountId);
  const answer = await findAnswer(questionId, email_key, accountId, context);
  const display_name = (known_name ?? recipient).slice(0, reviewFormLimits.display_name);
  const request: AnswerRequest = {
    ...gone,
    state: answer ? "done" : "ready",
    store_name: displayName,
    product: { name, url, image_url },
    question,
    fields: { content: "", display_name: display_name.includes("@") ? "" : display_name },
    answer,
  };
  return { request, accountId, appKey, mailId, productRow, questionId, email };
}

/** Finds the public question and the email of a link. */
function findQuestion({ id, mailId = 0, accountId }: Claim, { transaction }: HandlerContext) {
  return selectAccountRows("questions", accountId, transaction)
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .innerJoin("mails", (join) =>
      join.onRef("mails.account_id", "=", "questions.account_id").on("mails.id", "=", mailId),
    )
    .leftJoin("users", sameAccount("users.email_key", "mails.email_key"))
    .select(["mails.email", "mails.email_key", "mails.name as recipient", "users.display_name as known_name"])
    .select(["questions.content as question", "questions.product_row", "products.product_id"])
    .select(["products.name", "products.url", "products.image_url", "products.named_by_visitor"])
    .where("questions.id", "=", id)
    .where("questions.state", "=", "public")
    .executeTakeFirst();
}

/** Finds the answer that the recipient of an email gave, even if it is hidden. */
async function findAnswer(
  questionId: number,
  emailKey: string,
  accountId: number,
  { transaction }: HandlerContext,
): Promise<AnswerRequest["answer"]> {
  const found = await selectAccountRows("answers", accountId, transaction)
    .innerJoin("users", sameAccount("users.id", "answers.user_row"))
    .select(["answers.content", "answers.created_at", "users.display_name", "users.kind"])
    .where("answers.question_row", "=", questionId)
    .where("users.email_key", "=", emailKey)
    .where("answers.by_store", "=", 0)
    .executeTakeFirst();
  return found ? { content: found.content, display_name: publicName(found), created_at: iso(found.created_at) } : null;
}
