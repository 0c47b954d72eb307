import { type contract, imageLimits, type Question, type StorefrontQuestion } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { hasFeature } from "../accounts/account-settings.ts";
import type { Brand } from "../../contract/brand/brand.ts";
import { readBrand } from "../accounts/brand.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { listQuestions } from "../questions/question-list.ts";
import { findQuestionTotals } from "../questions/question-index.ts";
import { canProcessPhotos } from "../reviews/photo.ts";
import { readRatings } from "../reviews/star-totals.ts";
import { listPhotos, listReviews } from "./published-reviews.ts";
import { toPaging } from "./review-selection.ts";

export const storefrontHandlers: Handlers<typeof contract.storefront> = {
  settings: operation("storefront.settings", {
    run: readShop,
    after: async ({ shop, questions }) => ({
      shop: { ...shop, features: { photos: await canProcessPhotos(), questions } },
    }),
  }),

  /** Assumed: `service_site_reviews` stands for the shop, and has a rating even without reviews, like a known product. */
  ratings: async ({ product_ids }, context) => ({ ratings: await readRatings(product_ids, context) }),

  reviews: listReviews,

  photos: listPhotos,

  /** Assumed: without the feature, no question is public, so that pages of the shop show none. */
  questions: async ({ product_id, ...query }, context) => {
    const paging = toPaging(query);
    let totals: Awaited<ReturnType<typeof findQuestionTotals>>;
    let isOn = false;
    const { steps, toQuestions } = listQuestions(product_id, { count: paging.per_page, page: paging.page }, context);
    await context.dialect.runAll([
      async () => void (isOn = await hasFeature(context, "questions_and_answers")),
      async () => void (totals = await findQuestionTotals(product_id, context)),
      ...steps,
    ]);
    if (!isOn || !totals) return { pagination: { ...paging, total: 0 }, total_answers: 0, questions: [] };
    return {
      pagination: { ...paging, total: totals.total_questions },
      total_answers: totals.total_answers,
      questions: toQuestions().map(toStorefrontQuestion),
    };
  },
};

/** The name, the design, and the texts of the shop, and whether it takes questions. */
async function readShop(_input: object, context: HandlerContext) {
  const brand = await readBrand(accountOf(context).id, context);
  const { displayName, domain } = await readAccountProfile(context);
  return {
    questions: await hasFeature(context, "questions_and_answers"),
    shop: {
      name: displayName,
      url: domain,
      language: brand.language,
      brand: {
        accent_color: brand.accent_color,
        accent_text_color: brand.accent_text_color,
        star_color: brand.star_color,
        dark_accent_color: brand.dark_accent_color,
        dark_accent_text_color: brand.dark_accent_text_color,
        dark_star_color: brand.dark_star_color,
        radius: brand.radius,
        color_scheme: brand.color_scheme,
      },
      consent_text: brand.consent_text,
      privacy_url: brand.privacy_url,
      terms_url: brand.terms_url,
      messages: pickOwnTexts(brand),
      limits: { photo_bytes: imageLimits.bytes, photos_per_review: imageLimits.perReview },
    },
  };
}

/** The messages of the shop that elements may show: those of emails stay here. */
function pickOwnTexts({ messages = {} }: Brand): Record<string, Record<string, string>> {
  const ofPages = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => /^(?:shop|page\.(?:form|problem|reviews))\./.test(key)));
  return Object.fromEntries(Object.entries(messages).map(([language, texts]) => [language, ofPages(texts)]));
}

function toStorefrontQuestion({ id, content, created_at, asker, sorted_public_answers }: Question): StorefrontQuestion {
  return {
    id,
    content,
    created_at,
    display_name: asker.display_name,
    answers: sorted_public_answers.map((answer) => ({
      id: answer.id,
      content: answer.content,
      created_at: answer.created_at,
      display_name: answer.answerer.display_name,
      is_shop: answer.store_owner_comment,
      votes_up: answer.votes_up,
      votes_down: answer.votes_down,
    })),
  };
}
