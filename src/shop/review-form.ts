import { PanelElement } from "./controls.ts";
import type { Child } from "./dom.ts";
import { type Config, type Context, define } from "./element.ts";
import { createFormButton, type OpenForm } from "./forms/form-button.ts";

/** A form to review a product, or the shop. */
class ReviewFormElement extends PanelElement<undefined> {
  readonly #drawButton = createFormButton();

  protected override load(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  protected override render(_data: undefined, context: Context): readonly Child[] {
    const open: OpenForm = async (draft) => {
      const [form, { drawReviewForm }] = await Promise.all([
        import("./forms/form.ts"),
        import("./forms/review-fields.ts"),
      ]);
      const { root, productId } = this;
      return drawReviewForm(
        form,
        { element: this, root, product: productId || "service_site_reviews", draft },
        context,
      );
    };
    return [this.#drawButton(context, context.t("shop.form.write"), open, this.hasAttribute("open"))];
  }
}

export const start = (config: Config): void => define(config, { "review-form": ReviewFormElement });
