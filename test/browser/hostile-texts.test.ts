import { afterAll, beforeAll, expect, it } from "vitest";
import type { Locator, Page } from "playwright-core";
import { batchMethods } from "../../src/contract/index.ts";
import { describeInBrowser, findAccessibilityIssues, isExpected422, takeScreenshot } from "../support/browser.ts";
import { hostileTexts, unstorableTexts } from "../support/hostile-texts.ts";
import { wrapFragment } from "../support/html.ts";
import { aReview } from "../support/builders.ts";
import { pageVisits } from "../support/page-visits.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { isSlowSuite, sample } from "../support/suite-size.ts";

/** The variable that every hostile text tries to set. */
const hacked = (page: Page) => page.evaluate(() => (globalThis as unknown as { hacked?: unknown }).hacked ?? "nothing");

/** Elements that never occur on our pages, except when injected. */
const foreign =
  'iframe, object, embed, svg:not([aria-hidden="true"], .stars svg), base, link:not([itemprop], [rel="canonical"], [rel="prev"], [rel="next"]), script:not([type="application/ld+json"]), [onload], [onerror], [onfocus], [onmouseover], a[href^="javascript:"], img[src="x"]';

const texts = (text: string) => ({
  product: text,
  customer: text.slice(0, 100),
  title: text.slice(0, 150),
  content: text,
  question: text,
});

/** Other texts for each field, of which the long ones have all. */
function mixTexts(at: number): ReturnType<typeof texts> {
  const textAt = (offset: number) => hostileTexts[(at + offset) % hostileTexts.length] ?? "";
  const all = hostileTexts.join("\n");
  return { ...texts(textAt(0)), customer: textAt(7).slice(0, 100), title: textAt(14), content: all, question: all };
}

describeInBrowser("hostile texts", (browser) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop.close());

  const names = Object.keys(pageVisits).filter((name) => !/gone|sign|unsubscribe|test mail/.test(name));
  it.each(names.map((name, at) => [name, at] as const))("remain text on: %s", async (name, offset) => {
    const { page, complaints } = await browser.open();
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    const filled = isSlowSuite ? [mixTexts(offset), ...hostileTexts.map(texts)] : [mixTexts(offset)];
    for (const [at, given] of filled.entries()) {
      await pageVisits[name]?.(shop, page, given);
      const label = `${name}: ${JSON.stringify(given)}`;
      expect(await hacked(page), label).toBe("nothing");
      expect(await page.locator(foreign).count(), label).toBe(0);
      expect(await page.locator("form").count(), label).toBeLessThanOrEqual(1);
      if (!/mistakes|without/.test(name)) expect(await page.title(), label).not.toMatch(/^Error/);
      if (at === 0) await takeScreenshot(page, `hostile-${name.replaceAll(" ", "-")}`);
    }
    expect(dialogs).toBe(0);
    expect(complaints.filter((complaint) => !isExpected422(complaint))).toEqual([]);
    if (isSlowSuite || offset % 3 === 0) expect(await findAccessibilityIssues(page)).toEqual([]);
  });

  it("are shown in form fields as entered", async () => {
    const { page } = await browser.open(undefined, { javaScript: false });
    for (const text of [...sample(hostileTexts, { offset: 1, step: 7 }), "\n\nfirst lines are empty"]) {
      await page.goto(await shop.reviewAddress());
      await page.locator("#content").fill(text);
      await page.getByRole("button").click();
      const typed = await page.locator("#content").inputValue();
      // A page cannot contain control characters, and browsers normalize line breaks.
      const shown = text.replaceAll(/\r\n?/g, "\n").replaceAll(/[^\P{Cc}\t\n]/gu, "\uFFFD");
      expect(typed, JSON.stringify(text)).toBe(shown);
    }
  });

  it.each([
    "\u202Egnorw\u2066 \u200Fאבג",
    "\u202Eturned",
    "early end\u2069\u2069\u202E of isolation",
    "\u2067\u202E\u202D\u2068 nested \u202C",
    "\u202Bאבג\u202Aabc",
    "שלום עולם",
  ])("do not change the direction of the surrounding text: %j", async (text) => {
    const { page } = await browser.open();
    await pageVisits["review done"]?.(shop, page, { ...texts(text), customer: `${text} ${text}` });
    expect(await runsOn(page.locator(".by"), "verified buyer")).toBe(true);
    expect(await runsOn(page.locator(".by"), "By")).toBe(true);
    await takeScreenshot(page, `turning-${text.codePointAt(0)}`);
    await pageVisits["review verified"]?.(shop, page, texts(text));
    expect(await runsOn(page.locator("main p"), "confirmed")).toBe(true);
    await pageVisits["top reviews"]?.(shop, page, texts(text));
    expect(await runsOn(page.locator(".by").first(), "By")).toBe(true);
  });

  it("remain text in storefront fragments, in JSONP, and in structured data", async () => {
    const product = { sku: "hostile", product_title: "A pot" };
    for (const text of hostileTexts) {
      const fields = { review_title: text, review_content: text, display_name: text, ...product };
      await shop.service.reviews.createNow(aReview(fields));
    }
    const { results } = await shop.service.batch.run({
      methods: batchMethods.map((method) => ({ method, params: { pid: "hostile" } })),
    });
    const { page } = await browser.open(`${shop.url}/starpost/v1/pages/${shop.appKey}/products/hostile`);
    const data = await page.locator('script[type="application/ld+json"]').textContent();
    const { review } = JSON.parse(data ?? "") as { review: { reviewBody: string; name: string }[] };
    expect(review.map(({ reviewBody }) => reviewBody).toSorted()).toEqual(hostileTexts.toSorted());
    expect(review.map(({ name }) => name).toSorted()).toEqual(hostileTexts.toSorted());
    const shown = await page.locator(".text").allTextContents();
    expect(shown).toHaveLength(hostileTexts.length);

    const plain = await browser.open();
    for (const { result } of results) {
      await plain.page.setContent(wrapFragment(result));
      expect(await hacked(plain.page)).toBe("nothing");
      expect(await plain.page.locator(foreign).count()).toBe(0);
    }
    const script = `${shop.url}/products/${shop.appKey}/hostile/bottomline?callback=seen`;
    await plain.page.setContent("<script>function seen(body) { globalThis.body = body; }</script>");
    await plain.page.addScriptTag({ url: script });
    const body = await plain.page.evaluate(() => (globalThis as unknown as { body: unknown }).body);
    expect(body).toMatchObject({ response: { bottomline: { total_reviews: hostileTexts.length } } });
  });

  it.each(unstorableTexts)("that cannot be stored are reported, and lose nothing else: %j", async (text) => {
    const address = (await shop.reviewAddress()).replace("/r/", "/review_requests/");
    const sent = { score: "5", title: "Good", content: text, display_name: "Ann" };
    const reply = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
    });
    expect(await reply.json()).toMatchObject({
      response: { request: { state: "ready", fields: { title: "Good" }, problems: [{ field: "content" }] } },
    });
  });
});

/** Whether a label is rendered from left to right, as intended. */
async function runsOn(line: Locator, word: string): Promise<boolean> {
  return line.evaluate((element, label) => {
    const { document } = globalThis as unknown as { document: Dom };
    const walker = document.createTreeWalker(element, 4);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(label);
      if (at === -1) continue;
      const leftOf = (offset: number) => {
        const range = document.createRange();
        range.setStart(node, offset);
        range.setEnd(node, offset + 1);
        const { left, top } = range.getBoundingClientRect();
        return { left, top };
      };
      const [first, second] = [leftOf(at), leftOf(at + 1)];
      return first.top === second.top && first.left < second.left;
    }
    throw new Error(`the page does not contain ${label}`);
  }, word);
}

/** The part of the browser's objects that is used here. */
interface Dom {
  createTreeWalker(root: unknown, shown: number): { nextNode(): { readonly data: string } | null };
  createRange(): {
    setStart(node: unknown, offset: number): void;
    setEnd(node: unknown, offset: number): void;
    getBoundingClientRect(): { readonly left: number; readonly top: number };
  };
}
