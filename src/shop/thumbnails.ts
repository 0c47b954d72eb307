import { h } from "./dom.ts";
import type { Context } from "./element.ts";
import { drawPhoto, type ShownPhoto } from "./photo.ts";

/**
 * A small photo that opens in the lightbox, and without it, as an image.
 * @param photos those of the lightbox
 * @param total how many they will be
 */
export function drawThumbnail(photos: readonly ShownPhoto[], at: number, total: number, context: Context): HTMLElement {
  const photo = photos[at] as ShownPhoto;
  const href = photo.sizes["1200"];
  const onclick = (event: Event) => {
    const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    if (ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    const root = link.getRootNode() as ShadowRoot;
    void import("./lightbox.ts").then(
      ({ openLightbox }) => openLightbox(root, photos, at, context),
      () => location.assign(href),
    );
  };
  const alt = context.t("shop.photos.position", { number: at + 1, total });
  const link = h("a", { href, part: "photo", onclick }, drawPhoto(photo, alt, "10em"));
  return link;
}

/** A row of small photos. */
export function drawPhotos(photos: readonly ShownPhoto[], context: Context): HTMLElement {
  const draw = (_photo: ShownPhoto, at: number) => h("li", {}, drawThumbnail(photos, at, photos.length, context));
  return h("ul", { class: "photos", part: "photos" }, ...photos.map(draw));
}
