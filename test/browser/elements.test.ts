import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeInBrowser, findWcagIssues, type OpenOptions, takeScreenshot } from "../support/browser.ts";
import { aReview } from "../support/builders.ts";
import {
  findSmallTargets,
  expectNoShift,
  observeShifts,
  overflowOf,
  type Prepare,
  shopModes,
  shopWindows,
} from "../support/element-checks.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { openStorefront, type ShopPage, type Storefront } from "../support/storefront.ts";

const rating = '<p><starpost-rating product="pot"></starpost-rating></p>';
const reviews = '<starpost-reviews product="pot" id="reviews"></starpost-reviews>';

describeInBrowser("storefront elements", (browser) => {
  let shop: Storefront;
  beforeAll(async () => {
    shop = await openStorefront();
  });
  afterAll(() => shop.close());

  const open = async (content: string | ShopPage, options: OpenOptions = {}, prepare?: Prepare) => {
    const opened = await browser.open(undefined, { viewport: "desktop", ...options });
    await prepare?.(opened);
    await opened.page.goto(shop.showPage(content));
    return opened;
  };
  const isShown = (page: Page) => page.locator("article").first().waitFor();

  describe.each(["en", "de", "ja", "ar"])("in %s", (lang) => {
    it("are accessible in light, dark, and forced colors, and fit every window", async () => {
      const badge = "<p><starpost-badge></starpost-badge></p>";
      const few = reviews.replace("id=", 'per-page="7" id=');
      const { page, complaints } = await open({ lang, body: rating + badge + few });
      await isShown(page);
      for (const size of shopWindows) {
        await page.setViewportSize(size);
        for (const mode of shopModes) {
          await page.emulateMedia(mode);
          const isFirst = mode === shopModes[0];
          const name = `${lang} ${size.width} ${mode.colorScheme} ${mode.forcedColors}`;
          if (lang !== "de") await takeScreenshot(page, `elements-${name.replaceAll(" ", "-")}`);
          expect(await findWcagIssues(page, isFirst ? undefined : ["color-contrast"]), name).toEqual([]);
        }
        expect(await overflowOf(page), `${lang} ${size.width}`).toBeLessThanOrEqual(0);
        expect(await findSmallTargets(page), `${lang} ${size.width}`).toEqual([]);
      }
      expect(complaints).toEqual([]);
    });
  });

  it("filter, search, sort, and page by keyboard, and announce what is shown", async () => {
    const { page, complaints } = await open(reviews);
    await isShown(page);
    const titles = () => page.locator("article h3").allTextContents();
    const status = page.getByRole("status");
    const focused = () => page.evaluate(`document.activeElement.shadowRoot.activeElement.textContent`);
    const button = (name: string | RegExp) => page.getByRole("button", { name });
    await button("4 stars").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => status.textContent()).toBe("1–10 of 10");
    expect(await button("4 stars").getAttribute("aria-pressed")).toBe("true");
    // The counts of the other stars stay, so that these can be selected instead.
    expect(await button("5 stars").textContent()).toBe("5 stars24");
    expect(await focused()).toBe("4 stars10");
    await page.keyboard.press("Space");
    await expect.poll(() => status.textContent()).toBe("1–10 of 49");
    await button("Verified buyers").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => status.textContent()).toBe("1–10 of 15");
    await button("With photos").press("Enter");
    await expect.poll(() => status.textContent()).toBe("No reviews match these filters.");
    expect(await button("Previous").count()).toBe(0);
    await button("Clear filters").press("Enter");
    await expect.poll(() => status.textContent()).toBe("1–10 of 49");
    expect(await button("Clear filters").count()).toBe(0);
    expect(await page.evaluate("document.activeElement.shadowRoot.activeElement.type")).toBe("search");
    await page.keyboard.type("loose");
    await expect.poll(() => status.textContent()).toBe("1–10 of 15");
    await button("Clear filters").press("Enter");
    await page.getByRole("combobox", { name: "Sort by" }).selectOption("Oldest");
    await expect.poll(titles).toContain("Title 0");
    await button("Next").press("Enter");
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
    await up.press("Enter");
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
    await expect.poll(() => shopReviews.page.getByText("There are no reviews yet.").count()).toBe(2);
    expect(await described(shopReviews.page)).toEqual([]);
  });

  it("leave the nodes of the page as they are, for frameworks that hydrate them", async () => {
    const body = `<div id="app">${rating}<starpost-reviews product="pot"><p>Server</p></starpost-reviews></div>`;
    const { page } = await open(body);
    await isShown(page);
    expect(await page.evaluate("document.querySelector('#app').innerHTML")).toBe(body.slice(14, -6));
    // React sets a property instead of an attribute if there is one.
    const names = ["product", "language", "per-page", "href", "json-ld", "reviews", "open", "product-name"];
    const elements = "[...document.querySelectorAll('starpost-rating, starpost-reviews')]";
    const inElements = `${JSON.stringify(names)}.filter((name) => ${elements}.some((element) => name in element))`;
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

    it.each(["desktop", "phone"] as const)("replace the nodes of the page without a shift: %s", async (viewport) => {
      const inside = (html: string) => `<article><h3>A review</h3><p>${html}</p></article>`.repeat(8);
      const body = `<p><starpost-rating product="pot">3.9 of 5</starpost-rating></p><p>A pot.</p>
        <starpost-reviews product="pot"><h2>Reviews</h2>${inside("It pours.")}</starpost-reviews>${footer}`;
      const { page } = await open(body, { viewport }, late);
      expect(await page.getByText("A review").first().isVisible()).toBe(true);
      await page.getByText("Title 44").waitFor();
      expect(await page.getByText("A review").first().isVisible()).toBe(false);
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

  it("paint the reviews within 2 seconds on a slow connection and device, and never block a fast one", async () => {
    const body = `${rating}${reviews}`;
    const whenPainted = async ({ page }: { readonly page: Page }) => {
      await isShown(page);
      return await page.evaluate<number>(
        "new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())))",
      );
    };
    const openSlowly = () =>
      open(body, { viewport: "phone" }, async ({ page, context }) => {
        const session = await context.newCDPSession(page);
        const bytesPerSecond = 1_600_000 / 8;
        await session.send("Network.emulateNetworkConditions", {
          offline: false,
          latency: 150,
          downloadThroughput: bytesPerSecond,
          uploadThroughput: bytesPerSecond,
        });
        await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
      });
    const observeTasks: Prepare = ({ context }) =>
      context.addInitScript(`globalThis.longest = 0; new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
      }).observe({ type: "longtask", buffered: true });`);
    const findLongestTask = async () => {
      const fast = await open(body, {}, observeTasks);
      await whenPainted(fast);
      await wait(100);
      return fast.page.evaluate<number>("globalThis.longest");
    };
    // Other programs of the machine add to the times.
    expect(await findLowest(5, 2_000, async () => whenPainted(await openSlowly()))).toBeLessThanOrEqual(2_000);
    expect(await findLowest(5, 50, findLongestTask)).toBeLessThanOrEqual(50);
  });

  it("show what the page has placed inside them if the service fails, and nothing of an unknown product", async () => {
    const body = `<starpost-rating product="pot">3.9 of 5</starpost-rating>
      <starpost-reviews product="pot"><p>The first reviews</p></starpost-reviews>`;
    for (const failing of [
      "**/shop/*/settings",
      "**/shop/*/ratings*",
      "**/elements/en-*",
      "**/elements/*",
      "**/elements.js*",
    ]) {
      const { page } = await open(body, {}, ({ context }) => context.route(failing, (route) => route.abort()));
      await wait(300);
      expect(await page.getByText("3.9 of 5").isVisible(), failing).toBe(true);
    }
    const failure: Prepare = ({ context }) =>
      context.route("**/reviews?*", (route) => route.fulfill({ status: 503, body: "{}" }));
    const { page } = await open(body, {}, failure);
    await page.getByText("(49)").waitFor();
    expect(await page.getByText("The first reviews").isVisible()).toBe(true);
    const unknown = await open(body.replaceAll('"pot"', '"unknown"'));
    await unknown.page.getByText("There are no reviews yet.").waitFor();
    expect(await unknown.page.getByText("3.9 of 5").isVisible()).toBe(false);
  });

  it("print the reviews without controls, and move nothing", async () => {
    const { page } = await open(reviews);
    await isShown(page);
    await page.emulateMedia({ media: "print", reducedMotion: "reduce" });
    expect(await page.getByRole("button", { name: "With photos" }).isVisible()).toBe(false);
    expect(
      await page
        .getByRole("button", { name: /^Helpful/ })
        .first()
        .isVisible(),
    ).toBe(false);
    expect(await page.getByText("Title 44").isVisible()).toBe(true);
    expect(await page.evaluate("document.getAnimations().length")).toBe(0);
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

/** The lowest of several measurements, of which one that is low enough is the last. */
async function findLowest(tries: number, enough: number, measure: () => Promise<number>): Promise<number> {
  const measured = await measure();
  return measured <= enough || tries === 1
    ? measured
    : Math.min(measured, await findLowest(tries - 1, enough, measure));
}
