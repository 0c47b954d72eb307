import {
  type contract,
  isEmail,
  maxEmailLength,
  type QuestionForm,
  reviewFormLimits,
  type ShopperForm,
  siteReviewsId,
} from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { collapseSpaces, findTextProblem, normalizeBreaks } from "../kernel/form-text.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { myReviewsUrl } from "../kernel/slug.ts";
import { buyerIndexForWebhooks } from "../orders/buyer-lookup.ts";
import { unknownProduct } from "../products/product-lookup.ts";
import { openProductView } from "../products/product-view.ts";
import { submitQuestion } from "../questions/questions.ts";
import { photoFormUrl } from "../reviews/new-reviews.ts";
import { describeStore, parseReviewForm } from "../reviews/requests/review-requests.ts";
import { submitReviews } from "../reviews/reviews.ts";
import { photoFormHandlers } from "./photo-forms.ts";

export const formHandlers: Handlers<typeof contract.forms> = {
  /** Assumed: unlike a call of the API, a form does not add products. @throws ServiceError `recordNotFound` */
  review: async ({ product_id }, context) => ({ form: await openForm(product_id, context) }),

  /**
   * Stores the review as `reviews.create` does, unless the fields are invalid.
   * @throws ServiceError `recordNotFound`
   */
  submitReview: operation("forms.submitReview", {
    counts: (input) => parseReview(input).review !== undefined,
    before: () => buyerIndexForWebhooks,
    run: async ({ product_id, ...input }, context) => {
      const form = await openForm(product_id, context);
      const { fields, problems, review } = parseReview(input);
      if (!review) return { form: { ...form, fields, problems }, url: null };
      const created = {
        sku: product_id,
        product_title: form.product.name,
        product_url: form.product.url,
        email: fields.email,
        display_name: review.display_name,
        review_title: review.title,
        review_content: review.content,
        review_score: review.score,
      };
      const [{ image_upload_token } = { image_upload_token: "" }] = await submitReviews([created], context);
      return { form, url: photoFormUrl(image_upload_token, context) };
    },
  }),

  /** @throws ServiceError `recordNotFound`, `featureDisabled` */
  question: async ({ product_id }, context) => ({ form: await openQuestionForm(product_id, context) }),

  /**
   * Stores the question as `questions.sendConfirmation` does, unless the fields are invalid.
   * Assumed: an equal question is not stored again, because the form may be submitted twice.
   * @throws ServiceError `recordNotFound`, `featureDisabled`
   */
  submitQuestion: operation("forms.submitQuestion", {
    counts: (input) => parseQuestion(input).problems.length === 0,
    run: async ({ product_id, ...input }, context) => {
      const form = await openQuestionForm(product_id, context);
      const { fields, problems } = parseQuestion(input);
      if (problems.length > 0) return { form: { ...form, fields, problems } };
      const question = {
        product_id,
        product_title: form.product.name,
        product_url: form.product.url,
        email: fields.email,
        display_name: collapseSpaces(fields.display_name),
        review_content: fields.content.trim(),
        prevent_duplicate_review: true,
      };
      await submitQuestion(question, context);
      return { form: { ...form, state: "sent" } };
    },
  }),

  ...photoFormHandlers,
};

type ProductOfForm = ShopperForm["product"];

/** Describes the product, or the store, that a form is about. @throws ServiceError `recordNotFound` */
async function openForm(productId: string, context: HandlerContext): Promise<ShopperForm> {
  const profile = await readAccountProfile(context);
  const is_site = productId === siteReviewsId;
  const { name, url, image_url } = is_site ? describeStore(profile) : await readProduct(productId, context);
  return {
    is_site,
    store_name: profile.displayName,
    product: { name, url, image_url },
    fields: emptyFields,
    problems: [],
    my_reviews_url: myReviewsUrl(profile.appKey, context),
  };
}

const emptyFields: ShopperForm["fields"] = { score: "", title: "", content: "", display_name: "", email: "" };

async function openQuestionForm(productId: string, context: HandlerContext): Promise<QuestionForm> {
  await requireFeature(context, "questions_and_answers");
  if (productId === siteReviewsId) throw unknownProduct(productId);
  return { ...(await openForm(productId, context)), state: "ready" };
}

async function readProduct(productId: string, context: HandlerContext): Promise<ProductOfForm> {
  const { id } = accountOf(context);
  const product = await selectAccountRows("products", id, context.transaction)
    .select(["name", "url", "image_url", "named_by_visitor"])
    .where("product_id", "=", productId)
    .executeTakeFirst();
  if (!product) throw unknownProduct(productId);
  return (await openProductView([product], id, context)).show(product);
}

type Typed = Readonly<Partial<Record<keyof ShopperForm["fields"], string>>>;

/** A submitted form: the fields as submitted, and what is wrong with them. */
type Parsed = Pick<ShopperForm, "fields" | "problems">;

function parseReview({ email = "", ...typed }: Typed): Parsed & Pick<ReturnType<typeof parseReviewForm>, "review"> {
  const { fields, problems, review } = parseReviewForm(typed);
  const found = [...problems, ...findEmailProblem(email)];
  return { fields: { ...fields, email }, problems: found, ...(found.length === 0 && review && { review }) };
}

function parseQuestion({ content, display_name = "", email = "" }: Typed): Parsed {
  const fields = { ...emptyFields, content: normalizeBreaks(content), display_name, email };
  const check = (field: "content" | "display_name", name: string, required: string) => {
    const text = field === "content" ? fields.content.trim() : collapseSpaces(display_name);
    const error = findTextProblem(text, { name, required, limit: reviewFormLimits[field] });
    return error === undefined ? [] : [{ field, error }];
  };
  const problems = [
    ...check("content", "The question", "Write your question."),
    ...check("display_name", "The name", "Write the name to show with your question."),
    ...findEmailProblem(email),
  ];
  return { fields, problems };
}

function findEmailProblem(email: string): Parsed["problems"] {
  if (isEmail(email) && email.length <= maxEmailLength) return [];
  return [{ field: "email", error: "Enter an email address, such as name@example.com." }];
}
