import { carouselSize, maxChosenReviews } from "../contract/storefront/limits.ts";
import type { StorefrontReview, StorefrontReviews } from "../contract/storefront/storefront.ts";
import { PanelElement } from "./controls.ts";
import { type Child, drawStars, h, sheet } from "./dom.ts";
import { type Config, type Context, define, read } from "./element.ts";
import css from "./carousel.css";

const styles = sheet(css);

/** Chosen reviews, or the best ones, side by side. They move only when the shopper moves them. */
class CarouselElement extends PanelElement<readonly StorefrontReview[]> {
  constructor() {
    super(styles);
  }

  protected override async load(): Promise<readonly StorefrontReview[]> {
    const chosen = this.getAttribute("reviews")?.match(/\d+/g)?.slice(0, maxChosenReviews);
    const query = new URLSearchParams(chosen?.map((id) => ["review_ids[]", id]));
    query.set("per_page", String(chosen?.length ?? carouselSize));
    if (!chosen) query.set("sort", "highest");
    const product = this.productId && `/products/${encodeURIComponent(this.productId)}`;
    return (await read<StorefrontReviews>(`${product}/reviews?${query.toString()}`)).reviews;
  }

  protected override render(reviews: readonly StorefrontReview[], context: Context): readonly Child[] {
    if (reviews.length === 0) return [];
    const { t } = context;
    const list = h("ul", { class: "cards", tabindex: 0, "aria-label": t("shop.carousel.label"), part: "cards" });
    list.append(...reviews.map((review) => drawCard(review, context)));
    const move = (by: number) => {
      const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
      const toRight = getComputedStyle(list).direction === "rtl" ? -by : by;
      list.scrollBy({ left: toRight * list.clientWidth * 0.9, behavior });
    };
    const button = (name: "previous" | "next", by: number) =>
      h("button", {
        type: "button",
        class: name,
        part: "button",
        "aria-label": t(`shop.carousel.${name}`),
        onclick: () => move(by),
      });
    const buttons = [button("previous", -1), button("next", 1)] as const;
    // At an end, a button has no effect; it keeps the focus.
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (target === list.firstElementChild) buttons[0].ariaDisabled = isIntersecting ? "true" : null;
          if (target === list.lastElementChild) buttons[1].ariaDisabled = isIntersecting ? "true" : null;
        }
      },
      { root: list, threshold: 0.95 },
    );
    for (const end of [list.firstElementChild, list.lastElementChild]) if (end) observer.observe(end);
    return [h("div", { class: "moves" }, ...buttons), list];
  }
}

function drawCard(
  { score, title, content, display_name, verified_buyer, product }: StorefrontReview,
  context: Context,
): HTMLElement {
  const { t } = context;
  const text = h("p", { class: "text", dir: "auto", part: "text" }, content);
  const expand = () => {
    text.classList.toggle("all");
    more.ariaExpanded = String(text.classList.contains("all"));
  };
  const more = h(
    "button",
    { type: "button", class: "link", "aria-expanded": "false", onclick: expand },
    t("shop.carousel.more"),
  );
  more.hidden = true;
  // Whether the text is cut off is known when it is shown.
  new ResizeObserver(() => {
    if (more.ariaExpanded === "false") more.hidden = text.scrollHeight <= text.clientHeight + 1;
  }).observe(text);
  return h(
    "li",
    { class: "note", part: "card" },
    drawStars(score, t("page.reviews.score", { score })),
    title.trim() !== "" && h("h3", { dir: "auto" }, title),
    text,
    more,
    h(
      "p",
      { class: "by", part: "author" },
      h("bdi", {}, display_name),
      verified_buyer && ` ✓ ${t("page.reviews.verified_buyer")}`,
    ),
    product && h("a", { href: product.url, dir: "auto", part: "link" }, product.name),
  );
}

export const start = (config: Config): void => define(config, { carousel: CarouselElement });
