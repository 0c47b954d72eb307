import { randomBytes } from "node:crypto";
import {
  idempotencyKeys,
  imageLimits,
  type PhotoForm,
  type QuestionForm,
  type ShopperForm,
} from "../contract/index.ts";
import type { MessageKey } from "../messages/messages.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { contentField, emailField, errorList, type FormContext, refusalBox, textField } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { photoForm } from "./photo-form.ts";
import { type Html, isWebUrl, markup } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";
import { aboutProduct, rating, reviewTexts, titleOf } from "./review-request-page.ts";
import { myReviewsLink, noMicrodata, reviewList } from "./review-parts.ts";

/** The page on which anybody can write a review. It uses no scripts. */
export function reviewFormPage(
  { form: given }: { readonly form: ShopperForm },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text } = context;
  const form = withTyped(given, context);
  const { product } = form;
  const fields: FormContext = { ...context, subject: "review" };
  const texts = {
    title: titleOf(form, product, text),
    heading: titleOf(form, product, t),
    failed: "page.request.not_submitted",
    email: "page.write.email_hint",
    submit: "page.request.submit",
  } as const;
  return formPage(
    form,
    texts,
    fields,
    markup`${rating(form, fields)}
${reviewTexts(form, fields)}`,
  );
}

/** The page on which anybody can ask a question about a product. It uses no scripts. */
export function questionFormPage(
  { form: given }: { readonly form: QuestionForm },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text } = context;
  const { state, product } = given;
  const values = { product: product.name };
  const [title, heading] = [text("page.write.ask", values), t("page.write.ask", values)];
  if (state === "sent") {
    const back = isWebUrl(product.url) && markup`<p><a href="${product.url}">${t("page.to_product")}</a></p>`;
    return personalPage(
      title,
      markup`<p>${t("page.write.ask_done")}</p>
${back}`,
      heading,
    );
  }
  const form = withTyped(given, context);
  const fields: FormContext = { ...context, subject: "question" };
  const texts = {
    title,
    heading,
    failed: "page.write.ask_failed",
    email: "page.write.ask_email_hint",
    submit: "page.write.ask_submit",
  } as const;
  return formPage(form, texts, fields, contentField(form, fields));
}

/** The form with what was typed, if it is shown again. */
function withTyped<F extends ShopperForm>(form: F, { refusal }: PageContext): F {
  return refusal ? { ...form, fields: { ...form.fields, ...refusal.typed } } : form;
}

interface Texts {
  readonly title: string;
  readonly heading: Html;
  /** The heading above the errors. */
  readonly failed: MessageKey;
  /** Why the address is needed. */
  readonly email: MessageKey;
  readonly submit: MessageKey;
}

/** The key in the form makes a second submission return the response of the first. The page is never cached. */
function formPage(form: ShopperForm, texts: Texts, context: FormContext, fields: Html): PageContent {
  const { t, text, refusal } = context;
  const { title, heading, failed } = texts;
  return personalPage(
    // Screen readers read the title first, so errors are announced there.
    refusal || form.problems.length > 0 ? text("page.error", { title }) : title,
    // The store is not named, because the reader may not have bought anything there.
    markup`${aboutProduct({ ...form, store_name: "" }, form.product, context)}
${refusal ? refusalBox(refusal, failed, context) : errorList(form, failed, context)}
<form method="post" accept-charset="utf-8" novalidate>
<input type="hidden" name="${idempotencyKeys.field}" value="${refusal?.typed[idempotencyKeys.field] ?? randomBytes(16).toString("base64url")}">
${fields}
${textField(form, "display_name", context)}
${emailField(form, texts.email, context)}
${consentText(context)}
<p><button type="submit">${t(texts.submit)}</button></p>
</form>
${myReviewsLink(form, context)}`,
    heading,
  );
}

/** The page of a new review, on which its author can add photos, one at a time. It uses no scripts. */
export function photoFormPage(
  { form }: { readonly form: PhotoForm },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text, refusal } = context;
  const { state, product, review, is_site, photos } = form;
  if (state === "gone" || !product || !review) return gonePage(context);
  const about = { is_site, store_name: "" };
  const title = titleOf(about, product, text);
  const shown = { ...review, id: 0, anonymous: !form.is_confirmed, comment: null };
  const added = photos > 0 && text("page.write.photos_added", { count: photos, max: imageLimits.perReview });
  const isWrong = refusal !== undefined || form.problem !== null;
  return personalPage(
    // Screen readers read the title first.
    isWrong ? text("page.error", { title }) : added || title,
    markup`${describeState(form, context)}
${form.takes_photos || photos > 0 || isWrong ? photoForm(form, undefined, context) : undefined}
<h2>${t("page.request.written")}</h2>
${reviewList([shown], noMicrodata, context)}
${isWebUrl(product.url) && markup`<p><a href="${product.url}">${t(is_site ? "page.to_store" : "page.to_product")}</a></p>`}`,
    titleOf(about, product, t),
  );
}

/** Who can read the review, and what its author can do about that. */
function describeState({ review_state: state, is_confirmed }: PhotoForm, { t }: PageContext): Html {
  const done = state === "public" ? t("page.request.done") : t(`page.write.${state}`);
  if (is_confirmed || state === "unconfirmed") return markup`<p>${done}</p>`;
  return markup`<p>${done}</p>
<p>${t("page.write.confirm")}</p>`;
}
