import { call, explain } from "./controls.ts";
import { type Child, h, replace } from "./dom.ts";
import type { Context } from "./element.ts";
import { drawForm, personFields, productFields, starsField, textField, type Values } from "./form.ts";
import { drawPhotoField } from "./photo-field.ts";

interface ReviewForm {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
  readonly product: string;
  readonly onSent: (shown: readonly Child[]) => void;
}

export function drawReviewForm({ element, product, ...form }: ReviewForm, context: Context): HTMLFormElement {
  const { t, shop } = context;
  const photos = shop.features.photos ? drawPhotoField(context) : undefined;
  const text = { name: "review_content", label: t("page.form.review"), hint: t("page.form.review_hint") };
  const fields = [
    starsField(context),
    textField(context, { name: "review_title", label: t("page.form.title"), maxlength: 150 }),
    textField(context, { ...text, maxlength: 10_000, rows: 6 }),
    ...(photos ? [photos.field] : []),
    ...personFields(context),
  ];
  const send = async (values: Values, report: (text: string) => void) => {
    const images = (await photos?.read()) ?? [];
    const written = { ...values, review_score: Number(values["review_score"]) };
    const review = { ...productFields(element, product, context), ...written };
    const { image_upload_token } = await call<{ image_upload_token: string }>(context, "/v1/widget/reviews", review);
    return sendPhotos(image_upload_token, images, context, report);
  };
  return drawForm(context, { ...form, label: t("shop.form.write"), fields, send });
}

/** Adds the photos to the review. If that fails, the shopper can try again with the rest. @returns what the shopper reads then */
async function sendPhotos(
  image_upload_token: string,
  images: readonly string[],
  context: Context,
  report: (text: string) => void,
): Promise<readonly Child[]> {
  const { t } = context;
  for (const [at, image] of images.entries()) {
    report(t("shop.form.sending_photo", { number: at + 1, total: images.length }));
    try {
      await call(context, "/starpost/v1/images", { image_upload_token, image });
    } catch (error) {
      const status = h("p", {}, t("shop.form.photos_failed"), " ", explain(error, context));
      const retry = async () => {
        button.remove();
        const rest = await sendPhotos(image_upload_token, images.slice(at), context, (text) => replace(status, [text]));
        status.parentElement?.focus();
        status.replaceWith(...(rest as readonly (Node | string)[]));
      };
      const button = h("button", { type: "button", part: "button", onclick: retry }, t("shop.form.retry"));
      return [status, button];
    }
  }
  return [t("shop.form.done")];
}
