import { maxContentLength, maxTitleLength } from "../../contract/storefront/limits.ts";
import { adoptStyles, call } from "../controls.ts";
import { drawStars, h, replace, sheet } from "../dom.ts";
import type { Context } from "../element.ts";
import type { Field, Values } from "./form.ts";
import type { Draft } from "./form-button.ts";
import { drawPhotoField } from "./photo-field.ts";
import css from "./review-fields.css";

/** What all forms share. */
type FormModule = typeof import("./form.ts");

const styles = sheet(css);

interface ReviewForm {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
  readonly product: string;
  readonly draft: Draft;
}

/** From one to five stars. */
function starsField(describe: FormModule["describe"], { t }: Context): Field {
  const name = "review_score";
  const draw = (score: number) => {
    const input = h("input", { type: "radio", name, value: score, class: "unseen", required: true });
    const star = drawStars(1);
    star.setAttribute("viewBox", "0 0 24 24");
    return h("label", {}, input, star, h("span", { class: "unseen" }, t("page.form.stars", { count: score })));
  };
  const choices = h("div", { class: "choice" }, ...[1, 2, 3, 4, 5].map(draw));
  const node = h("fieldset", { class: "field", role: "radiogroup", "aria-required": "true" });
  const { parts, showProblem } = describe(node, name, t("page.form.rating_hint"));
  replace(node, [h("legend", {}, t("page.form.rating")), ...parts, choices]);
  choices.addEventListener("change", () => showProblem());
  const findProblem = () => (choices.querySelector(":checked") ? undefined : t("page.problem.score"));
  return { name, node, control: choices.querySelector("input") ?? node, findProblem, showProblem };
}

export function drawReviewForm(
  { describe, drawForm, personFields, productFields, textField }: FormModule,
  { element, product, ...form }: ReviewForm,
  context: Context,
): HTMLFormElement {
  adoptStyles(form.root, styles);
  const { t, shop } = context;
  const { draft } = form;
  const text = { name: "review_content", label: t("page.form.review"), hint: t("page.form.review_hint") };
  const fields = [
    starsField(describe, context),
    textField(context, { name: "review_title", label: t("page.form.title"), maxlength: maxTitleLength }),
    textField(context, { ...text, maxlength: maxContentLength, rows: 6 }),
    ...(shop.features.photos ? [drawPhotoField(describe, draft, context)] : []),
    ...personFields(context),
  ];
  const send = async (values: Values, report: (text: string) => void) => {
    const photos = await Promise.all(draft.photos.values());
    const written = { ...values, review_score: Number(values["review_score"]) };
    const review = { ...productFields(element, product, context), ...written };
    const { image_upload_token } = await call<{ image_upload_token: string }>(context, "/v1/widget/reviews", review);
    const images = photos.flatMap((photo) => photo ?? []);
    if (images.length === 0) return [t("shop.form.done")];
    const { sendPhotos } = await import("./form-photos.ts");
    return sendPhotos(image_upload_token, images, context, report);
  };
  return drawForm(context, { ...form, label: t("shop.form.write"), fields, send });
}
