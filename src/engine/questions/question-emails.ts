import type { HandlerContext } from "../kernel/handler.ts";
import { queueEmail } from "../kernel/outbox.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { readAppKey } from "../accounts/account-profile.ts";
import { findOwner } from "../accounts/store-owner.ts";

/** Notifies the owner of the store of a question that became public. */
export async function queueAnswerRequest(questionId: number, context: HandlerContext): Promise<void> {
  const question = await readQuestion(questionId, context);
  const { accountId, productId, ...data } = question;
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
      data: () => ({ ...describe(data), question_id: questionId, answer_url: data.product_url || page }),
    },
    context,
  );
}

interface NewAnswer {
  readonly questionId: number;
  readonly content: string;
  /** Address of the shopper who answered; absent if the store did. */
  readonly email?: string | undefined;
}

/**
 * Notifies the asker of an answer, and the owner of the store of one that a shopper wrote.
 * Assumed: nobody is notified of their own answer.
 */
export async function queueAnswerNotifications(
  { questionId, content, email }: NewAnswer,
  context: HandlerContext,
): Promise<void> {
  const { accountId, asker, ...question } = await readQuestion(questionId, context);
  const data = () => ({ ...describe(question), answer: content });
  const isByAsker = email?.toLowerCase() === asker.email.toLowerCase();
  if (!isByAsker) {
    const recipient = { email: asker.email, name: asker.name };
    await queueEmail({ accountId, category: "answer_notification_shoppers", ...recipient, data }, context);
  }
  const owner = email === undefined ? undefined : await findOwner(accountId, context);
  if (!owner) return;
  const recipient = { email: owner.email, name: owner.display_name };
  await queueEmail({ accountId, category: "answer_notification_shop_owner", ...recipient, data }, context);
}

interface QuestionTexts {
  readonly content: string;
  readonly product_name: string;
  readonly product_url: string;
}

function describe({ content, product_name, product_url }: QuestionTexts): QuestionTexts {
  return { content, product_name, product_url };
}

async function readQuestion(id: number, { transaction }: HandlerContext) {
  const { account_id, asker_email, asker_name, product_id, ...texts } = await transaction
    .selectFrom("questions")
    .innerJoin("products", "products.id", "questions.product_row")
    .innerJoin("users", "users.id", "questions.user_row")
    .select(["questions.account_id", "questions.content", "products.product_id", "products.name as product_name"])
    .select(["products.url as product_url", "users.email as asker_email", "users.display_name as asker_name"])
    .where("questions.id", "=", id)
    .executeTakeFirstOrThrow();
  return { accountId: account_id, productId: product_id, asker: { email: asker_email, name: asker_name }, ...texts };
}
