import type { Bundle, Config } from "./element.ts";

/** If a request fails, the page stays as it is. */
const ignore = () => {};

const loadRating = () => import("./rating.ts");

/** Loads what elements share at the same time as each of them. */
function withControls(bundle: Promise<Bundle>, ...others: readonly Promise<unknown>[]): Promise<Bundle> {
  for (const other of [import("./controls.js"), ...others]) other.catch(ignore);
  return bundle;
}

/** The elements, by their names without `starpost-`. */
const bundles: Readonly<Record<string, () => Promise<Bundle>>> = {
  rating: loadRating,
  badge: loadRating,
  reviews: () =>
    withControls(import("./reviews.ts"), import("./votes.js"), import("./thumbnails.js"), import("./photo.js")),
  "review-form": () => withControls(import("./review-form.ts")),
  questions: () => withControls(import("./questions.ts")),
  photos: () => withControls(import("./photos.ts")),
  carousel: () => withControls(import("./carousel.ts")),
};

/** Loaded at once; the others when they are visible, or soon will be. */
const isUrgent = /-(?:rating|badge|reviews)$/i;

const url = new URL(import.meta.url);
const service = url.href.replace(/\/starpost\/v1\/elements[./][^]*/, "");
const appKey = url.searchParams.get("app_key") ?? "";
const shop = `${service}/starpost/v1/shop/${encodeURIComponent(appKey)}`;
const config: Config = {
  service,
  appKey,
  shop,
  script: [...document.scripts].find(({ src }) => src === url.href),
  settings: fetch(`${shop}/settings`),
};

config.settings.catch(ignore);
// All elements need this file, so it is requested at the same time as theirs.
import("./element.js").catch(ignore);

function load({ localName }: Element): void {
  bundles[localName.slice("starpost-".length)]?.()
    .then(({ start }) => start(config))
    .catch(ignore);
}

const visible = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) load(target);
  },
  { rootMargin: "300px" },
);

const selector = Object.keys(bundles).map((name) => `starpost-${name}:not(:defined)`);

function find(): void {
  for (const element of document.querySelectorAll(selector.join())) {
    if (isUrgent.test(element.localName)) load(element);
    else visible.observe(element);
  }
}

new MutationObserver(find).observe(document, { childList: true, subtree: true });
find();
