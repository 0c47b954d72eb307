import type { Photo } from "../contract/storefront/storefront.ts";
import { h } from "./dom.ts";
import type { Context } from "./element.ts";

/** Small photos, each of which links to its largest size. */
export function drawPhotos(photos: readonly Photo[], { t }: Context): HTMLElement {
  const draw = (photo: Photo, at: number) => {
    const { sizes, width, height, color } = photo;
    const alt = t("shop.photos.position", { number: at + 1, total: photos.length });
    const image = h("img", { src: sizes["160"] ?? sizes["1200"], alt, width: width ?? 80, height: height ?? 80 });
    image.loading = "lazy";
    if (color !== null) image.style.background = color;
    return h("li", {}, h("a", { href: sizes["1200"], part: "photo" }, image));
  };
  return h("ul", { class: "photos", part: "photos" }, ...photos.map(draw));
}
