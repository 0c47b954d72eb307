import type * as z from "zod";
import type { Brand, EndpointOf, OperationName, TopReview } from "../contract/index.ts";
import { type Audience, type PageContent, personalPage, policyOf, renderDocument } from "./document.ts";
import { answerRequestPage } from "./answer-request-page.ts";
import { clickPage, linkPage } from "./link-page.ts";
import { myReviewsPage, myReviewsRequestPage } from "./my-reviews-page.ts";
import { photoFormPage, questionFormPage, reviewFormPage } from "./write-pages.ts";
import { reviewRequestPage } from "./review-request-page.ts";
import { seoPage } from "./seo-page.ts";
import { isolate } from "./bidi.ts";
import { type Html, isWebUrl, markup } from "./markup.ts";
import { byline, microdata, scoreLine } from "./review-parts.ts";
import { defaultContext, type PageContext } from "./page-context.ts";

/** How the result of an operation is rendered as an HTML page. */
export interface PageDefinition {
  readonly render: (value: unknown, context: PageContext) => string;
  /** The value of the `Content-Security-Policy` header. */
  readonly policy: (brand: Brand) => string;
  /** Whether the submitted form was invalid. */
  readonly hasProblems?: (value: unknown) => boolean;
  /** The operation that shows the form, for a call that was refused by a limit. */
  readonly form?: OperationName;
}

function page<N extends OperationName>(
  operation: N,
  describe: (value: z.output<EndpointOf<N>["output"]>, context: PageContext) => PageContent,
  audience: Audience,
  hasProblems?: (value: z.output<EndpointOf<N>["output"]>) => boolean,
  form?: OperationName,
): [OperationName, PageDefinition] {
  return [
    operation,
    {
      render: (value, context) =>
        renderDocument(describe(value as z.output<EndpointOf<N>["output"]>, context), context),
      policy: (brand) => policyOf(audience, brand),
      ...(hasProblems && { hasProblems: hasProblems as (value: unknown) => boolean }),
      ...(form && { form }),
    },
  ];
}

/** Part of a page of a shop, in the language of that page. It is not a document, so it has no policy but to load nothing. */
const elementPage: [OperationName, PageDefinition] = [
  "storefront.element",
  {
    render: (value) => (value as z.output<EndpointOf<"storefront.element">["output"]>).html,
    policy: () => policyOf("personal"),
  },
];

/** The pages of all operations with `htmlPaths`. */
export const pages: ReadonlyMap<OperationName, PageDefinition> = new Map([
  elementPage,
  page("reviews.top", topReviewsPage, "public"),
  page("seo.page", seoPage, "public"),
  page("links.show", linkPage, "personal"),
  page("links.follow", linkPage, "personal"),
  page("reviewRequests.show", reviewRequestPage, "form"),
  page("reviewRequests.write", reviewRequestPage, "form", ({ request }) => request.problems.length > 0),
  page("answerRequests.show", answerRequestPage, "form"),
  page("answerRequests.write", answerRequestPage, "form", ({ request }) => request.problems.length > 0),
  page("myReviews.show", myReviewsPage, "form"),
  page("myReviews.change", myReviewsPage, "form", ({ page: { problems } }) => problems.length > 0),
  page("myReviews.form", myReviewsRequestPage, "personal"),
  page(
    "myReviews.request",
    myReviewsRequestPage,
    "personal",
    ({ request }) => request.state === "invalid",
    "myReviews.form",
  ),
  page("forms.review", reviewFormPage, "form"),
  page("forms.submitReview", reviewFormPage, "form", ({ form }) => form.problems.length > 0, "forms.review"),
  page("forms.question", questionFormPage, "form"),
  page("forms.submitQuestion", questionFormPage, "form", ({ form }) => form.problems.length > 0, "forms.question"),
  page("forms.photos", photoFormPage, "form"),
  page("forms.addPhoto", photoFormPage, "form", ({ form }) => form.problem !== null, "forms.photos"),
  page("tracking.click", clickPage, "personal"),
  page("users.signedIn", signInPage, "personal"),
]);

/**
 * The page after signing in; it shows the signed-in account.
 * Assumed: this page takes the place of the store owner's admin pages, which this server does not have.
 */
export function signInPage(
  { account }: z.output<EndpointOf<"users.signedIn">["output"]>,
  { t, text }: PageContext = defaultContext,
): PageContent {
  if (!account) return personalPage(text("page.sign_in.gone_title"), markup`<p>${t("page.sign_in.gone")}</p>`);
  const { display_name, email, app_key } = account;
  const names = [display_name, email].filter((name) => name !== null);
  const user = markup`${names.map((name, at) => (at === 0 ? isolate(name) : markup` (${isolate(name)})`))}`;
  const key = markup`<code>${app_key}</code>`;
  return personalPage(
    text("page.sign_in.title"),
    markup`<p>${names.length > 0 ? t("page.sign_in.text", { user, key }) : t("page.sign_in.text_owner", { key })}</p>
<p>${t("page.sign_in.no_pages")}</p>`,
  );
}

/**
 * The three most recent 5-star reviews.
 * Assumed: the HTML response for the top reviews is a page with schema.org microdata, in the order of the JSON response.
 */
export function topReviewsPage(
  { reviews }: { readonly reviews: readonly TopReview[] },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text } = context;
  return {
    title: text("page.top.title"),
    body: markup`<h1>${t("page.top.title")}</h1>
${reviews.length === 0 ? markup`<p>${t("page.top.none")}</p>` : reviews.map((review) => reviewArticle(review, context))}`,
  };
}

function reviewArticle(review: TopReview, context: PageContext): Html {
  const { property, item } = microdata;
  const { title, score, content, image_url, product_name = "", display_name = "" } = review;
  const heading = markup`<h2 dir="auto"${property("name")}>${title}</h2>`;
  return markup`
<article class="starpost-review"${item("Review")}>
${title.trim() !== "" && heading}
${scoreLine(score, microdata, context)}
${image_url !== null && isWebUrl(image_url) && markup`<img class="cover" src="${image_url}" alt="${product_name}" width="320" height="240">`}
<p class="text" dir="auto"${property("reviewBody")}>${content}</p>
${byline({ ...review, display_name }, microdata, context, product(review))}
</article>`;
}

function product({ product_url, product_name = "" }: TopReview): Html | undefined {
  const { property, item } = microdata;
  if (product_name === "") return undefined;
  const name = isolate(product_name, property("name"));
  const link = isWebUrl(product_url) ? markup`<a href="${product_url}"${property("url")}>${name}</a>` : name;
  return markup`<span${item("Product", "itemReviewed")}>${link}</span>`;
}
