import { emailKeyOf } from "../../contract/index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { queueEmail, queueWebhookEvents, withdrawEmails } from "../kernel/outbox.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { iso } from "../kernel/times.ts";
import { findOwner, readAppKey } from "../accounts/account-profile.ts";

/** Notifies the owner of the store of a question that became public. */
export async function queueAnswerRequest(question: QuestionKey, context: HandlerContext): Promise<void> {
  const { id, accountId } = question;
  const { productId, ...data } = await readQuestion(question, context);
  const owner = await findOwner(accountId, context);
  if (!owner) return;
  const appKey = await readAppKey(context, accountId);
  const page = seoPageUrl({ publicUrl: context.publicUrl, appKey, productId });
  await queueEmail(
    {
      accountId,
      category: "answer_request_shop_owner",
      email: owner.email,
      name: owner.display_name,
      data: () => ({ ...describe(data), question_id: id, answer_url: data.product_url || page }),
    },
    context,
  );
}

/** Queues the webhook event for a question that is now public, or for an answer to it. */
export async function announceQuestion(
  { id, accountId }: QuestionKey,
  context: HandlerContext,
  answer?: { readonly id: number; readonly content: string; readonly by_store: boolean },
): Promise<void> {
  const readData = async () => {
    const { content, created_at, productId, product_name, asker } = await readQuestion({ id, accountId }, context);
    return [
      {
        id,
        content,
        product_id: productId,
        product_title: product_name,
        display_name: asker.name,
        email: asker.email,
        created_at: iso(created_at),
        app_key: await readAppKey(context, accountId),
        ...(answer && { answer: { ...answer, created_at: iso(context.nowMs) } }),
      },
    ];
  };
  await queueWebhookEvents(answer ? "question_answered" : "question_asked", readData, accountId, context);
}

interface QuestionKey {
  readonly id: number;
  readonly accountId: number;
}

interface NewAnswer {
  readonly id: number;
  readonly content: string;
  /** Address of the shopper who answered; absent if the store did. */
  readonly email?: string | undefined;
}

/**
 * Notifies the asker of an answer, and the owner of the store of one that a shopper wrote.
 * Assumed: nobody is notified of their own answer.
 */
export async function queueAnswerNotifications(
  question: QuestionKey,
  { id: answer_id, content, email }: NewAnswer,
  context: HandlerContext,
): Promise<void> {
  const { accountId } = question;
  const { asker, ...asked } = await readQuestion(question, context);
  const ids = { question_id: question.id, answer_id };
  const data = () => ({ ...ids, ...describe(asked), answer: content });
  const isByAsker = email !== undefined && emailKeyOf(email) === emailKeyOf(asker.email);
  if (!isByAsker) {
    const recipient = { email: asker.email, name: asker.name };
    await queueEmail({ accountId, category: "answer_notification_shoppers", ...recipient, data }, context);
  }
  const owner = email === undefined ? undefined : await findOwner(accountId, context);
  if (!owner) return;
  const recipient = { email: owner.email, name: owner.display_name };
  await queueEmail({ accountId, category: "answer_notification_shop_owner", ...recipient, data }, context);
}

const notifications = ["answer_notification_shoppers", "answer_notification_shop_owner"] as const;

/** The fields of emails that contain texts of a question and its answers. */
const textFields = ["content", "answer"];

/** Cancels queued emails about a question and its answers. */
export async function withdrawQuestionEmails(
  { id, account_id: accountId }: { readonly id: number; readonly account_id: number },
  context: HandlerContext,
): Promise<void> {
  const recipients = await findRecipients({ id, accountId }, context);
  const withdrawn = [...notifications, "answer_request_shop_owner", "question_confirmation"] as const;
  const record = ["question_id", id] as const;
  await withdrawEmails({ accountId, recipients, categories: withdrawn, record, texts: textFields }, context);
}

/** Cancels queued emails about an answer. */
export async function withdrawAnswerEmails(
  answer: { readonly accountId: number; readonly questionId: number; readonly answerId: number },
  context: HandlerContext,
): Promise<void> {
  const { accountId, questionId, answerId } = answer;
  const recipients = await findRecipients({ id: questionId, accountId }, context);
  const record = ["answer_id", answerId] as const;
  await withdrawEmails({ accountId, recipients, categories: notifications, record, texts: textFields }, context);
}

/** The asker and the owner of the store, who get all emails about a question. */
async function findRecipients(question: QuestionKey, context: HandlerContext): Promise<readonly string[]> {
  const { asker } = await readQuestion(question, context);
  const owner = await findOwner(question.accountId, context);
  return owner ? [asker.email, owner.email] : [asker.email];
}

interface QuestionTexts {
  readonly content: string;
  readonly product_name: string;
  readonly product_url: string;
}

function describe({ content, product_name, product_url }: QuestionTexts): QuestionTexts {
  return { content, product_name, product_url };
}

async function readQuestion({ id, accountId }: QuestionKey, { transaction }: HandlerContext) {
  const { asker_email, asker_name, product_id, ...texts } = await selectAccountRows("questions", accountId, transaction)
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .select(["questions.content", "products.product_id", "products.name as product_name"])
    .select(["products.url as product_url", "users.email as asker_email", "users.display_name as asker_name"])
    .select("questions.created_at")
    .where("questions.id", "=", id)
    .executeTakeFirstOrThrow();
  return { productId: product_id, asker: { email: asker_email, name: asker_name }, ...texts };
}
