import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeInBrowser, type OpenOptions, takeScreenshot } from "../support/browser.ts";
import { aReview } from "../support/builders.ts";
import {
  checkElements,
  expectNoShift,
  observeShifts,
  overflowOf,
  type Prepare,
  showElements,
  tabTo,
} from "../support/element-checks.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { addQuestions, openStorefront, type ShopPage, type Storefront } from "../support/storefront.ts";

const rating = '<p><starpost-rating product="pot"></starpost-rating></p>';
const reviews = '<starpost-reviews product="pot" id="reviews"></starpost-reviews>';
const badge = "<p><starpost-badge></starpost-badge></p>";

/** Every element by its name, as a page has it. */
const everyElement = [
  ["rating", '<starpost-rating product="pot"></starpost-rating>'],
  ["badge", "<starpost-badge></starpost-badge>"],
  ["reviews", '<starpost-reviews product="pot"></starpost-reviews>'],
  ["review-form", '<starpost-review-form product="pot"></starpost-review-form>'],
  ["questions", '<starpost-questions product="pot"></starpost-questions>'],
  ["photos", '<starpost-photos product="pot"></starpost-photos>'],
  ["carousel", '<starpost-carousel product="pot"></starpost-carousel>'],
] as const;

describeInBrowser("storefront elements", (browser) => {
  let shop: Storefront;
  beforeAll(async () => {
    shop = await openStorefront();
    await addQuestions(shop, { sku: "pot", count: 3 });
    await shop.service.reviews.createNow(aReview({ sku: "service_site_reviews" }));
  });
  afterAll(() => shop.close());

  const open = async (content: string | ShopPage, options: OpenOptions = {}, prepare?: Prepare) => {
    const opened = await browser.open(undefined, { viewport: "desktop", ...options });
    await prepare?.(opened);
    await opened.page.goto(shop.showPage(content));
    return opened;
  };
  const isShown = (page: Page) => page.locator("article").first().waitFor();

  it.each(["en", "de", "ja", "ar"].map((lang, at) => [lang, at] as const))(
    "in %s are accessible in light, dark, and forced colors, and fit every window",
    async (lang, at) => {
      const few = reviews.replace("id=", 'per-page="7" id=');
      const { page, complaints } = await open({ lang, body: rating + badge + few });
      await isShown(page);
      expect(await page.locator("starpost-badge svg").count()).toBeGreaterThan(0);
      await page.locator(".histogram button").first().click();
      await page.locator(".histogram [aria-pressed=true]").waitFor();
      await checkElements(page, `reviews ${lang}`, at);
      expect(complaints).toEqual([]);
    },
  );

  it("filter, search, sort, and page by keyboard, and announce what is shown", async () => {
    const { page, complaints } = await open(reviews);
    await isShown(page);
    const titles = () => page.locator("article h3").allTextContents();
    const status = page.getByRole("status");
    const focused = () => page.evaluate(`document.activeElement.shadowRoot.activeElement.textContent`);
    const button = (name: string | RegExp) => page.getByRole("button", { name });
    const press = async (name: string) => {
      await tabTo(page, button(name));
      await page.keyboard.press("Enter");
    };
    await press("4 stars");
    await expect.poll(() => status.textContent()).toBe("1–10 of 10");
    expect(await button("4 stars").getAttribute("aria-pressed")).toBe("true");
    // The counts of the other stars stay, so that these can be selected instead.
    expect(await button("5 stars").textContent()).toBe("5 stars24");
    expect(await focused()).toBe("4 stars10");
    await page.keyboard.press("Space");
    await expect.poll(() => status.textContent()).toBe("1–10 of 49");
    await press("Verified buyers");
    await expect.poll(() => status.textContent()).toBe("1–10 of 15");
    await press("With photos");
    await expect.poll(() => status.textContent()).toBe("No reviews match these filters.");
    expect(await button("Previous").count()).toBe(0);
    await press("Clear filters");
    await expect.poll(() => status.textContent()).toBe("1–10 of 49");
    expect(await button("Clear filters").count()).toBe(0);
    expect(await page.evaluate("document.activeElement.shadowRoot.activeElement.type")).toBe("search");
    await page.keyboard.type("loose");
    await expect.poll(() => status.textContent()).toBe("1–10 of 15");
    await press("Clear filters");
    await tabTo(page, page.getByRole("combobox", { name: "Sort by" }));
    await page.keyboard.type("Old");
    await expect.poll(titles).toContain("Title 0");
    await press("Next");
    await expect.poll(titles).toEqual(Array.from({ length: 10 }, (_, at) => `Title ${at + 10}`));
    expect(await status.textContent()).toBe("11–20 of 49");
    expect(await page.evaluate("document.activeElement.shadowRoot.activeElement.className")).toBe("list");
    expect(complaints).toEqual([]);
  });

  it("count a vote once, and explain a refused one", async () => {
    const { page } = await open(reviews);
    await isShown(page);
    const review = page.locator("article").nth(2);
    const up = review.getByRole("button", { name: /^Helpful/ });
    const before = Number((await up.textContent())?.split(" · ")[1]);
    await tabTo(page, up);
    await page.keyboard.press("Enter");
    await expect.poll(() => up.textContent()).toBe(`Helpful · ${before + 1}`);
    expect(await page.getByRole("status").textContent()).toBe("Thank you for your vote.");
    await up.press("Enter");
    await review.getByRole("button", { name: /^Not helpful/ }).press("Enter");
    expect(await up.textContent()).toBe(`Helpful · ${before + 1}`);
    await page
      .context()
      .route("**/vote/*", (route) =>
        route.fulfill({ status: 429, headers: { ...corsHeaders, "retry-after": "90" }, body: "{}" }),
      );
    const other = page.locator("article").nth(3);
    await other.getByRole("button", { name: /^Not helpful/ }).press("Enter");
    await expect.poll(() => other.getByRole("alert").textContent()).toContain("2 minutes");
  });

  it("keep what is shown if a filter fails, and explain it", async () => {
    const { page } = await open(reviews);
    await isShown(page);
    await page
      .context()
      .route("**/reviews?*", (route) => route.fulfill({ status: 503, headers: corsHeaders, body: "{}" }));
    await page.getByRole("button", { name: "5 stars" }).click();
    await page.getByRole("alert").filter({ hasText: "did not work" }).waitFor();
    expect(await page.locator("article").count()).toBe(10);
    expect(await page.getByRole("button", { name: "5 stars" }).getAttribute("aria-pressed")).toBe("false");
    await page.context().unroute("**/reviews?*");
    await page.getByRole("button", { name: "5 stars" }).click();
    await page.getByRole("status").getByText("1–10 of 24").waitFor();
    expect(await page.getByRole("alert").filter({ hasText: "did not work" }).count()).toBe(0);
  });

  it("describe one Product with its rating, which may be the page's own", async () => {
    const described = (page: Page) =>
      page.evaluate(
        `[...document.querySelectorAll('script[data-starpost]')].map((script) => JSON.parse(script.textContent))`,
      );
    const aggregateRating = {
      "@type": "AggregateRating",
      ratingValue: 3.88,
      reviewCount: 49,
      bestRating: 5,
      worstRating: 1,
    };
    const element = '<starpost-reviews product="pot" json-ld></starpost-reviews>';
    const alone = await open(element + element);
    await expect
      .poll(() => described(alone.page))
      .toEqual([expect.objectContaining({ "@type": "Product", name: "A teapot", aggregateRating })]);
    expect(alone.complaints).toEqual([]);
    const own = JSON.stringify({ "@graph": [{ "@type": ["Product"], "@id": "#pot", name: "Pot" }] });
    const named = await open({ head: `<script type="application/ld+json">${own}</script>`, body: element });
    await expect
      .poll(() => described(named.page))
      .toEqual([{ "@context": "https://schema.org", "@type": "Product", "@id": "#pot", aggregateRating }]);
    const shopReviews = await open(
      '<starpost-reviews product="service_site_reviews" json-ld></starpost-reviews><starpost-reviews product="new" json-ld></starpost-reviews>',
    );
    await shopReviews.page.getByText("There are no reviews yet.").waitFor();
    await shopReviews.page.getByText("1–1 of 1").first().waitFor();
    expect(await described(shopReviews.page)).toEqual([]);
  });

  it("leave the nodes of the page as they are, for frameworks that hydrate them", async () => {
    const elements = everyElement.map(([, html]) => html.replace("></starpost", "><p>Server</p></starpost")).join("");
    const body = `<div id="app">${elements}</div>`;
    const { page } = await open(body);
    await showElements(page);
    await page.locator("starpost-review-form button").click();
    await page.locator("starpost-review-form form").waitFor();
    expect(await page.evaluate("document.querySelector('#app').innerHTML")).toBe(body.slice(14, -6));
    // React sets a property instead of an attribute if there is one.
    const names = ["product", "language", "per-page", "href", "json-ld", "reviews", "open", "product-name"];
    const shown = "[...document.querySelectorAll('#app > *')]";
    const inElements = `${JSON.stringify(names)}.filter((name) => ${shown}.some((element) => name in element))`;
    expect(await page.evaluate(inElements)).toEqual([]);
  });

  it("show the texts that the shop has replaced", async () => {
    await shop.service.messages.set({ language: "sv", key: "shop.reviews.search", text: "Leta '{här}'" });
    const { page } = await open({ lang: "sv-SE", body: reviews });
    await page.getByRole("searchbox", { name: "Leta {här}" }).waitFor();
  });

  it("follow their attributes, and the language of the page", async () => {
    const { page } = await open({
      body: '<div lang="fr"><starpost-reviews product="new"></starpost-reviews></div>',
      script: 'data-other="x"',
    });
    const set = (attributes: Readonly<Record<string, string>>) =>
      page.evaluate(`for (const [name, value] of Object.entries(${JSON.stringify(attributes)}))
        document.querySelector("starpost-reviews").setAttribute(name, value)`);
    await page.getByText("Aucun avis pour le moment.").waitFor();
    await set({ language: "zh-TW" });
    await page.getByText("There are no reviews yet.").waitFor();
    await set({ language: "pt", product: "pot", "per-page": "3" });
    await page.getByText("1–3 de 49").waitFor();
    expect(await page.locator("article").count()).toBe(3);
  });

  describe("while responses are late", () => {
    const late: Prepare = (opened) => observeShifts(opened, shop.url);
    const footer = "<footer><p>About the shop</p></footer>";

    it.each(["desktop", "phone"] as const)(
      "replace the server's HTML of every element without a shift: %s",
      async (viewport) => {
        const body = await Promise.all(
          everyElement.map(async ([name, html]) => {
            const product = name === "badge" ? "service_site_reviews" : "pot";
            const path = `/starpost/v1/shop/${shop.appKey}/products/${product}/elements/${name}`;
            const response = await fetch(shop.url + path);
            expect(response.status).toBe(200);
            return `<div>${html.replace("></starpost", `>${await response.text()}</starpost`)}</div>`;
          }),
        );
        const { page, complaints } = await open(body.join("\n") + footer, { viewport }, late);
        expect(await page.locator(".starpost-element").first().isVisible()).toBe(true);
        await page.locator("starpost-reviews .tools").waitFor();
        await showElements(page);
        await expectNoShift(page);
        const countReplaceable = async () => {
          await page.keyboard.press("Shift");
          return page.locator(".starpost-element:visible").count();
        };
        await expect.poll(countReplaceable).toBe(0);
        expect(await page.locator("starpost-questions .question").count()).toBe(3);
        await expectNoShift(page);
        expect(complaints).toEqual([]);
      },
    );

    it("keep the server's HTML that they would outgrow until a shopper clicks", async () => {
      await shop.service.reviews.createNow(aReview({ sku: "cup", review_title: "Small" }));
      const response = await fetch(`${shop.url}/starpost/v1/shop/${shop.appKey}/products/cup/elements/reviews`);
      const body = `<starpost-reviews product="cup">${await response.text()}</starpost-reviews>${footer}`;
      const { page } = await open(body, {}, late);
      await page.waitForLoadState("networkidle");
      expect(await page.getByText("Small").count()).toBe(1);
      expect(await page.locator(".starpost-element").isVisible()).toBe(true);
      await page.getByText("About the shop").click();
      await page.getByRole("searchbox").waitFor();
      expect(await page.locator(".starpost-element").isVisible()).toBe(false);
      await expectNoShift(page);
    });

    it("stay as they are if the page has reserved the space", async () => {
      const style = shop.addStyle(
        "starpost-rating { display: block; min-height: 1.5em; } starpost-reviews:not(:defined) { display: block; min-height: 100vh; }",
      );
      for (const product of ["pot", "new"]) {
        const content = `<starpost-rating product="${product}"></starpost-rating><p>A pot.</p><starpost-reviews product="${product}"></starpost-reviews>`;
        const { page } = await open({ head: style, body: content + footer }, {}, late);
        await page.getByRole("heading", { name: "Reviews" }).waitFor();
        await expectNoShift(page, product);
      }
    });
  });

  it("show what the page has placed inside them if the service fails, and nothing of an unknown product", async () => {
    const body = `<starpost-rating product="pot">3.9 of 5</starpost-rating>
      <starpost-reviews product="pot"><p>The first reviews</p></starpost-reviews>`;
    const requests = [
      "**/shop/*/settings",
      "**/shop/*/ratings*",
      "**/elements/en-*",
      "**/elements/*",
      "**/elements.js*",
    ];
    const stays = async (failing: string) => {
      const { page: failed } = await open(body, {}, ({ context }) => context.route(failing, (route) => route.abort()));
      await failed.waitForLoadState("networkidle");
      expect(await failed.getByText("3.9 of 5").isVisible(), failing).toBe(true);
    };
    await Promise.all(requests.map(stays));
    const failure: Prepare = ({ context }) =>
      context.route("**/reviews?*", (route) => route.fulfill({ status: 503, body: "{}" }));
    const { page } = await open(body, {}, failure);
    await page.getByText("(49)").waitFor();
    expect(await page.getByText("The first reviews").isVisible()).toBe(true);
    const unknown = await open(body.replaceAll('"pot"', '"unknown"'));
    await unknown.page.getByText("There are no reviews yet.").waitFor();
    expect(await unknown.page.getByText("3.9 of 5").isVisible()).toBe(false);
  });

  it("print what people have written without controls, and move nothing", async () => {
    const { page } = await open(everyElement.map(([, html]) => html).join("\n"));
    await showElements(page);
    await page.locator("starpost-review-form button").click();
    await page.locator("starpost-review-form form").waitFor();
    await page.emulateMedia({ media: "print", reducedMotion: "reduce" });
    await takeScreenshot(page, "elements-print");
    expect(
      await page.locator(":is(button:not(.histogram *), input, select, textarea):visible").allTextContents(),
    ).toEqual([]);
    expect(await page.getByText("Title 44").first().isVisible()).toBe(true);
    expect(await page.getByText("Question 0").isVisible()).toBe(true);
    expect(await page.locator("starpost-photos img").first().isVisible()).toBe(true);
    const right =
      "Math.max(...[...document.querySelector('starpost-carousel').shadowRoot.querySelectorAll('li')].map((card) => card.getBoundingClientRect().right)) - innerWidth";
    expect(await page.evaluate<number>(right)).toBeLessThanOrEqual(0);
    expect(await page.evaluate("document.getAnimations().length")).toBe(0);
  });

  it("are shown when they are added later, in every way that frameworks do", async () => {
    const { page, complaints } = await open('<div id="app"></div>');
    await page.evaluate(`for (const [name, product] of ${JSON.stringify(everyElement.map(([name]) => [name, "pot"]))}) {
      const element = document.createElement("starpost-" + name);
      document.querySelector("#app").append(element);
      element.setAttribute("product", product);
    }`);
    await showElements(page);
    for (const [name] of everyElement) {
      await page.locator(`starpost-${name} [part=content] > *`).first().waitFor();
    }
    // Moved, and removed and added again, as when a list is sorted.
    await page.evaluate(
      `for (const element of [...document.querySelectorAll("#app > *")].reverse()) document.querySelector("main").append(element)`,
    );
    expect(await page.locator("starpost-carousel li").count()).toBe(12);
    expect(complaints).toEqual([]);
  });

  it("set no cookie, store nothing, and send no request to third parties", async () => {
    const requested: string[] = [];
    const { page, context } = await open(rating + reviews, {}, ({ page: opened }) =>
      Promise.resolve(opened.on("request", (request) => requested.push(request.url()))),
    );
    await isShown(page);
    await page
      .getByRole("button", { name: /^Helpful/ })
      .first()
      .click();
    await page.getByRole("button", { name: "5 stars" }).click();
    await page.getByRole("status").getByText("1–10 of 24").waitFor();
    const own = [shop.url, new URL(page.url()).origin];
    expect(requested.length).toBeGreaterThan(8);
    expect(requested.filter((url) => !own.includes(new URL(url).origin))).toEqual([]);
    expect(await context.cookies([...own])).toEqual([]);
    const stored = `(async () => [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length, (await caches.keys()).length])()`;
    expect(await page.evaluate(stored)).toEqual([0, 0, 0, 0]);
  });

  it("read all ratings of a page with one request per 100 products, also those added later", async () => {
    const requested: string[] = [];
    const many = Array.from(
      { length: 120 },
      (_, at) => `<starpost-rating product="${at === 119 ? "pot" : `p${at}`}"></starpost-rating>`,
    );
    const { page } = await open(many.join(""), {}, ({ page: opened }) =>
      Promise.resolve(opened.on("request", (request) => requested.push(request.url()))),
    );
    const ratings = () =>
      requested.filter((url) => url.includes("/ratings?")).map((url) => new URL(url).searchParams.size);
    await page.getByText("(49)").waitFor();
    expect(ratings()).toEqual([100, 20]);
    await page.evaluate(`document.querySelector("main").append(Object.assign(document.createElement("starpost-reviews"), { id: "late" }));
      document.querySelector("#late").setAttribute("product", "pot");
      document.querySelector("starpost-rating").setAttribute("product", "pot")`);
    await isShown(page);
    await expect.poll(() => page.getByText("(49)").count()).toBe(2);
    expect(ratings()).toEqual([100, 20]);
  });

  it("show hostile texts as texts", async () => {
    for (const [at, text] of hostileTexts.entries()) {
      const {
        reviews: [created],
      } = await shop.service.reviews.createNow({
        ...aReview({ sku: "hostile", product_title: text, display_name: text, email: `h${at}@mail.example` }),
        review_title: text.slice(0, 150),
        review_content: text,
      });
      await shop.service.reviews.comment({ review_id: created?.id ?? 0, content: text });
    }
    const { page, complaints } = await open(
      '<starpost-rating product="hostile"></starpost-rating><starpost-reviews product="hostile" per-page="50" json-ld></starpost-reviews>',
    );
    await isShown(page);
    expect(await page.locator("article").count()).toBe(hostileTexts.length);
    const shown = await page.locator("article [part=text]").allTextContents();
    expect(shown.toSorted()).toEqual(hostileTexts.toSorted());
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });
});

const corsHeaders = { "access-control-allow-origin": "*", "access-control-expose-headers": "retry-after" };
