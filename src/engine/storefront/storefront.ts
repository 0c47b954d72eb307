import { type contract, imageLimits } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { hasFeature } from "../accounts/account-settings.ts";
import type { Brand } from "../../contract/brand/brand.ts";
import { readBrand } from "../accounts/brand.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { canProcessPhotos } from "../reviews/photo.ts";
import { readRatings } from "../reviews/star-totals.ts";
import { showElement } from "./element.ts";
import { listPublicQuestions } from "./published-questions.ts";
import { listPhotos, listReviews } from "./published-reviews.ts";

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

  questions: listPublicQuestions,

  element: showElement,
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
