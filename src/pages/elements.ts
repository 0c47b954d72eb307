import type {
  SeoReview,
  StorefrontElement,
  StorefrontPhotos,
  StorefrontQuestions,
  StorefrontReviews,
} from "../contract/index.ts";
import { directionOf } from "../messages/messages.ts";
import { type Html, markup, render } from "./markup.ts";
import type { PageContext } from "./page-context.ts";
import {
  bottomLine,
  histogram,
  noMicrodata,
  photoList,
  questionList,
  reviewList,
  shortRating,
} from "./review-parts.ts";

/** What an element shows, and the page of its product or the shop; undefined if the product's ID cannot be in a URL. */
export interface ElementContent {
  readonly pageUrl: string | undefined;
  readonly list?: Pick<StorefrontReviews, "rating"> & { readonly reviews: readonly SeoReview[] };
  readonly photos?: StorefrontPhotos;
  readonly questions?: StorefrontQuestions;
}

type Show = (content: ElementContent, context: PageContext) => Html | undefined;

const elements: Readonly<Record<StorefrontElement, Show>> = {
  rating: ratingLink,
  badge: ratingLink,
  reviews: reviewsOf,
  carousel: (content, context) =>
    (content.list?.reviews.length ?? 0) > 0
      ? markup`${articlesOf(content, context)}${allReviews(content, context)}`
      : undefined,
  photos: ({ photos }, context) => {
    const shown =
      photos?.photos.map((photo) => Object.assign({}, photo, { display_name: photo.review.display_name })) ?? [];
    return photoList(shown, context, unstyled) ?? markup`<p>${context.t("page.product.no_photos")}</p>`;
  },
  questions: questionsOf,
  "review-form": ({ pageUrl }, { t }) => linkTo(pageUrl && `${pageUrl}/write`, t("page.product.write")),
};

/**
 * Renders the first page of an element, for a page of a shop that includes it for readers without JavaScript: it needs
 * neither styles nor scripts, and links to the rest. Nothing to show is an empty text.
 */
export function renderElement(element: StorefrontElement, content: ElementContent, context: PageContext): string {
  const shown = elements[element](content, context);
  if (!shown) return "";
  const { language } = context;
  const attributes = markup`class="starpost-element" lang="${language}" dir="${directionOf(language)}"`;
  // A rating can be inside a paragraph or a heading, where no block may be.
  return element === "rating" || element === "badge"
    ? render(markup`<span ${attributes}>${shown}</span>`)
    : render(markup`<div ${attributes}>\n${shown}\n</div>`);
}

const unstyled = { isStyled: false } as const;

function ratingLink({ pageUrl, list }: ElementContent, context: PageContext): Html | undefined {
  if (!list || list.rating.total_reviews === 0) return undefined;
  const text = shortRating(list.rating, context);
  return pageUrl === undefined ? text : markup`<a href="${pageUrl}#reviews">${text}</a>`;
}

function reviewsOf(content: ElementContent, context: PageContext): Html | undefined {
  const { list, pageUrl } = content;
  if (!list) return undefined;
  const { total_reviews, star_distribution } = list.rating;
  const hrefOf = (stars: number) => pageUrl && `${pageUrl}?stars=${stars}#reviews`;
  return markup`${bottomLine(list.rating, noMicrodata, context)}
${total_reviews > 0 && histogram(star_distribution, hrefOf, context)}
${articlesOf(content, context)}
${allReviews(content, context)}`;
}

function articlesOf({ list }: ElementContent, context: PageContext): Html {
  return reviewList(list?.reviews ?? [], noMicrodata, context, unstyled);
}

function allReviews({ list, pageUrl }: ElementContent, { t }: PageContext): Html | undefined {
  const total = list?.rating.total_reviews ?? 0;
  if (total <= (list?.reviews.length ?? 0)) return undefined;
  return linkTo(pageUrl && `${pageUrl}#reviews`, t("page.product.see_reviews", { count: total }));
}

function questionsOf({ questions, pageUrl }: ElementContent, context: PageContext): Html | undefined {
  if (!questions) return undefined;
  const { t } = context;
  if (questions.questions.length === 0) return markup`<p>${t("page.product.no_questions")}</p>`;
  const hasMore = questions.pagination.total > questions.questions.length;
  return markup`${questionList(questions.questions, context)}
${hasMore && linkTo(pageUrl && `${pageUrl}#questions`, t("page.product.see_questions"))}`;
}

function linkTo(url: string | undefined, text: Html): Html | undefined {
  return url === undefined ? undefined : markup`<p><a href="${url}">${text}</a></p>`;
}
