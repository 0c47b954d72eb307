import { adoptStyles, call, explain } from "../controls.ts";
import { type Child, h, replace, sheet } from "../dom.ts";
import type { Context } from "../element.ts";
import css from "./form-photos.css";
import { shrinkPhoto } from "./shrink-photo.ts";

const styles = sheet(css);

interface PhotoPlace {
  readonly photos: Map<File, unknown>;
  readonly input: HTMLInputElement;
  /** The previews are before it. */
  readonly choose: HTMLElement;
  readonly showProblem: (text?: string) => void;
}

/**
 * Adds the preview of a photo, a canvas: no policy refuses it.
 * @returns the photo in Base64; undefined if the shopper removes it before it has been read
 * @throws if it cannot be read
 */
export async function addPhoto(
  file: File,
  { photos, input, choose, showProblem }: PhotoPlace,
  { t }: Context,
): Promise<string | undefined> {
  adoptStyles(input.getRootNode() as ShadowRoot, styles);
  const before = choose.previousElementSibling;
  const list = before?.className === "previews" ? before : h("ul", { class: "previews" });
  choose.before(list);
  const nameButtons = () => {
    for (const [at, button] of list.querySelectorAll("button").entries()) {
      button.ariaLabel = t("shop.form.remove", { number: at + 1 });
    }
  };
  const remove = () => {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    photos.delete(file);
    item.remove();
    showProblem();
    nameButtons();
    (next?.querySelector("button") ?? input).focus();
  };
  const item = h("li", {}, h("button", { type: "button", part: "button", onclick: remove }, "×"));
  list.append(item);
  nameButtons();
  try {
    const { data, preview } = await shrinkPhoto(file);
    item.prepend(preview);
    return data;
  } catch (error) {
    if (!photos.has(file)) return undefined;
    remove();
    throw error;
  }
}

/** Adds the photos to the review. If that fails, the shopper can try again with the rest. @returns what the shopper reads then */
export async function sendPhotos(
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
