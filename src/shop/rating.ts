import { maxRatedProducts } from "../contract/storefront/limits.ts";
import { type Child, drawStars, h, sheet } from "./dom.ts";
import { type Config, type Context, define, read, StarpostElement } from "./element.ts";
import css from "./rating.css";

interface Rating {
  readonly product_id: string;
  readonly average_score: number;
  readonly total_reviews: number;
}

const ratings = new Map<string, Promise<Rating | undefined>>();
let waiting: string[] = [];
let requested: Promise<readonly (readonly Rating[])[]> | undefined;

/** Reads all ratings that are asked for at the same time with one request. */
function readRating(product: string): Promise<Rating | undefined> {
  const known = ratings.get(product);
  if (known) return known;
  waiting.push(product);
  requested ??= Promise.resolve().then(() => {
    const products = waiting;
    [waiting, requested] = [[], undefined];
    const parts: Promise<readonly Rating[]>[] = [];
    for (let at = 0; at < products.length; at += maxRatedProducts) {
      const query = new URLSearchParams(products.slice(at, at + maxRatedProducts).map((id) => ["product_ids[]", id]));
      parts.push(read<{ ratings: readonly Rating[] }>(`/ratings?${query.toString()}`).then((found) => found.ratings));
    }
    return Promise.all(parts);
  });
  const found = requested.then((parts) => parts.flat().find(({ product_id }) => product_id === product));
  ratings.set(product, found);
  // Another element may try again.
  found.catch(() => ratings.delete(product));
  return found;
}

const styles = sheet(css);

class RatingElement extends StarpostElement<Rating | undefined> {
  constructor() {
    super(styles);
  }

  protected override load(): Promise<Rating | undefined> {
    return readRating(this.productId);
  }

  protected override render(rating: Rating | undefined, { t, language }: Context): readonly Child[] {
    if (!rating?.total_reviews) return [];
    const { average_score: score, total_reviews: count } = rating;
    const shown = `${score.toLocaleString(language)} (${count.toLocaleString(language)})`;
    const parts = [
      drawStars(score, t("page.reviews.score", { score })),
      " ",
      h("span", { class: "count", part: "count", "aria-hidden": "true" }, shown),
      h("span", { class: "unseen" }, t("shop.reviews.count", { count })),
    ];
    const target = this.getAttribute("href");
    if (target !== null) return [h("a", { href: target, part: "link" }, ...parts)];
    const reviews = document.querySelector<HTMLElement>("starpost-reviews");
    if (!reviews) return parts;
    const onclick = (event: Event) => {
      event.preventDefault();
      reviews.scrollIntoView();
      reviews.tabIndex = -1;
      reviews.focus();
    };
    return [h("a", { href: `#${reviews.id}`, part: "link", onclick }, ...parts)];
  }
}

/** The rating of the shop. */
class BadgeElement extends RatingElement {
  protected override get productId(): string {
    return "service_site_reviews";
  }
}

export const start = (config: Config): void => define(config, { rating: RatingElement, badge: BadgeElement });
