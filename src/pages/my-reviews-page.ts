import {
  type Brand,
  defaultBrand,
  maxEmailLength,
  type MyReviewsPage,
  type MyReviewsRequest,
  type OwnQuestion,
  type OwnReview,
  type OwnState,
} from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { contentField, errorList } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { type Html, markup } from "./markup.ts";
import { rating, reviewTexts } from "./review-request-page.ts";
import { day, noMicrodata, scoreLine } from "./review-parts.ts";
import { isWebUrl } from "./seo-page.ts";

/** What a person has written, and the forms that change it. It uses no scripts; all links lead to this page. */
export function myReviewsPage({ page }: { readonly page: MyReviewsPage }, brand: Brand = defaultBrand): PageContent {
  const [review] = page.reviews;
  const [question] = page.questions;
  if (page.state === "gone") return page.request_url === null ? gonePage() : expiredPage(page.request_url);
  if (page.state === "list") return listPage(page);
  if (page.state === "delete") return review || question ? deletePage(page) : gonePage();
  if (review) return editPage(page, { kind: "review", subject: subjectOf(review) }, brand);
  return question ? editPage(page, { kind: "question", subject: question.product.name }, brand) : gonePage();
}

const subjectOf = ({ product }: OwnReview) => product?.name ?? "the store";

function expiredPage(url: string): PageContent {
  return personalPage(
    "This link no longer works",
    markup`<p>It was valid for 90 days.</p>
<p><a href="${url}">Request a new link</a></p>`,
  );
}

const outcomes: Readonly<Record<NonNullable<MyReviewsPage["outcome"]>, string>> = {
  saved: "Your change was saved.",
  waiting: "Your change was saved. The store checks it before everybody can read it.",
  deleted: "It was deleted.",
  missing: "This does not exist. You may have deleted it before.",
};

function listPage({ store_name: store, outcome, reviews, questions }: MyReviewsPage): PageContent {
  const isEmpty = reviews.length + questions.length === 0;
  const at = store !== "" && markup` for ${isolate(store)}`;
  return personalPage(
    "What you have written",
    markup`${outcome !== null && markup`<p class="note" role="status">${outcomes[outcome]}</p>`}
${
  isEmpty
    ? markup`<p>Your reviews and questions${at} appear here once you have confirmed them.</p>`
    : markup`<p>These are your reviews, photos, and questions${at}. Keep the link to this page to yourself: it lets anyone change them.</p>`
}
${
  reviews.length > 0 &&
  markup`<h2>Your reviews</h2>${reviews.map((review) => reviewArticle(review, reviewActions(review)))}`
}
${
  questions.length > 0 &&
  markup`<h2>Your questions</h2>${questions.map((question) => questionArticle(question, actions("question", question.id, question.product.name)))}`
}`,
  );
}

const states: Readonly<Record<OwnState, string>> = {
  public: "Public",
  waiting: "Not public yet: the store checks it first",
  hidden: "Not public: the store has hidden it",
};

function productLink(product: OwnReview["product"]): Html {
  if (product === null) return markup`The store`;
  const name = isolate(product.name);
  return isWebUrl(product.url) ? markup`<a href="${product.url}">${name}</a>` : name;
}

function reviewArticle(review: OwnReview, footer?: Html): Html {
  const { title, content, score, state, comment, created_at } = review;
  return markup`
<article class="starpost-review">
<h3>${productLink(review.product)}</h3>
${scoreLine(score, noMicrodata)}
${title.trim() !== "" && markup`<p dir="auto"><b>${title}</b></p>`}
<p class="text" dir="auto">${content}</p>
<p class="by">${day(created_at, noMicrodata)} · ${states[state]}</p>
${comment !== null && markup`<p class="text comment" dir="auto"><b>Store:</b> ${isolate(comment)}</p>`}
${footer}
</article>`;
}

function reviewActions(review: OwnReview): Html {
  const { id, state, photos } = review;
  const photo = (shown: OwnReview["photos"][number], at: number) => {
    const label = `photo ${at + 1}`;
    const image =
      state === "public" &&
      isWebUrl(shown.thumb_url) &&
      markup`<a href="${shown.original_url}"><img src="${shown.thumb_url}" alt="Your ${label} of ${subjectOf(review)}"></a>`;
    return markup`
<li>${image}
<a href="?photo=${shown.id}">Delete ${label}<span class="unseen"> of ${subjectOf(review)}</span></a></li>`;
  };
  return markup`${photos.length > 0 && markup`<ul class="photos">${photos.map(photo)}</ul>`}
${actions("review", id, subjectOf(review))}`;
}

const named = { review: "your review of", question: "your question about" } as const;

function actions(kind: "review" | "question", id: number, subject: string): Html {
  const rest = markup`<span class="unseen"> ${named[kind]} ${subject}</span>`;
  return markup`<p class="actions"><a href="?${kind}=${id}">Edit${rest}</a>
<a href="?${kind}=${id}&amp;action=delete">Delete${rest}</a></p>`;
}

function questionArticle({ product, content, state, answers, created_at }: OwnQuestion, footer?: Html): Html {
  const answered = answers > 0 && markup` · ${answers} ${answers === 1 ? "answer" : "answers"}`;
  return markup`
<article class="starpost-review">
<h3>${productLink(product)}</h3>
<p class="text" dir="auto">${content}</p>
<p class="by">${day(created_at, noMicrodata)} · ${states[state]}${answered}</p>
${footer}
</article>`;
}

/** The form posts to the URL of the page, which names what it changes. */
function editPage(
  page: MyReviewsPage,
  { kind, subject }: { readonly kind: "review" | "question"; readonly subject: string },
  brand: Brand,
): PageContent {
  const title = `Edit ${named[kind]} ${subject}`;
  const isReview = kind === "review";
  const isPublic = [...page.reviews, ...page.questions].some(({ state }) => state === "public");
  return personalPage(
    page.problems.length > 0 ? `Error: ${title}` : title,
    markup`${page.problems.length > 0 && errorList(page, "Your change was not saved")}
${isReview && isPublic && markup`<p class="note">The store may check your change before it is public.</p>`}
<form method="post" accept-charset="utf-8" novalidate>
${isReview && rating(page)}
${isReview ? reviewTexts(page) : contentField(page, { label: "Your question", hint: "Ask about the product." })}
${consentText(brand)}
<p class="actions"><button type="submit">Save</button> <a href="?">Cancel</a></p>
</form>`,
    markup`Edit ${named[kind]} ${isolate(subject)}`,
  );
}

function deletePage({ photo_id, reviews: [review], questions: [question] }: MyReviewsPage): PageContent {
  const kind = photo_id !== null ? "photo" : review ? "review" : "question";
  const photo = review?.photos.find(({ id }) => id === photo_id);
  const effect = {
    photo: "The photo is deleted permanently. Your review stays.",
    review: "Your review is deleted permanently, with its rating and its photos.",
    question: "Your question is deleted permanently, with all answers to it.",
  }[kind];
  const shownPhoto =
    photo &&
    review?.state === "public" &&
    isWebUrl(photo.thumb_url) &&
    markup`<p><img src="${photo.thumb_url}" alt="Your photo of ${subjectOf(review)}"></p>`;
  return personalPage(
    `Delete this ${kind}?`,
    markup`<p>${effect}</p>
${kind === "photo" ? shownPhoto : review ? reviewArticle(review) : question && questionArticle(question)}
<form method="post"><p class="actions"><button type="submit" class="danger">Delete my ${kind}</button> <a href="?">Keep it</a></p></form>`,
  );
}

/** The form that requests the link for an address, and its confirmation, which is the same for every address. */
export function myReviewsRequestPage({ request }: { readonly request: MyReviewsRequest }): PageContent {
  const { state, email, store_name: store } = request;
  const at = store !== "" && markup` for ${isolate(store)}`;
  if (state === "sent") {
    return personalPage(
      "Check your email",
      markup`<p>If you have confirmed reviews or questions${at} with ${isolate(email)}, you will receive an email with a link to them.</p>
<p>If nothing arrives within a few minutes, look in your spam folder, or enter the address of your order.</p>
<p><a href="?">Enter another address</a></p>`,
    );
  }
  const title = "See what you have written";
  const isInvalid = state === "invalid";
  const error = "Enter an email address, such as name@example.com.";
  const describedBy = isInvalid
    ? markup` aria-invalid="true" aria-describedby="email-hint email-fault" autofocus`
    : markup` aria-describedby="email-hint"`;
  return personalPage(
    isInvalid ? `Error: ${title}` : title,
    markup`<p>You receive an email with a link, where you can see, edit, and delete your reviews, photos, and questions${at}.</p>
<form method="post" accept-charset="utf-8" novalidate>
<div class="field">
<label for="email">Your email address</label>
<span class="hint" id="email-hint">The one with which you ordered, or wrote the review.</span>
${isInvalid && markup`<span class="fault" id="email-fault">${error}</span>`}
<input type="email" id="email" name="email" value="${email}" required maxlength="${maxEmailLength}" autocomplete="email"${describedBy}>
</div>
<p><button type="submit">Send me the link</button></p>
</form>`,
    markup`${title}`,
  );
}
