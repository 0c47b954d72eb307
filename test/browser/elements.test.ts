import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, takeScreenshot } from "../support/browser.ts";
import { openStorefront, type Storefront } from "../support/storefront.ts";

describeInBrowser("storefront elements", (browser) => {
  let shop: Storefront;
  beforeAll(async () => {
    shop = await openStorefront();
  });
  afterAll(() => shop.close());

  const open = async (body: string) => {
    const opened = await browser.open(shop.showPage(body), { viewport: "desktop" });
    return opened;
  };

  it("show the reviews of a product under a strict policy", async () => {
    const { page, complaints } = await open(
      '<p><starpost-rating product="pot"></starpost-rating></p><starpost-reviews product="pot" json-ld></starpost-reviews><footer>End</footer>',
    );
    await page
      .locator("article")
      .first()
      .waitFor({ timeout: 8000 })
      .catch(() => {});
    await takeScreenshot(page, "elements");
    expect(complaints).toEqual([]);
    await page.getByText("(49)").waitFor();
    expect(await page.locator("article").count()).toBe(10);
  });
});
