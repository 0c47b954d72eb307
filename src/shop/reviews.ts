import { maxSearchLength } from "../contract/storefront/limits.ts";
import type { StorefrontPhotos, StorefrontReview, StorefrontReviews } from "../contract/storefront/storefront.ts";
import { type Child, drawStars, h, replace, sheet } from "./dom.ts";
import { explain, formatDate, PanelElement } from "./controls.ts";
import { type Config, type Context, define, read } from "./element.ts";
import { describeProduct } from "./json-ld.ts";
import type { ShownPhoto } from "./photo.ts";
import css from "./reviews.css";
import { drawPhotos } from "./thumbnails.ts";
import { drawVotes } from "./votes.ts";

interface Filter {
  page: number;
  sort: string;
  stars: number | undefined;
  with_photos: boolean;
  verified: boolean;
  search: string;
}

const noFilter: Filter = { page: 1, sort: "newest", stars: undefined, with_photos: false, verified: false, search: "" };

const sorts = ["newest", "most_helpful", "highest", "lowest", "oldest"] as const;

/** How long a shopper must not have typed before the search begins. */
const searchAfterMs = 400;

interface Data {
  readonly first: StorefrontReviews;
  readonly photos: StorefrontPhotos["photos"];
}

const styles = sheet(css);

class ReviewsElement extends PanelElement<Data> {
  #filter = { ...noFilter };
  /** Counts requests, so that a late response of an earlier one is ignored. */
  #requests = 0;

  constructor() {
    super(styles);
  }

  protected override async load(): Promise<Data> {
    this.#filter = { ...noFilter };
    const [first, photos] = await Promise.all([
      this.#read(),
      // The reviews are more important than their photos.
      read<StorefrontPhotos>(`${this.#path}/photos?per_page=12`).then(
        (found) => found.photos,
        () => [],
      ),
    ]);
    return { first, photos };
  }

  protected override render({ first, photos }: Data, context: Context): readonly Child[] {
    const { t } = context;
    const { rating, product } = first;
    if (this.hasAttribute("json-ld") && product) describeProduct(product, rating, context.script);
    const heading = h("h2", { part: "heading" }, t("page.reviews.heading"));
    if (rating.total_reviews === 0) return [heading, h("p", {}, t("page.reviews.none"))];
    const { average_score: score, total_reviews: count } = rating;
    const list = new ReviewList(
      context,
      (next) => void this.#filterBy(next, list, context),
      (text) => this.announce(text),
    );
    list.show(first, this.#filter);
    const average = h(
      "p",
      { class: "average", part: "average" },
      h("strong", { "aria-hidden": "true" }, score.toLocaleString(context.language)),
      h("span", {}, drawStars(score, t("page.reviews.score", { score })), h("br"), t("shop.reviews.count", { count })),
    );
    return [
      heading,
      h("div", { class: "head" }, average, list.histogram),
      photos.length > 0 && drawPhotos(photos, context),
      list.tools,
      list.problem,
      list.list,
      list.pages,
    ];
  }

  get #path(): string {
    return `/products/${encodeURIComponent(this.productId)}`;
  }

  #read(): Promise<StorefrontReviews> {
    const { stars, ...rest } = this.#filter;
    const query = new URLSearchParams({ per_page: this.getAttribute("per-page") ?? "10" });
    for (const [name, value] of Object.entries(rest)) {
      if (value !== noFilter[name as keyof Filter]) query.set(name, String(value));
    }
    if (stars !== undefined) query.set("stars[]", String(stars));
    return read(`${this.#path}/reviews?${query.toString()}`);
  }

  async #filterBy(next: Partial<Filter>, list: ReviewList, context: Context): Promise<void> {
    const before = this.#filter;
    // Every other change begins with the first page.
    this.#filter = { ...before, page: 1, ...next };
    this.#requests += 1;
    const request = this.#requests;
    list.list.setAttribute("aria-busy", "true");
    try {
      const found = await this.#read();
      if (request !== this.#requests) return;
      list.problem.textContent = "";
      list.show(found, this.#filter);
      if (next.page !== undefined) {
        list.list.focus({ preventScroll: true });
        list.list.scrollIntoView();
      }
      this.announce(list.status || context.t("shop.reviews.no_match"));
    } catch (error) {
      if (request !== this.#requests) return;
      this.#filter = before;
      list.problem.textContent = explain(error, context);
    } finally {
      list.list.removeAttribute("aria-busy");
    }
  }
}

/** The reviews of a page, and what changes with them. The controls stay the same, so that they keep the focus. */
class ReviewList {
  readonly #context: Context;
  readonly #onFilter: (next: Partial<Filter>) => void;
  readonly #announce: (text: string) => void;
  readonly histogram = h("div", { class: "histogram", part: "histogram" });
  readonly tools: HTMLElement;
  readonly problem = h("p", { class: "problem", role: "alert" });
  readonly list = h("div", { class: "list", tabindex: -1 });
  readonly pages = h("nav", { class: "pages", part: "paging" });
  status = "";
  readonly #bars = new Map<number, { button: HTMLButtonElement; bar: HTMLProgressElement; count: HTMLElement }>();
  readonly #toggles: readonly { readonly name: "with_photos" | "verified"; readonly button: HTMLButtonElement }[];
  readonly #clear: HTMLButtonElement;
  readonly #search: HTMLInputElement;

  constructor(context: Context, onFilter: (next: Partial<Filter>) => void, announce: (text: string) => void) {
    this.#context = context;
    this.#onFilter = onFilter;
    this.#announce = announce;
    const { t } = context;
    this.#drawHistogram();
    this.pages.setAttribute("aria-label", t("shop.reviews.pages"));
    const toggle = (name: "with_photos" | "verified", text: string) => {
      const onclick = (): void => onFilter({ [name]: button.ariaPressed !== "true" });
      const button = h("button", { type: "button", part: "button", onclick }, text);
      return { name, button };
    };
    this.#toggles = [
      toggle("with_photos", t("shop.reviews.with_photos")),
      toggle("verified", t("shop.reviews.verified")),
    ];
    this.#search = this.#drawSearch();
    const clear = () => {
      this.#search.value = "";
      this.#search.focus();
      onFilter({ stars: undefined, with_photos: false, verified: false, search: "" });
    };
    this.#clear = h("button", { type: "button", part: "button", onclick: clear }, t("shop.reviews.clear"));
    const onchange = (): void => onFilter({ sort: select.value });
    const options = sorts.map((sort) => h("option", { value: sort }, t(`shop.reviews.sort.${sort}`)));
    const select = h("select", { part: "input", onchange }, ...options);
    this.tools = h(
      "div",
      { class: "tools", part: "filters" },
      h("label", {}, h("span", {}, t("shop.reviews.search")), this.#search),
      h("label", {}, h("span", {}, t("shop.reviews.sort")), select),
      ...this.#toggles.map(({ button }) => button),
      this.#clear,
    );
  }

  #drawSearch(): HTMLInputElement {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const search = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#onFilter({ search: input.value.trim() }), searchAfterMs);
    };
    const input = h("input", { type: "search", part: "input", maxlength: maxSearchLength, oninput: search });
    return input;
  }

  #drawHistogram(): void {
    const { t } = this.#context;
    for (const stars of [5, 4, 3, 2, 1]) {
      const bar = h("progress", { "aria-hidden": "true" });
      const count = h("span", { class: "count" });
      const onclick = (): void => this.#onFilter({ stars: button.ariaPressed === "true" ? undefined : stars });
      const label = h("span", {}, t("page.form.stars", { count: stars }));
      const button = h("button", { type: "button", onclick }, label, bar, count);
      this.#bars.set(stars, { button, bar, count });
      this.histogram.append(button);
    }
  }

  show(found: StorefrontReviews, filter: Filter): void {
    const { t, language } = this.#context;
    const { star_distribution: counts } = found.matching;
    const most = Math.max(1, ...Object.values(counts));
    for (const [stars, { button, bar, count }] of this.#bars) {
      const reviews = counts[stars as keyof typeof counts];
      bar.max = most;
      bar.value = reviews;
      count.textContent = reviews.toLocaleString(language);
      button.ariaPressed = String(filter.stars === stars);
    }
    for (const { name, button } of this.#toggles) button.ariaPressed = String(filter[name]);
    const { page, stars, with_photos, verified, search } = filter;
    this.#clear.hidden = !(stars || with_photos || verified || search);
    const { per_page, total } = found.pagination;
    const from = (found.pagination.page - 1) * per_page + 1;
    const to = from + found.reviews.length - 1;
    this.status = total === 0 ? "" : t("shop.reviews.shown", { from, to, count: total });
    const none = h("p", {}, t("shop.reviews.no_match"));
    replace(this.list, total === 0 ? [none] : found.reviews.map((review) => this.#drawReview(review)));
    this.#showPages(page, Math.ceil(total / per_page));
  }

  #showPages(page: number, pages: number): void {
    const { t } = this.#context;
    const button = (text: string, target: number) =>
      h(
        "button",
        {
          type: "button",
          part: "button",
          disabled: target < 1 || target > pages,
          onclick: () => this.#onFilter({ page: target }),
        },
        text,
      );
    replace(this.pages, [
      pages > 1 && button(t("shop.reviews.previous"), page - 1),
      h("span", { class: "by" }, this.status),
      pages > 1 && button(t("shop.reviews.next"), page + 1),
    ]);
  }

  #drawReview(review: StorefrontReview): HTMLElement {
    const { t } = this.#context;
    const { title, content, display_name, created_at, comment, photos, score } = review;
    return h(
      "article",
      { class: "review", part: "review" },
      drawStars(score, t("page.reviews.score", { score })),
      title.trim() !== "" && h("h3", { part: "title", dir: "auto" }, title),
      h("p", { class: "text", part: "text", dir: "auto" }, content),
      photos.length > 0 && drawPhotos(withReview(photos, review), this.#context),
      h(
        "p",
        { class: "by", part: "author" },
        h("bdi", {}, display_name),
        ...(review.verified_buyer
          ? [" ", h("span", { class: "badge", part: "verified" }, `✓ ${t("page.reviews.verified_buyer")}`)]
          : [review.anonymous && ` · ${t("page.reviews.not_verified")}`]),
        display_name !== "" && " · ",
        h("time", { datetime: created_at }, formatDate(created_at, this.#context)),
      ),
      review.received_coupon && h("p", { class: "by" }, t("page.reviews.coupon")),
      comment &&
        h(
          "p",
          { class: "text note", part: "reply", dir: "auto" },
          h("strong", {}, t("page.reviews.reply")),
          " ",
          h("bdi", {}, comment.content),
        ),
      drawVotes(`/reviews/${review.id}`, review, this.#context, this.#announce),
    );
  }
}

function withReview(photos: StorefrontReview["photos"], review: StorefrontReview): readonly ShownPhoto[] {
  return photos.map((photo) => Object.assign(photo, { review }));
}

export const start = (config: Config): void => define(config, { reviews: ReviewsElement });
