import { breakLinks, emailKeyOf } from "../../contract/index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { queueEmail, queueWebhookEvents, withdrawEmails } from "../kernel/outbox.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { iso } from "../kernel/times.ts";
import { findOwner, readAppKey } from "../accounts/account-profile.ts";
import { openProductView } from "../products/product-view.ts";

/** Notifies the owner of the store of a question that its author has confirmed. @param isHeld whether it is not public */
export async function queueAnswerRequest(
  question: QuestionKey,
  isHeld: boolean,
  context: HandlerContext,
): Promise<void> {
  const { id, accountId } = question;
  const { content, product } = await readQuestion(question, context);
  const owner = await findOwner(accountId, context);
  if (!owner) return;
  const appKey = await readAppKey(context, accountId);
  const page = seoPageUrl({ publicUrl: context.publicUrl, appKey, productId: product.product_id });
  const texts = await describe(content, product, accountId, context);
  await queueEmail(
    {
      accountId,
      category: "answer_request_shop_owner",
      email: owner.email,
      name: owner.display_name,
      data: () => ({ ...texts, question_id: id, answer_url: texts.product_url || page, is_held: isHeld }),
    },
    context,
  );
}

/** Reads what a question to buyers of its product consists of. */
export async function readQuestionTexts(question: QuestionKey, context: HandlerContext) {
  const { content, product, asker } = await readQuestion(question, context);
  const texts = await describe(content, product, question.accountId, context);
  return { productRow: product.product_row, askerEmail: asker.email, texts };
}

/** Queues the webhook event for a question that is now public, or for an answer to it. */
export async function announceQuestion(
  { id, accountId }: QuestionKey,
  context: HandlerContext,
  answer?: { readonly id: number; readonly content: string; readonly by_store: boolean },
): Promise<void> {
  const readData = async () => {
    const { content, created_at, product, asker } = await readQuestion({ id, accountId }, context);
    return [
      {
        id,
        content,
        product_id: product.product_id,
        product_title: product.name,
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
  const { asker, product, ...asked } = await readQuestion(question, context);
  const ids = { question_id: question.id, answer_id };
  const texts = await describe(asked.content, product, accountId, context);
  const answer = email === undefined ? content : breakLinks(content);
  const data = () => ({ ...ids, ...texts, answer, is_by_store: email === undefined });
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

const questionCategories = ["answer_request_shop_owner", "answer_request_shoppers", "question_confirmation"] as const;

/** Cancels queued emails about a question and its answers. */
export async function withdrawQuestionEmails(
  { id, account_id: accountId }: { readonly id: number; readonly account_id: number },
  context: HandlerContext,
): Promise<void> {
  const recipients = await findRecipients({ id, accountId }, context);
  const withdrawn = [...notifications, ...questionCategories] as const;
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

/** The asker, the owner of the store, and the buyers who were asked, who get all emails about a question. */
async function findRecipients(question: QuestionKey, context: HandlerContext): Promise<readonly string[]> {
  const { asker, product, created_at } = await readQuestion(question, context);
  const owner = await findOwner(question.accountId, context);
  const asked = await selectAccountRows("mails", question.accountId, context.transaction)
    .select("email")
    .where("product_row", "=", product.product_row)
    .where("created_at", ">=", created_at)
    .where("category", "=", "answer_request_shoppers")
    .execute();
  return [asker.email, ...(owner ? [owner.email] : []), ...asked.map(({ email }) => email)];
}

/** The texts of emails about a question, which name its product as others see it. */
async function describe(
  content: string,
  product: Parameters<typeof openProductView>[0][number],
  accountId: number,
  context: HandlerContext,
) {
  const { name: product_name, url: product_url } = (await openProductView([product], accountId, context)).show(product);
  return { content, product_name, product_url };
}

async function readQuestion({ id, accountId }: QuestionKey, { transaction }: HandlerContext) {
  const { asker_email, asker_name, content, created_at, ...product } = await selectAccountRows(
    "questions",
    accountId,
    transaction,
  )
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .select(["questions.content", "questions.created_at", "questions.product_row"])
    .select(["products.product_id", "products.name", "products.url", "products.named_by_visitor"])
    .select(["users.email as asker_email", "users.display_name as asker_name"])
    .where("questions.id", "=", id)
    .executeTakeFirstOrThrow();
  return { content, created_at, product, asker: { email: asker_email, name: asker_name } };
}
