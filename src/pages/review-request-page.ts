import {
  type Brand,
  defaultBrand,
  type ReviewFormField,
  reviewFormLimits,
  type ReviewRequest,
  shortenName,
  starScores,
} from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { gonePage } from "./link-page.ts";
import { type Html, markup } from "./markup.ts";
import { noMicrodata, reviewList } from "./review-parts.ts";
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
${problems.length > 0 && errorList(problems)}
<form method="post" accept-charset="utf-8" novalidate>
${rating(request)}
${textField(request, "title", { label: "Title", hint: "Summarize your review in a few words." })}
${contentField(request)}
${nameField(request)}
${consentText(brand)}
<p><button type="submit">Submit my review</button></p>
</form>`,
    headingOf(product),
  );
}

const nameHint = "Shown as your first name and the initial of your last name.";

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

/** Links each error to its field. The list has the initial focus, so that it is read before the form. */
function errorList(problems: ReviewRequest["problems"]): Html {
  const lines = problems.map(({ field, error }) => markup`<li><a href="#${field}">${error}</a></li>`);
  return markup`<div class="problems" role="group" aria-labelledby="problems" tabindex="-1" autofocus>
<h2 id="problems">Your review was not submitted</h2>
<ul>${lines}</ul>
</div>`;
}

function rating(request: ReviewRequest): Html {
  const { error, attributes } = describeField(request, "score");
  const option = (score: number) => {
    const id = score === 1 ? markup` id="score"` : undefined;
    const checked = request.fields.score === String(score) && markup` checked`;
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

function textField(
  request: ReviewRequest,
  name: "title" | "display_name",
  { label, hint }: { readonly label: string; readonly hint: string },
): Html {
  const { error, attributes } = describeField(request, name);
  const autocomplete = name === "display_name" ? "name" : "off";
  return markup`<div class="field">
<label for="${name}">${label}</label>
<span class="hint" id="${name}-hint">${hint}</span>
${error}
<input type="text" id="${name}" name="${name}" value="${request.fields[name]}" dir="auto" required maxlength="${reviewFormLimits[name]}" autocomplete="${autocomplete}"${attributes}>
</div>`;
}

/** A known name is shown as it will appear, and its field only to those who want to change it. */
function nameField(request: ReviewRequest): Html {
  const field = textField(request, "display_name", { label: "Your name", hint: nameHint });
  const name = shortenName(request.fields.display_name);
  if (name === "" || request.problems.some(({ field: invalid }) => invalid === "display_name")) return field;
  return markup`<details class="field">
<summary>Published as ${isolate(name)} <span class="change">Change name</span></summary>
${field}
</details>`;
}

function contentField(request: ReviewRequest): Html {
  const { error, attributes } = describeField(request, "content");
  // Browsers drop a line break directly after the opening tag, so one is added.
  return markup`<div class="field">
<label for="content">Your review</label>
<span class="hint" id="content-hint">What do you like or dislike about it?</span>
${error}
<textarea id="content" name="content" rows="7" dir="auto" required maxlength="${reviewFormLimits.content}"${attributes}>
${request.fields.content}</textarea>
</div>`;
}

/** Returns the error of a field, and the attributes that connect the field with its hint and error. */
function describeField({ problems }: ReviewRequest, name: ReviewFormField) {
  const problem = problems.find(({ field }) => field === name);
  if (!problem) return { error: undefined, attributes: markup` aria-describedby="${name}-hint"` };
  return {
    error: markup`<span class="fault" id="${name}-fault">${problem.error}</span>`,
    attributes: markup` aria-invalid="true" aria-describedby="${name}-hint ${name}-fault"`,
  };
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
