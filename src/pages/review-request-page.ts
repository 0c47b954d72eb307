import { type ReviewRequest, starScores } from "../contract/index.ts";
import {
  contentField,
  describeField,
  errorList,
  type FormContext,
  type FormState,
  nameField,
  textField,
} from "./form.ts";
import { photoForm } from "./photo-form.ts";
import { gonePage } from "./link-page.ts";
import { type Html, isWebUrl, markup } from "./markup.ts";
import { myReviewsLink, noMicrodata, reviewList } from "./review-parts.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { defaultContext, type PageContext } from "./page-context.ts";

/** The page on which a buyer writes a review and then sees it. It uses no scripts. */
export function reviewRequestPage(
  { request }: { readonly request: ReviewRequest },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text } = context;
  const { state, product, review, problems } = request;
  if (state === "gone" || !product) return gonePage(context);
  if (state === "done" && review) return donePage(request, { product, review }, context);
  const form: FormContext = { ...context, subject: "review" };
  const title = titleOf(request, product, text);
  return personalPage(
    // Screen readers read the title first, so errors are announced there.
    problems.length > 0 ? text("page.error", { title }) : title,
    markup`${aboutProduct(request, product, context)}
${request.is_test && markup`<p class="note">${t("page.request.test")}</p>`}
${request.is_unsubscribed && markup`<p class="note">${t("page.request.unsubscribed")}</p>`}
${errorList(request, "page.request.not_submitted", form)}
<form method="post" accept-charset="utf-8" novalidate>
${rating(request, form)}
${reviewTexts(request, form)}
${nameField(request, form)}
${consentText(context)}
<p><button type="submit">${t("page.request.submit")}</button></p>
</form>
${myReviewsLink(request, context)}`,
    titleOf(request, product, t),
  );
}

type Product = NonNullable<ReviewRequest["product"]>;

export function titleOf<Text>(
  { is_site: isSite, store_name: store }: Pick<ReviewRequest, "is_site" | "store_name">,
  { name }: Product,
  format: (key: "page.request.title" | "page.request.title_store", values: { readonly product: string }) => Text,
): Text {
  return format(isSite && store === "" ? "page.request.title_store" : "page.request.title", { product: name });
}

export function aboutProduct(
  { store_name: store, is_site: isSite }: Pick<ReviewRequest, "is_site" | "store_name">,
  { image_url: image }: Product,
  { t }: PageContext,
): Html {
  if (isSite) return markup`<p>${t("page.request.experience")}</p>`;
  const from = store !== "" && markup`<p>${t("page.request.bought", { store })}</p>`;
  if (image === null || !isWebUrl(image)) return markup`${from}`;
  // The image has no alternative text, because the heading names the product.
  return markup`<div class="product"><img src="${image}" alt="" width="80" height="80">${from}</div>`;
}

/** The fields for the title and the text. */
export function reviewTexts(form: FormState, context: FormContext): Html {
  return markup`${textField(form, "title", context)}
${contentField(form, context)}`;
}

export function rating(request: FormState, context: FormContext): Html {
  const { t } = context;
  const { error, attributes } = describeField(request, "score", context);
  const option = (score: number) => {
    const id = score === 1 ? markup` id="score"` : undefined;
    const checked = request.fields["score"] === String(score) && markup` checked`;
    return markup`
<label><input type="radio" name="score" value="${score}"${id}${checked} required><span class="star" aria-hidden="true"></span>
<span aria-hidden="true">${t("page.number", { value: score })}</span><span class="unseen">${t("page.form.stars", { count: score })}</span></label>`;
  };
  return markup`<fieldset class="field" role="radiogroup" aria-required="true"${attributes}>
<legend>${t("page.form.rating")}</legend>
<span class="hint" id="score-hint">${t("page.form.rating_hint")}</span>
${error}
<div class="rating">${starScores.map(option)}
</div>
</fieldset>`;
}

function donePage(
  request: ReviewRequest,
  { product, review }: { readonly product: Product; readonly review: NonNullable<ReviewRequest["review"]> },
  context: PageContext,
): PageContent {
  const { t, text } = context;
  const { is_test: isTest, is_site: isSite } = request;
  const shownReview = { ...review, id: 0, anonymous: false, comment: null };
  const back =
    isWebUrl(product.url) &&
    markup`<p><a href="${product.url}">${t(isSite ? "page.to_store" : "page.to_product")}</a></p>`;
  const testNote = markup`<p class="note">${t("page.request.test_done")}</p>`;
  return personalPage(
    titleOf(request, product, text),
    markup`${isTest ? testNote : markup`<p>${t("page.request.done")}</p>`}
${isTest || request.photos_url === null ? undefined : photoForm({ photos: 0, problem: null }, request.photos_url, context)}
<h2>${t("page.request.written")}</h2>
${reviewList([shownReview], noMicrodata, context)}
${back}`,
    titleOf(request, product, t),
  );
}
