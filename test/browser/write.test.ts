import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, findAccessibilityIssues, takeScreenshot } from "../support/browser.ts";
import { addPhoto, fillReview } from "../support/page-visits.ts";
import { takePhoto } from "../support/photos.ts";
import { openShop, type Shop } from "../support/shop.ts";

describeInBrowser("writing a review", (browser) => {
  let shop: Shop;
  let product: string;
  beforeAll(async () => {
    const submissions = { "submissions-per-client": { burst: 2, perHour: 2 } };
    shop = await openShop({ publicLimits: { ...submissions, "images-per-client": { burst: 3, perHour: 60 } } });
    product = await shop.reviewsAddress();
  });
  afterAll(() => shop.close());

  it("with a photo needs no script", async () => {
    const { page, complaints } = await browser.open(product, { javaScript: false, viewport: "phone" });
    await page.getByRole("link", { name: "Write a review" }).click();
    await fillReview(page, { title: "No script needed" });
    await page.locator("#email").fill("zoe@mail.example");
    await page.getByRole("button", { name: "Submit my review" }).click();
    const article = page.getByRole("article");
    await article.getByText("No script needed").waitFor();
    const address = page.url();
    await addPhoto(page, await takePhoto({ width: 1_600, height: 1_200 }));
    await page.getByText("Photos added: 1 of 5").waitFor();
    await addPhoto(page);
    await page.getByRole("heading", { name: "The photo was not added" }).waitFor();
    // The browser sends all of it before it reads the response.
    await addPhoto(page, Buffer.alloc(12_000_000, 7));
    await page.getByText("This photo is larger than 5 MB").waitFor();
    await takeScreenshot(page, "write-phone-photo-too-large");
    await page.goto(address);
    await page.getByText("Photos added: 1 of 5").waitFor();
    expect(complaints.filter((complaint) => !/status of (?:422|413)/.test(complaint))).toEqual([]);

    await shop.service.links.follow({ token: (await shop.lastLink("verify_url")).split("/").at(-1) ?? "" });
    const { reviews } = await shop.service.reviews.widget({ product_id: "pot" });
    expect(reviews[0]).toMatchObject({
      title: "No script needed",
      images_data: [{ id: expect.any(Number) as number }],
    });
    // Another reader, whose browser has no copy of the page.
    const { page: other } = await browser.open(product, { javaScript: false });
    const written = other.getByRole("article").filter({ hasText: "No script needed" });
    const photo = written.locator("img");
    await photo.scrollIntoViewIfNeeded();
    const widthOf = () => photo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
    await expect.poll(widthOf).toBeGreaterThan(0);
  });

  it("explains a limit, and keeps what was typed until it can be submitted", async () => {
    const { page } = await browser.open(`${product}/write`);
    const submit = async (email: string) => {
      await fillReview(page, { title: "Kept title", content: "Kept <text>", customer: "Zoe Kept" });
      await page.locator("#email").fill(email);
      const response = page.waitForResponse((received) => received.request().method() === "POST");
      await page.getByRole("button").click();
      return (await response).status();
    };
    while ((await submit("kept@mail.example")) !== 429) await page.goto(`${product}/write`);
    const box = page.getByRole("group", { name: "Your review was not submitted" });
    expect(await box.innerText()).toMatch(/Try again in \d+ minutes\.\s+What you typed is still here\./);
    await expect.poll(() => page.locator(":focus").getAttribute("class")).toBe("problems");
    expect(await page.getByRole("radio", { checked: true }).getAttribute("value")).toBe("4");
    expect(await page.locator("#content").inputValue()).toBe("Kept <text>");
    expect(await page.locator("#title").inputValue()).toBe("Kept title");
    expect(await page.locator("#display_name").inputValue()).toBe("Zoe Kept");
    expect(await page.locator("#email").inputValue()).toBe("kept@mail.example");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await takeScreenshot(page, `write-desktop-${colorScheme}-limit`);
      expect(await findAccessibilityIssues(page)).toEqual([]);
    }
  });
});
