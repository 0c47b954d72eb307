import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { describeInBrowser } from "../support/browser.ts";
import { type Prepare, showElements } from "../support/element-checks.ts";
import { addQuestions, openStorefront, type Storefront } from "../support/storefront.ts";

const body = `<p><starpost-rating product="pot"></starpost-rating></p><starpost-reviews product="pot"></starpost-reviews>
<starpost-review-form product="pot"></starpost-review-form><starpost-questions product="pot"></starpost-questions>
<starpost-photos product="pot"></starpost-photos><starpost-carousel product="pot"></starpost-carousel>`;

// Runs alone, because other tests would add to the times. Of several measurements, the lowest is the least disturbed one.
describeInBrowser("storefront elements are fast", (browser) => {
  let shop: Storefront;
  beforeAll(async () => {
    shop = await openStorefront();
    await addQuestions(shop, { sku: "pot", count: 5 });
  });
  afterAll(() => shop.close());

  const open = async (prepare: Prepare): Promise<Page> => {
    const opened = await browser.open(undefined, { viewport: "phone" });
    await prepare(opened);
    await opened.page.goto(shop.showPage(body));
    await opened.page.locator("article").first().waitFor();
    return opened.page;
  };

  it("and paint the reviews within 2 seconds at 1.6 Mbit/s, 150 ms, and a fourfold CPU slowdown", async () => {
    const measure = async () => {
      const page = await open(async ({ page: opened, context }) => {
        const session = await context.newCDPSession(opened);
        const bytesPerSecond = 1_600_000 / 8;
        await session.send("Network.emulateNetworkConditions", {
          offline: false,
          latency: 150,
          downloadThroughput: bytesPerSecond,
          uploadThroughput: bytesPerSecond,
        });
        await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
      });
      return page.evaluate<number>("new Promise((done) => requestAnimationFrame(() => done(performance.now())))");
    };
    expect(await findLowest(5, 2_000, measure)).toBeLessThanOrEqual(2_000);
  });

  it("and run no task for more than 50 ms, also when forms and photos are opened", async () => {
    const measure = async () => {
      const page = await open(({ context }) =>
        context.addInitScript(`globalThis.longest = 0; new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
        }).observe({ type: "longtask", buffered: true });`),
      );
      await showElements(page);
      await page.locator("starpost-review-form button").click();
      await page.locator("starpost-questions .ask button").click();
      await page.locator("starpost-questions form").waitFor();
      await page.locator("starpost-photos a").first().click();
      await page.locator("dialog img").waitFor();
      await page.keyboard.press("Escape");
      await page.locator(".histogram button").first().click();
      await page.locator(".histogram [aria-pressed=true]").waitFor();
      return page.evaluate<number>("new Promise((done) => setTimeout(() => done(globalThis.longest), 100))");
    };
    expect(await findLowest(5, 50, measure)).toBeLessThanOrEqual(50);
  });
});

/** The lowest of several measurements, of which one that is low enough is the last. */
async function findLowest(tries: number, enough: number, measure: () => Promise<number>): Promise<number> {
  const measured = await measure();
  return measured <= enough || tries === 1
    ? measured
    : Math.min(measured, await findLowest(tries - 1, enough, measure));
}
