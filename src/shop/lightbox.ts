import { adoptStyles, formatDate } from "./controls.ts";
import { drawStars, h, replace, sheet } from "./dom.ts";
import type { Context } from "./element.ts";
import css from "./lightbox.css";
import { drawPhoto, type ShownPhoto } from "./photo.ts";

const styles = sheet(css);

/** How far a finger must move to change the photo, in pixels. */
const swipe = 40;

/** Shows photos one at a time, with what their reviews say, in a dialog of the element. The browser returns the focus. */
export function openLightbox(root: ShadowRoot, photos: readonly ShownPhoto[], first: number, context: Context): void {
  const { t } = context;
  const { lang, dir } = root.firstElementChild as HTMLElement;
  let at = first;
  let startX = 0;
  const picture = h("div", { class: "picture", part: "picture" });
  const caption = h("div", { class: "caption", tabindex: 0, part: "caption", "aria-live": "polite" });
  const show = () => {
    const photo = photos[at];
    if (!photo) return;
    const { score, title, content, display_name, created_at } = photo.review;
    const position = t("shop.photos.position", { number: at + 1, total: photos.length });
    replace(picture, [drawPhoto(photo, position, "100vw")]);
    replace(caption, [
      h("p", { class: "by" }, position),
      drawStars(score, t("page.reviews.score", { score })),
      title.trim() !== "" && h("h3", { dir: "auto" }, title),
      h("p", { class: "text", dir: "auto" }, content),
      h("p", { class: "by" }, h("bdi", {}, display_name), display_name && " · ", formatDate(created_at, context)),
    ]);
  };
  /** @param by 1 for the next photo, -1 for the previous one */
  const move = (by: number) => {
    at = (at + by + photos.length) % photos.length;
    show();
  };
  const isRtl = dir === "rtl";
  const onkeydown = (event: Event) => {
    const { key } = event as KeyboardEvent;
    if (key === "ArrowRight" || key === "ArrowLeft") move((key === "ArrowRight") === isRtl ? -1 : 1);
  };
  const onpointerdown = (event: Event) => (startX = (event as PointerEvent).clientX);
  const onpointerup = (event: Event) => {
    const distance = (event as PointerEvent).clientX - startX;
    if (Math.abs(distance) > swipe) move(distance > 0 === isRtl ? 1 : -1);
  };
  const button = (name: "close" | "previous" | "next", onclick: () => void) =>
    h("button", { type: "button", class: name, part: "button", "aria-label": t(`shop.photos.${name}`), onclick });
  picture.addEventListener("pointerdown", onpointerdown);
  picture.addEventListener("pointerup", onpointerup);
  const several = photos.length > 1;
  const dialog = h(
    "dialog",
    { "aria-label": t("shop.photos.label"), part: "lightbox", onkeydown },
    button("close", () => dialog.close()),
    several && button("previous", () => move(-1)),
    several && button("next", () => move(1)),
    picture,
    caption,
  );
  dialog.lang = lang;
  dialog.dir = dir;
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  adoptStyles(root, styles);
  show();
  root.append(dialog);
  dialog.showModal();
}
