import { type Brand, defaultBrand, type ReviewRequest, starScores } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { contentField, describeField, errorList, type FormState, nameField, textField } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { type Html, markup } from "./markup.ts";
import { myReviewsLink, noMicrodata, reviewList } from "./review-parts.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { isWebUrl } from "./seo-page.ts";

/** The page on which a buyer writes a review and then sees it. It uses no scripts. */
export function reviewRequestPage(
  { request }: { readonly request: ReviewRequest },
  brand: Brand = defaultBrand,
): PageContent {
  const { state, product, review, problems } = request;
  if (state === "gone" || !product) return gonePage();
  if (state === "done" && review) return donePage(request, { product, review });
  return personalPage(
    // Screen readers read the title first, so errors are announced there.
    problems.length > 0 ? `Error: ${titleOf(product)}` : titleOf(product),
    markup`${aboutProduct(request, product)}
${request.is_test && testNote}
${request.is_unsubscribed && unsubscribedNote}
${problems.length > 0 && errorList(request, "Your review was not submitted")}
<form method="post" accept-charset="utf-8" novalidate>
${rating(request)}
${reviewTexts(request)}
${nameField(request)}
${consentText(brand)}
<p><button type="submit">Submit my review</button></p>
</form>
${myReviewsLink(request)}`,
    headingOf(product),
  );
}

type Product = NonNullable<ReviewRequest["product"]>;

const titleOf = ({ name }: Product) => `Your review of ${name}`;
const headingOf = ({ name }: Product) => markup`Your review of ${isolate(name)}`;

const testNote = markup`<p class="note">This link is from a test email. You can try out the page; your review is not saved.</p>`;

const unsubscribedNote = markup`<p class="note">You have unsubscribed from these emails. You can still write this review.</p>`;

function aboutProduct({ store_name: store, is_site: isSite }: ReviewRequest, { image_url: image }: Product): Html {
  if (isSite) return markup`<p>How was your experience with us?</p>`;
  const from = store !== "" && markup`<p>You bought it from ${isolate(store)}. How do you like it?</p>`;
  if (image === null || !isWebUrl(image)) return markup`${from}`;
  // The image has no alternative text, because the heading names the product.
  return markup`<div class="product"><img src="${image}" alt="">${from}</div>`;
}

/** The fields for the title and the text. */
export function reviewTexts(form: FormState): Html {
  return markup`${textField(form, "title", { label: "Title", hint: "Summarize your review in a few words." })}
${contentField(form, { label: "Your review", hint: "What do you like or dislike about it?" })}`;
}

export function rating(request: FormState): Html {
  const { error, attributes } = describeField(request, "score");
  const option = (score: number) => {
    const id = score === 1 ? markup` id="score"` : undefined;
    const checked = request.fields["score"] === String(score) && markup` checked`;
    return markup`
<label><input type="radio" name="score" value="${score}"${id}${checked} required><span class="star" aria-hidden="true"></span>
<span>${score}<span class="unseen"> ${score === 1 ? "star" : "stars"}</span></span></label>`;
  };
  return markup`<fieldset class="field" role="radiogroup" aria-required="true"${attributes}>
<legend>Your rating</legend>
<span class="hint" id="score-hint">From 1 star (worst) to 5 stars (best).</span>
${error}
<div class="rating">${starScores.map(option)}
</div>
</fieldset>`;
}

function donePage(
  { is_test: isTest, is_site: isSite }: ReviewRequest,
  { product, review }: { readonly product: Product; readonly review: NonNullable<ReviewRequest["review"]> },
): PageContent {
  const shownReview = { ...review, id: 0, anonymous: false, comment: null };
  const back =
    isWebUrl(product.url) && markup`<p><a href="${product.url}">Go to the ${isSite ? "store" : "product"}</a></p>`;
  const thanks = markup`<p>Thank you! The store and its customers can now read your review.</p>`;
  return personalPage(
    titleOf(product),
    markup`${isTest ? testDoneNote : thanks}
<h2>What you wrote</h2>
${reviewList([shownReview], noMicrodata)}
${back}`,
    headingOf(product),
  );
}

const testDoneNote = markup`<p class="note">This link is from a test email. This is how a review would look; it was not saved.</p>`;
