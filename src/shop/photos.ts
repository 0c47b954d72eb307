import type { StorefrontPhotos } from "../contract/storefront/storefront.ts";
import { PanelElement } from "./controls.ts";
import { type Child, h, sheet } from "./dom.ts";
import { type Config, type Context, define, read } from "./element.ts";
import { drawMore } from "./more.ts";
import type { ShownPhoto } from "./photo.ts";
import css from "./photos.css";
import { drawThumbnail } from "./thumbnails.ts";

const styles = sheet(css);

/** The photos of a product's reviews, each of which opens with its review. */
class PhotosElement extends PanelElement<StorefrontPhotos> {
  constructor() {
    super(styles);
  }

  protected override load(): Promise<StorefrontPhotos> {
    return this.#read(1);
  }

  #read(page: number): Promise<StorefrontPhotos> {
    const size = this.getAttribute("per-page") ?? "20";
    return read(`/products/${encodeURIComponent(this.productId)}/photos?per_page=${size}&page=${page}`);
  }

  protected override render(first: StorefrontPhotos, context: Context): readonly Child[] {
    const { t } = context;
    const { total } = first.pagination;
    const shown: ShownPhoto[] = [];
    const draw = (photos: readonly ShownPhoto[]) =>
      photos.map((photo) => h("li", { tabindex: -1 }, drawThumbnail(shown, shown.push(photo) - 1, total, context)));
    const list = h("ul", { class: "grid", part: "photos" }, ...draw(first.photos));
    const paging = { list, label: t("shop.photos.more"), total };
    return [
      h("h2", { part: "heading" }, t("shop.photos.label")),
      total === 0 && h("p", { class: "by" }, t("shop.photos.none")),
      list,
      drawMore({ ...paging, read: async (page) => draw((await this.#read(page)).photos) }, context),
    ];
  }
}

export const start = (config: Config): void => define(config, { photos: PhotosElement });
