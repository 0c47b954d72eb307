import {
  maxEmailLength,
  type MyReviewsPage,
  type MyReviewsRequest,
  type OwnQuestion,
  type OwnReview,
} from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { contentField, errorList, type FormContext, refusalBox } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { type Html, isWebUrl, markup } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";
import { rating, reviewTexts } from "./review-request-page.ts";
import { day, noMicrodata, scoreLine, storeReply } from "./review-parts.ts";

/** What a person has written, and the forms that change it. It uses no scripts; all links lead to this page. */
export function myReviewsPage(
  { page }: { readonly page: MyReviewsPage },
  context: PageContext = defaultContext,
): PageContent {
  const [written] = [...page.reviews, ...page.questions];
  if (page.state === "gone" && page.request_url !== null) return expiredPage(page.request_url, context);
  if (page.state === "list") return listPage(page, context);
  if (page.state === "gone" || !written) return gonePage(context);
  return page.state === "delete" ? deletePage(page, context) : editPage(page, context);
}

function expiredPage(url: string, { t, text }: PageContext): PageContent {
  return personalPage(
    text("page.gone.title"),
    markup`<p>${t("page.mine.gone")}</p>
<p><a href="${url}">${t("page.mine.request_new")}</a></p>`,
  );
}

function listPage({ store_name, outcome, reviews, questions }: MyReviewsPage, context: PageContext): PageContent {
  const { t, text } = context;
  const key = reviews.length + questions.length === 0 ? "page.mine.none" : "page.mine.intro";
  return personalPage(
    text("page.mine.title"),
    markup`${outcome !== null && markup`<p class="note" role="status">${t(`page.mine.${outcome}`)}</p>`}
<p>${formatForStore(key, store_name, context)}</p>
${
  reviews.length > 0 &&
  markup`<h2>${t("page.mine.reviews")}</h2>${reviews.map((review) => reviewArticle(review, context, reviewActions(review, context)))}`
}
${
  questions.length > 0 &&
  markup`<h2>${t("page.mine.questions")}</h2>${questions.map((question) => questionArticle(question, context, actions("question", question, context)))}`
}`,
  );
}

/** Formats a message that names the store, if it has a name. */
function formatForStore(
  key: "page.mine.none" | "page.mine.intro" | "page.mine.ask" | "page.mine.sent",
  store: string,
  { t }: PageContext,
  address = "",
): Html {
  return store === "" ? t(key, { address }) : t(`${key}_store`, { store, address });
}

function subjectOf({ product }: Pick<OwnReview, "product">, { text }: PageContext): string {
  return product?.name ?? text("page.mine.the_store");
}

function productLink({ product }: Pick<OwnReview, "product">, context: PageContext): Html {
  const name = isolate(subjectOf({ product }, context));
  return product !== null && isWebUrl(product.url) ? markup`<a href="${product.url}">${name}</a>` : name;
}

function reviewArticle(review: OwnReview, context: PageContext, footer?: Html): Html {
  const { title, content, score, state, created_at } = review;
  return markup`
<article class="starpost-review">
<h3>${productLink(review, context)}</h3>
${scoreLine(score, noMicrodata, context)}
${title.trim() !== "" && markup`<p dir="auto"><b>${title}</b></p>`}
<p class="text" dir="auto">${content}</p>
<p class="by">${day(created_at, noMicrodata, context)} · ${context.t(`page.mine.state_${state}`)}</p>
${storeReply(review, context)}
${footer}
</article>`;
}

/** The image of a public photo. */
function photoImage(review: OwnReview, at: number, { text }: PageContext): Html | undefined {
  const photo = review.photos[at];
  if (!photo || review.state !== "public" || !isWebUrl(photo.thumb_url)) return undefined;
  const number = at + 1;
  const alt = review.product
    ? text("page.mine.photo", { number, product: review.product.name })
    : text("page.mine.photo_store", { number });
  return markup`<img src="${photo.thumb_url}" alt="${alt}" width="112" height="112">`;
}

function reviewActions(review: OwnReview, context: PageContext): Html {
  const photos = review.photos.map(({ id, original_url }, at) => {
    const image = photoImage(review, at, context);
    return markup`
<li>${image && markup`<a href="${original_url}">${image}</a>`}
<a href="?photo=${id}">${context.t("page.mine.delete_photo", { number: at + 1 })}${subjectFor(review, context)}</a></li>`;
  });
  const { photos_url: url } = review;
  const add =
    url !== null && markup`<a href="${url}">${context.t("page.write.photos")}${subjectFor(review, context)}</a>`;
  return markup`${photos.length > 0 && markup`<ul class="photos">${photos}</ul>`}
${actions("review", review, context, add)}`;
}

/** Distinguishes links with the same text for screen readers. */
function subjectFor(written: Pick<OwnReview, "product">, context: PageContext): Html {
  return markup`<span class="unseen">: ${isolate(subjectOf(written, context))}</span>`;
}

function actions(
  kind: "review" | "question",
  written: OwnReview | OwnQuestion,
  context: PageContext,
  more?: Html | false,
): Html {
  const { t } = context;
  const rest = subjectFor(written, context);
  return markup`<p class="actions"><a href="?${kind}=${written.id}">${t("page.mine.edit")}${rest}</a>
${more}
<a href="?${kind}=${written.id}&amp;action=delete">${t("page.mine.delete")}${rest}</a></p>`;
}

function questionArticle(question: OwnQuestion, context: PageContext, footer?: Html): Html {
  const { content, state, answers, created_at } = question;
  const { t } = context;
  const answered = answers > 0 && markup` · ${t("page.mine.answers", { count: answers })}`;
  return markup`
<article class="starpost-review">
<h3>${productLink(question, context)}</h3>
<p class="text" dir="auto">${content}</p>
<p class="by">${day(created_at, noMicrodata, context)} · ${t(`page.mine.state_${state}`)}${answered}</p>
${footer}
</article>`;
}

/** The form posts to the URL of the page, which names what it changes. */
function editPage(page: MyReviewsPage, context: PageContext): PageContent {
  const { t, text } = context;
  const [review] = page.reviews;
  const form: FormContext = { ...context, subject: review ? "review" : "question" };
  const product = (review ?? page.questions[0])?.product?.name ?? "";
  const key = !review
    ? "page.mine.edit_question"
    : review.product
      ? "page.mine.edit_review"
      : "page.mine.edit_review_store";
  const title = text(key, { product });
  const mayCheck = review?.state === "public" && markup`<p class="note">${t("page.mine.may_check")}</p>`;
  return personalPage(
    page.problems.length > 0 ? text("page.error", { title }) : title,
    markup`${errorList(page, "page.mine.not_saved", form)}
${mayCheck}
<form method="post" accept-charset="utf-8" novalidate>
${review && rating(page, form)}
${review ? reviewTexts(page, form) : contentField(page, form)}
${consentText(context)}
<p class="actions"><button type="submit">${t("page.mine.save")}</button> <a href="?">${t("page.mine.cancel")}</a></p>
</form>`,
    t(key, { product }),
  );
}

function deletePage(
  { photo_id, reviews: [review], questions: [question] }: MyReviewsPage,
  context: PageContext,
): PageContent {
  const { t, text } = context;
  const kind = photo_id !== null ? "photo" : review ? "review" : "question";
  const photo =
    review &&
    photoImage(
      review,
      review.photos.findIndex(({ id }) => id === photo_id),
      context,
    );
  const shown = review ? reviewArticle(review, context) : question && questionArticle(question, context);
  return personalPage(
    text(`page.mine.confirm_${kind}`),
    markup`<p>${t(`page.mine.confirm_${kind}_text`)}</p>
${kind === "photo" ? photo && markup`<div class="photos">${photo}</div>` : shown}
<form method="post"><p class="actions"><button type="submit" class="danger">${t(`page.mine.confirm_${kind}_button`)}</button> <a href="?">${t("page.mine.keep")}</a></p></form>`,
  );
}

/** The form that requests the link for an address, and its confirmation, which is the same for every address. */
export function myReviewsRequestPage(
  { request }: { readonly request: MyReviewsRequest },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text, refusal } = context;
  const { state, store_name: store } = request;
  const email = refusal?.typed["email"] ?? request.email;
  if (state === "sent") {
    return personalPage(
      text("page.mine.sent_title"),
      markup`<p>${formatForStore("page.mine.sent", store, context, email)}</p>
<p>${t("page.mine.sent_help")}</p>
<p><a href="?">${t("page.mine.another")}</a></p>`,
    );
  }
  const title = text("page.mine.ask_title");
  const isInvalid = state === "invalid";
  const describedBy = isInvalid
    ? markup` aria-invalid="true" aria-describedby="email-hint email-fault" autofocus`
    : markup` aria-describedby="email-hint"`;
  return personalPage(
    isInvalid || refusal ? text("page.error", { title }) : title,
    markup`${refusal && refusalBox(refusal, "page.mine.not_sent", context)}
<p>${formatForStore("page.mine.ask", store, context)}</p>
<form method="post" accept-charset="utf-8" novalidate>
<div class="field">
<label for="email">${t("page.mine.email")}</label>
<span class="hint" id="email-hint">${t("page.mine.email_hint")}</span>
${isInvalid && markup`<span class="fault" id="email-fault">${t("page.problem.email")}</span>`}
<input type="email" id="email" name="email" value="${email}" required maxlength="${maxEmailLength}" autocomplete="email"${describedBy}>
</div>
<p><button type="submit">${t("page.mine.send")}</button></p>
</form>`,
    markup`${title}`,
  );
}
