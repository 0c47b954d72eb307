import { imageLimits, imageTypes, type PhotoForm } from "../contract/index.ts";
import type { MessageKey } from "../messages/messages.ts";
import { megabytes, problemBox, refusalBox } from "./form.ts";
import { type Html, markup } from "./markup.ts";
import type { PageContext } from "./page-context.ts";

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
  const form = markup`<form method="post"${target} enctype="multipart/form-data" novalidate>
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
