import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import {
  describeInBrowser,
  findAccessibilityIssues,
  isExpected422,
  resizeWindow,
  takeScreenshot,
  viewports,
  type ViewportName,
} from "../support/browser.ts";
import { aProduct, aReview } from "../support/builders.ts";
import { expectNoShift, observeShifts, showImages } from "../support/element-checks.ts";
import { longWords } from "../support/hostile-texts.ts";
import { takePhoto } from "../support/photos.ts";
import { fillReview, pageVisits } from "../support/page-visits.ts";
import { pseudoMessages } from "../support/pseudo-messages.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { isSlowSuite, sample } from "../support/suite-size.ts";

const windows = Object.keys(viewports) as readonly ViewportName[];
const productImage = "https://shop.example/image.jpg";

describeInBrowser("pages", (browser) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
    await shop.service.products.massCreate({ products: { pot: aProduct({ image_url: productImage }) } });
  });
  afterAll(() => shop.close());

  const numbered = Object.entries(pageVisits).map(([name, visit], at) => ({ name, visit, at }));
  // A page is loaded in one of the windows, and then resized; in the slow suite, it is loaded in each.
  const loaded = numbered.flatMap(({ name, visit, at }) =>
    sample(windows, { offset: at, step: 2 }).map((viewport) => ({ name, visit, viewport })),
  );
  it.each(loaded)(
    "$name: accessible in every window and scheme, and does not move: $viewport",
    async ({ name, visit, viewport }) => {
      const { page, context, complaints } = await browser.open(undefined, { viewport });
      const body = await takePhoto({ width: 900, height: 700 });
      await context.route(productImage, (route) => route.fulfill({ contentType: "image/jpeg", body }));
      await observeShifts({ context }, "https://shop.example");
      await observeShifts({ context }, shop.url);
      await visit(shop, page, { image: productImage });
      if (/^(?:reviews of|top reviews|review form$|my reviews$|my reviews, delete a photo)/.test(name)) {
        expect(await showImages(page)).toBeGreaterThan(0);
      } else await showImages(page);
      await expectNoShift(page, name);
      const others = windows.filter((other) => other !== viewport);
      for (const [at, shown] of [viewport, ...others].entries()) {
        if (at > 0) await page.setViewportSize(viewports[shown]);
        for (const colorScheme of at > 0 && !isSlowSuite ? ["light" as const] : (["light", "dark"] as const)) {
          await page.emulateMedia({ colorScheme });
          await takeScreenshot(page, `${shown}-${colorScheme}-${name.replaceAll(" ", "-")}`);
          if (at > 0 && !isSlowSuite) continue;
          const rules = colorScheme === "dark" ? ["color-contrast"] : undefined;
          expect(await findAccessibilityIssues(page, rules), colorScheme).toEqual([]);
        }
        expect(await overflowOf(page), shown).toBe(0);
      }
      expect(complaints.filter((complaint) => !isExpected422(complaint))).toEqual([]);
    },
  );

  describe("with much longer texts", () => {
    let wordy: Shop;
    beforeAll(async () => {
      wordy = await openShop();
      for (const [key, text] of Object.entries(pseudoMessages)) {
        if (key.startsWith("page.")) await wordy.service.messages.set({ language: "en", key, text });
      }
    });
    afterAll(() => wordy.close());

    it.each(sample(numbered, { offset: 1, step: 4 }))("$name: fits a phone", async ({ name, visit }) => {
      const { page } = await browser.open(undefined, { viewport: "phone" });
      await visit(wordy, page);
      await page.setViewportSize({ width: 375, height: 844 });
      await takeScreenshot(page, `pseudo-${name.replaceAll(" ", "-")}`);
      expect(await overflowOf(page)).toBe(0);
    });
  });

  describe("with a brand", () => {
    let branded: Shop;
    beforeAll(async () => {
      branded = await openShop();
      const logo = await takePhoto({ type: "png", width: 1_200, height: 150 });
      await branded.service.brand.set({
        logo: logo.toString("base64"),
        accent_color: "#c2185b",
        star_color: "#00796b",
        font: "serif",
        radius: 20,
        sender_name: "Tea & Cups",
        privacy_url: "https://shop.example/privacy",
        terms_url: "https://shop.example/terms",
        consent_text: "We publish your review with your first name. You can withdraw it at any time.",
      });
    });
    afterAll(() => branded.close());

    it.each(["review form with mistakes", "verify a review", "reviews of a product", "signed in"])(
      "%s: accessible, with a logo, in every window and scheme",
      async (name) => {
        const { page, complaints } = await browser.open();
        await pageVisits[name]?.(branded, page);
        for (const viewport of Object.keys(viewports) as ViewportName[]) {
          await page.setViewportSize(viewports[viewport]);
          for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            await takeScreenshot(page, `brand-${viewport}-${colorScheme}-${name.replaceAll(" ", "-")}`);
            expect(await findAccessibilityIssues(page), `${viewport} ${colorScheme}`).toEqual([]);
          }
          expect(await overflowOf(page), viewport).toBe(0);
        }
        const shown = await page
          .locator(".logo")
          .evaluate((logo) => (logo as unknown as { readonly naturalWidth: number }).naturalWidth);
        expect(shown).toBe(1_200);
        expect(complaints.filter((complaint) => !isExpected422(complaint))).toEqual([]);
      },
    );
  });

  it("fail the checks if there are barriers or blocked scripts", async () => {
    const { page, complaints } = await browser.open(await shop.reviewAddress());
    await page.evaluate(() => {
      const { document } = globalThis as unknown as {
        document: { body: { insertAdjacentHTML(where: string, html: string): void } };
      };
      document.body.insertAdjacentHTML("beforeend", '<input><p onclick="x()" style="color: red">x</p>');
    });
    expect(await findAccessibilityIssues(page)).toEqual([expect.stringContaining("label")]);
    await expect.poll(() => complaints).toContainEqual(expect.stringContaining("style-src-attr"));
  });

  it.each(["review form", "review done", "reviews of a product", "top reviews", "confirm a question"])(
    "%s: fits the window with long words at 200% and 400% zoom",
    async (name) => {
      const long = longWords.join(" ");
      const texts = { product: long, customer: long.slice(0, 100), title: long.slice(0, 150), content: long };
      const { page } = await browser.open();
      await pageVisits[name]?.(shop, page, { ...texts, question: long });
      for (const [viewport, zoom] of [
        ["phone", 2],
        ["desktop", 2],
        ["desktop", 4],
      ] as const) {
        await resizeWindow(page, { ...viewports[viewport], zoom });
        expect(await page.evaluate("devicePixelRatio")).toBe(zoom);
        await takeScreenshot(page, `zoom-${zoom}-${viewport}-${name.replaceAll(" ", "-")}`);
        expect(await overflowOf(page), `${viewport} ${zoom}`).toBe(0);
      }
    },
  );

  it("for a review can be completed with the keyboard alone", async () => {
    const { page } = await browser.open(await shop.reviewAddress());
    const { keyboard } = page;
    await keyboard.press("Tab");
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    expect(await page.getByRole("radio", { checked: true }).getAttribute("value")).toBe("4");
    await keyboard.press("ArrowLeft");
    expect(await page.getByRole("radio", { checked: true }).getAttribute("value")).toBe("3");
    expect(await starsOf(page)).toBe("★★★☆☆");
    await takeScreenshot(page, "keyboard-stars");
    await keyboard.press("Tab");
    await keyboard.type("By keyboard");
    await keyboard.press("Tab");
    await keyboard.type("Typed\nin two lines");
    await keyboard.press("Tab");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "What you wrote" }).waitFor();
    expect(await page.getByRole("article").innerText()).toMatch(
      /By keyboard[^]*3 out of 5[^]*in two lines[^]*By Ann T\./,
    );
  });

  it("for a review lead to invalid fields", async () => {
    const { page } = await browser.open(await shop.reviewAddress());
    await page.locator("#title").fill("Kept as typed");
    await page.getByRole("button").click();
    expect(await page.title()).toMatch(/^Error: /);
    const summary = page.getByRole("group", { name: "Your review was not submitted" });
    expect(await summary.evaluate((element) => element.matches(":focus"))).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await focusedId(page)).toBe("score");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("link", { name: "Write your review." }).click();
    expect(await focusedId(page)).toBe("content");
    const content = page.locator("#content");
    expect(await content.getAttribute("aria-invalid")).toBe("true");
    const described = (await content.getAttribute("aria-describedby")) ?? "";
    const words = await Promise.all(described.split(" ").map((id) => page.locator(`#${id}`).innerText()));
    expect(words).toContain("Write your review.");
    expect(await page.locator("#title").inputValue()).toBe("Kept as typed");
    expect(await page.locator("#title").getAttribute("aria-invalid")).toBeNull();
    await page.keyboard.type("Better now");
    await page.getByRole("button").click();
    expect(await page.getByRole("article").innerText()).toContain("Better now");
  });

  it("for reviews and links work without JavaScript, and set no cookies", async () => {
    const { page, context } = await browser.open(await shop.reviewAddress(), { javaScript: false });
    await fillReview(page);
    await page.getByRole("button").click();
    expect(await page.getByRole("article").innerText()).toContain("4 out of 5");
    await page.reload();
    expect(await page.getByRole("article").innerText()).toContain("4 out of 5");
    await page.goto(await shop.unsubscribeAddress());
    await page.getByRole("button").click();
    expect(await page.getByRole("heading").innerText()).toBe("You are unsubscribed");
    expect(await context.cookies()).toEqual([]);
  });

  it("of a product lead to all of its reviews without JavaScript", async () => {
    const titles = Array.from({ length: 300 }, (_, at) => `Cup ${at}`);
    const write = (title: string) =>
      shop.service.reviews.createNow(aReview({ sku: "cup", product_title: "A cup", review_title: title }));
    await Promise.all(titles.map(write));
    const { page } = await browser.open(`${shop.url}/starpost/v1/pages/${shop.appKey}/products/cup`, {
      javaScript: false,
    });
    const next = page.getByRole("link", { name: "Next" });
    const read = () => page.locator("article h3, article h4").allTextContents();
    const found = await read();
    while (await next.isVisible()) {
      await next.click();
      found.push(...(await read()));
    }
    expect(found.toSorted()).toEqual(titles.toSorted());
  });

  it("for a review show the product's image, also through tracked links", async () => {
    // Any image that the browser can load is suitable.
    const image = `${shop.url}/starpost/v1/o/nothing`;
    const { click } = await shop.trackedAddresses(await shop.reviewAddress({ image }));
    const { unique_clicks: before = 0 } = await shop.counts();
    const { page, context, complaints } = await browser.open(click);
    expect(page.url()).toContain("/starpost/v1/r/");
    const shown = page.locator(".product img");
    expect(await shown.getAttribute("src")).toBe(image);
    expect(await shown.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
    expect([await findAccessibilityIssues(page), complaints, await context.cookies()]).toEqual([[], [], []]);
    expect(await shop.counts()).toMatchObject({ unique_clicks: before + 1 });
  });

  it("for a used link show the review, and do not store another one", async () => {
    const address = await shop.reviewAddress();
    const [first, second] = [await browser.open(address), await browser.open(address)];
    for (const { page } of [first, second]) {
      await fillReview(page, { title: page === first.page ? "First" : "Second" });
      await page.getByRole("button").click();
      expect(await page.getByRole("article").innerText()).toContain("First");
    }
    await second.page.goto(address);
    expect(await second.page.getByRole("article").innerText()).toContain("First");
  });
});

/** The horizontal overflow of a page, in pixels. */
async function overflowOf(page: Page): Promise<number> {
  return page.locator("html").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
}

async function focusedId(page: Page): Promise<string | null> {
  return page.locator(":focus").getAttribute("id");
}

/** The visible stars, full or empty. */
async function starsOf(page: Page): Promise<string> {
  return page.locator(".rating .star").evaluateAll((stars) =>
    stars
      .map((star) => {
        const { getComputedStyle } = globalThis as unknown as {
          getComputedStyle: (element: unknown, part: string) => { content: string };
        };
        return getComputedStyle(star, "::before").content.replaceAll('"', "");
      })
      .join(""),
  );
}
