import type { Page } from "playwright-core";
import { takePhoto } from "./photos.ts";
import type { Shop, ShopTexts } from "./shop.ts";

/** Opens a page of a shop whose users enter `texts`. */
export type Visit = (shop: Shop, page: Page, texts?: ShopTexts) => Promise<unknown>;

/** Fills in the review form; texts are pasted, not typed. */
export async function fillReview(page: Page, { title, content, customer }: ShopTexts = {}): Promise<void> {
  await page.getByRole("radio", { name: "4 stars" }).check();
  await page.locator("#title").fill(title ?? "Pours well");
  await page.locator("#content").fill(content ?? "No drips.\nNone at all.");
  // A known name is folded.
  const folded = page.locator("details:not([open]) summary");
  if ((await folded.count()) > 0) await folded.click();
  await page.locator("#display_name").fill(customer ?? "Ann Tea");
}

const press = (page: Page) => page.getByRole("button").click();

/** Opens an address and presses the button there. */
function visitAndSubmit(address: (shop: Shop, texts?: ShopTexts) => Promise<string>): Visit {
  return async (shop, page, texts) => {
    await page.goto(await address(shop, texts));
    await press(page);
  };
}

const form: Visit = async (shop, page, texts) => page.goto(await shop.reviewAddress(texts));

/** Follows a link whose query has a name, which an ID follows, and ends as given. */
function followQuery(page: Page, query: string): Promise<void> {
  const [name = "", end = ""] = query.split("*");
  return page
    .locator(`a[href^="?${name}"]${end === "" ? ':not([href*="action"])' : `[href$="${end}"]`}`)
    .first()
    .click();
}

/** Follows a link of the page of what a person has written. */
const followOwn =
  (query: string): Visit =>
  async (shop, page, texts) => {
    await page.goto(await shop.myReviewsAddress(texts));
    await followQuery(page, query);
    await page.getByRole("button").waitFor();
  };

/** Opens a page on which anybody can write about a product. */
const formOf =
  (name: "write" | "ask"): Visit =>
  async (shop, page, texts) =>
    page.goto(`${await shop.reviewsAddress(texts)}/${name}`);

/** Writes a review, which leads to the page that adds photos. */
const write: Visit = async (shop, page, texts) => {
  await formOf("write")(shop, page, texts);
  await fillReview(page, texts);
  await page.locator("#email").fill("ann@mail.example");
  await press(page);
};

/** Adds a photo to the review on the page. */
export async function addPhoto(page: Page, buffer?: Buffer): Promise<void> {
  if (buffer) await page.locator("#image").setInputFiles({ name: "photo.jpg", mimeType: "image/jpeg", buffer });
  await page.locator("button").click();
}

const requestLink: Visit = (shop, page) => page.goto(`${shop.url}/starpost/v1/pages/${shop.appKey}/my_reviews`);

/** A visit to every page that the server renders, by name. */
export const pageVisits: Readonly<Record<string, Visit>> = {
  "review form": form,
  "review form with mistakes": async (shop, page, texts) => {
    await form(shop, page, texts);
    await page.locator("#title").fill((texts?.title ?? "").slice(0, 150));
    await page.locator("#content").fill(texts?.content ?? "");
    await press(page);
  },
  "review form of a test mail": async (shop, page) => page.goto(await shop.testReviewAddress()),
  "review done": async (shop, page, texts) => {
    await form(shop, page, texts);
    await fillReview(page, texts);
    await press(page);
  },
  "expired review link": (shop, page) => page.goto(`${shop.url}/starpost/v1/r/nothing`),
  "expired click link": (shop, page) => page.goto(`${shop.url}/starpost/v1/c/nothing`),
  "verify a review": async (shop, page, texts) => page.goto(await shop.verifyAddress(texts)),
  "review verified": visitAndSubmit((shop, texts) => shop.verifyAddress(texts)),
  "confirm a question": async (shop, page, texts) => page.goto(await shop.confirmAddress(texts)),
  "question confirmed": visitAndSubmit((shop, texts) => shop.confirmAddress(texts)),
  unsubscribe: async (shop, page) => page.goto(await shop.unsubscribeAddress()),
  unsubscribed: visitAndSubmit((shop) => shop.unsubscribeAddress()),
  "write a review": formOf("write"),
  "write a review, with mistakes": async (shop, page, texts) => {
    await formOf("write")(shop, page, texts);
    await press(page);
  },
  "write a review, done": write,
  "write a review, with a photo": async (shop, page, texts) => {
    await write(shop, page, texts);
    await addPhoto(page, await takePhoto());
  },
  "write a review, without a photo": async (shop, page, texts) => {
    await write(shop, page, texts);
    await addPhoto(page);
  },
  "ask a question": formOf("ask"),
  "ask a question, with mistakes": async (shop, page, texts) => {
    await formOf("ask")(shop, page, texts);
    await press(page);
  },
  "ask a question, done": async (shop, page, texts) => {
    await formOf("ask")(shop, page, texts);
    await page.locator("#content").fill(texts?.question ?? "Does it pour well?");
    await page.locator("#display_name").fill(texts?.customer ?? "Ann Tea");
    await page.locator("#email").fill("ann@mail.example");
    await press(page);
  },
  "my reviews": async (shop, page, texts) => page.goto(await shop.myReviewsAddress(texts)),
  "my reviews, edit a review": followOwn("review="),
  "my reviews, edit with mistakes": async (shop, page, texts) => {
    await followOwn("review=")(shop, page, texts);
    await page.locator("#title").fill(" ");
    await press(page);
  },
  "my reviews, edit a question": followOwn("question="),
  "my reviews, saved": async (shop, page, texts) => {
    await followOwn("review=")(shop, page, texts);
    await press(page);
  },
  "my reviews, delete a photo": followOwn("photo="),
  "my reviews, delete a review": followOwn("review=*action=delete"),
  "my reviews, delete a question": followOwn("question=*action=delete"),
  "my reviews, deleted": async (shop, page, texts) => {
    await followOwn("review=*action=delete")(shop, page, texts);
    await press(page);
    await followQuery(page, "question=*action=delete");
    await press(page);
  },
  "my reviews, request": requestLink,
  "my reviews, request with mistakes": async (shop, page) => {
    await requestLink(shop, page);
    await press(page);
  },
  "my reviews, requested": async (shop, page) => {
    await requestLink(shop, page);
    await page.locator("#email").fill("ann@mail.example");
    await press(page);
  },
  "signed in": async (shop, page) => page.goto(await shop.signInAddress()),
  "expired sign-in link": (shop, page) => page.goto(`${shop.url}/starpost/v1/admin/nothing`),
  "reviews of a product": async (shop, page, texts) => page.goto(await shop.reviewsAddress(texts)),
  "reviews of a store": (shop, page) => page.goto(`${shop.url}/starpost/v1/pages/${shop.appKey}/products`),
  "top reviews": async (shop, page, texts) => {
    // Newer reviews than those of other pages.
    await shop.reviewsAddress({ title: "At the top", ...texts });
    await page.goto(`${shop.url}/apps/${shop.appKey}/top_reviews.html`);
  },
};
