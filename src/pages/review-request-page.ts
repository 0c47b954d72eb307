import { type ReviewFormField, reviewFormLimits, type ReviewRequest } from "../contract/index.ts";
import { apart } from "./bidi.ts";
import { gonePage } from "./link-page.ts";
import { noMarks } from "./stars.ts";
import { type Html, markup } from "./markup.ts";
import { personalPage } from "./personal-page.ts";
import { reviewList } from "./review-parts.ts";
import { isWeb } from "./seo-page.ts";

/** The page on which a buyer writes a review, and which then shows it. It needs no scripts. */
export function reviewRequestPage({ request }: { readonly request: ReviewRequest }): string {
  const { state, product, review, problems } = request;
  if (state === "gone" || !product) return gonePage();
  if (state === "done" && review) return donePage(request, { product, review });
  return personalPage(
    // The first words of a title are the first that a screen reader says.
    problems.length > 0 ? `Please look again: your review of ${product.name}` : titleOf(product),
    markup`${aboutProduct(request, product)}
${request.is_test && testNote}
${request.is_unsubscribed && unsubscribedNote}
${problems.length > 0 && problemList(problems)}
<form method="post" accept-charset="utf-8" novalidate>
${rating(request)}
${textField(request, "title", { label: "Title", hint: "Your review in a few words." })}
${contentField(request)}
${textField(request, "display_name", {
  label: "Your name",
  hint: "Shown as your first name and the first letter of your last name.",
})}
<p><button type="submit">Send my review</button></p>
</form>`,
    headingOf(product),
  );
}

type Product = NonNullable<ReviewRequest["product"]>;

const titleOf = ({ name }: Product) => `Your review of ${name}`;
const headingOf = ({ name }: Product) => markup`Your review of ${apart(name)}`;

const testNote = markup`<p class="note">This is the link of a test mail: you can try the page, and nothing that you write here is kept.</p>`;

const unsubscribedNote = markup`<p class="note">You get no more of these mails, as you asked. You can still write this review.</p>`;

function aboutProduct({ store_name: store }: ReviewRequest, { image_url: image }: Product): Html {
  const from = store !== "" && markup`<p>You bought it from ${apart(store)}. How is it?</p>`;
  if (image === null || !isWeb(image)) return markup`${from}`;
  // The heading names what it shows.
  return markup`<div class="product"><img src="${image}" alt="">${from}</div>`;
}

/** Each line leads to its field; the list has the focus at first, so that it is met before the form. */
function problemList(problems: ReviewRequest["problems"]): Html {
  const lines = problems.map(({ field, error }) => markup`<li><a href="#${field}">${error}</a></li>`);
  return markup`<div class="problems" role="group" aria-labelledby="problems" tabindex="-1" autofocus>
<h2 id="problems">Nothing is sent yet</h2>
<ul>${lines}</ul>
</div>`;
}

const scores = [1, 2, 3, 4, 5] as const;

function rating(request: ReviewRequest): Html {
  const { fault, described } = readFault(request, "score");
  const option = (score: number) => {
    const id = score === 1 ? markup` id="score"` : undefined;
    const checked = request.fields.score === String(score) && markup` checked`;
    return markup`
<label><input type="radio" name="score" value="${score}"${id}${checked} required><span class="star" aria-hidden="true"></span>
<span>${score}<span class="unseen"> ${score === 1 ? "star" : "stars"}</span></span></label>`;
  };
  return markup`<fieldset class="field" role="radiogroup" aria-required="true"${described}>
<legend>Your rating</legend>
<span class="hint" id="score-hint">From 1 star, the worst, to 5 stars, the best.</span>
${fault}
<div class="rating">${scores.map(option)}
</div>
</fieldset>`;
}

function textField(
  request: ReviewRequest,
  name: "title" | "display_name",
  { label, hint }: { readonly label: string; readonly hint: string },
): Html {
  const { fault, described } = readFault(request, name);
  const autocomplete = name === "display_name" ? "name" : "off";
  return markup`<div class="field">
<label for="${name}">${label}</label>
<span class="hint" id="${name}-hint">${hint}</span>
${fault}
<input type="text" id="${name}" name="${name}" value="${request.fields[name]}" dir="auto" required maxlength="${reviewFormLimits[name]}" autocomplete="${autocomplete}"${described}>
</div>`;
}

function contentField(request: ReviewRequest): Html {
  const { fault, described } = readFault(request, "content");
  // A browser leaves out a line end that comes first.
  return markup`<div class="field">
<label for="content">Your review</label>
<span class="hint" id="content-hint">What do you like about it, and what not?</span>
${fault}
<textarea id="content" name="content" rows="7" dir="auto" required maxlength="${reviewFormLimits.content}"${described}>
${request.fields.content}</textarea>
</div>`;
}

/** What is wrong with a field, and the attributes that say where that is told. */
function readFault({ problems }: ReviewRequest, name: ReviewFormField) {
  const problem = problems.find(({ field }) => field === name);
  if (!problem) return { fault: undefined, described: markup` aria-describedby="${name}-hint"` };
  return {
    fault: markup`<span class="fault" id="${name}-fault">${problem.error}</span>`,
    described: markup` aria-invalid="true" aria-describedby="${name}-hint ${name}-fault"`,
  };
}

function donePage(
  { is_test: isTest }: ReviewRequest,
  { product, review }: { readonly product: Product; readonly review: NonNullable<ReviewRequest["review"]> },
): string {
  const shown = { ...review, id: 0, anonymous: false, comment: null };
  const back = isWeb(product.url) && markup`<p><a href="${product.url}">Go to the product</a></p>`;
  const kept = markup`<p>Thank you: the store and its shoppers can read it now.</p>`;
  return personalPage(
    titleOf(product),
    markup`${isTest ? testDoneNote : kept}
<h2>What you wrote</h2>
${reviewList([shown], noMarks)}
${back}`,
    headingOf(product),
  );
}

const testDoneNote = markup`<p class="note">This was the link of a test mail: so it would look, and nothing of it is kept.</p>`;
