import { imageLimits, imageTypes, type PhotoForm } from "../contract/index.ts";
import type { MessageKey } from "../messages/messages.ts";
import { type PageContent, personalPage } from "./document.ts";
import { megabytes, problemBox, refusalBox } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { type Html, markup } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";
import { titleOf } from "./review-request-page.ts";
import { noMicrodata, reviewList } from "./review-parts.ts";
import { isWebUrl } from "./seo-page.ts";

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
  const isWrong = refusal !== undefined || form.problem !== null;
  return personalPage(
    isWrong ? text("page.error", { title }) : title,
    markup`${describeState(form, context)}
${form.takes_photos || photos > 0 ? photoForm(form, undefined, context) : undefined}
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

const problemKeys = {
  missing: "page.write.photo_missing",
  size: "page.write.photo_size",
  type: "page.write.photo_type",
  many: "page.write.photos_full",
  later: "page.write.photo_later",
} as const satisfies Record<NonNullable<PhotoForm["problem"]>, MessageKey>;

/**
 * The photos of a review so far, and the form that adds one.
 * @param action the URL of the page of the review, unless the form is on it
 */
export function photoForm(
  {
    photos,
    problem,
    is_confirmed = true,
    takes_photos = true,
  }: Pick<PhotoForm, "photos" | "problem"> & Partial<Pick<PhotoForm, "is_confirmed" | "takes_photos">>,
  action: string | undefined,
  context: PageContext,
): Html {
  const { t, refusal } = context;
  const max = imageLimits.perReview;
  const failed = "page.write.photo_failed";
  const why = problem !== null && problemBox(t(failed), markup`<p>${t(problemKeys[problem], { max, megabytes })}</p>`);
  const target = action !== undefined && markup` action="${new URL(action).pathname}"`;
  const form = markup`<form method="post"${target} enctype="multipart/form-data">
<div class="field">
<label for="image">${t("page.write.photo")}</label>
<span class="hint" id="image-hint">${t("page.write.photo_hint", { megabytes, max })}</span>
<input type="file" id="image" name="image" accept="${imageTypes.join(",")}" required aria-describedby="image-hint">
</div>
<p><button type="submit">${t("page.write.photo_add")}</button></p>
</form>`;
  return markup`<h2>${t("page.write.photos")}</h2>
${photos > 0 && markup`<p role="status">${t("page.write.photos_added", { count: photos, max })}</p>`}
${photos > 0 && !is_confirmed && markup`<p>${t("page.write.photos_wait")}</p>`}
${refusal ? refusalBox(refusal, failed, context) : why}
${takes_photos ? form : photos >= max && problem !== "many" && markup`<p>${t("page.write.photos_full", { max })}</p>`}`;
}
