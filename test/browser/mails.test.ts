import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createBrand, defaultBrand, sentEmailCategories } from "../../src/contract/index.ts";
import { renderOutgoing } from "../../src/email/templates/render-email.ts";
import { createSampleEmail } from "../../src/email/templates/check-template.ts";
import { catalogs } from "../../src/messages/catalogs.ts";
import { describeInBrowser, findEmailIssues, takeScreenshot } from "../support/browser.ts";
import { pseudoMessages } from "../support/pseudo-messages.ts";
import { hostileTexts, longWords } from "../support/hostile-texts.ts";
import { sample } from "../support/suite-size.ts";

/** The same data with another text in every field that people write. */
function withText(value: unknown, text: string, name = ""): unknown {
  if (Array.isArray(value)) return value.map((element) => withText(element, text));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withText(inner, text, key)]));
  }
  // The service creates its own links; all other URLs come from the store.
  const isServiceLink = ["review_url", "verify_url", "confirm_url", "comment_url", "answer_url"].includes(name);
  return typeof value === "string" && !isServiceLink ? text : value;
}

const hostileMail = (category: (typeof sentEmailCategories)[number], text: string) => {
  const email = createSampleEmail(category);
  return {
    ...email,
    to: { ...email.to, name: text },
    store: { name: text, url: text },
    data: withText(email.data, text) as typeof email.data,
  };
};

/** With everything that a brand adds to emails, in colors with the least contrast that is accepted. */
const brand = {
  accent_color: "#767676",
  star_color: "#949494",
  postal_address: "Tea & Cups\n1 Harbor Street",
  privacy_url: "https://shop.example/privacy",
  terms_url: "https://shop.example/terms",
};
const logo = { logo_url: "https://shop.example/logo.png", logo_width: 240, logo_height: 60 };

/** The built-in design, and the brand from left to right and from right to left. */
const designs = ([["en"], ["de", brand, logo], ["ja", brand, logo], ["ar", brand, logo]] as const)
  .filter(([language]) => catalogs[language])
  .map(([language, own, image]) => [language, createBrand({ language, ...own }, image)] as const);

const looks = [375, 1_280].flatMap((width) => (["light", "dark"] as const).map((scheme) => [width, scheme] as const));

const countExcess = (page: Page) =>
  page.locator("html").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);

/** Buttons are padded cells, because Outlook ignores the padding of links. In other clients, the link fills the cell. */
const listButtonFaults = (page: Page) =>
  page.locator(".button, .stars td").evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const { getComputedStyle } = globalThis as unknown as {
        getComputedStyle: (element: unknown) => { paddingLeft: string };
      };
      const { width, height } = cell.firstElementChild?.getBoundingClientRect() ?? { width: 0, height: 0 };
      const isFilled = width + 1 >= cell.clientWidth && height + 1 >= cell.clientHeight && height >= 40;
      const isPadded = cell.tagName === "TD" && Number.parseFloat(getComputedStyle(cell).paddingLeft) >= 6;
      return isFilled && isPadded ? [] : [cell.outerHTML];
    }),
  );

describeInBrowser("mails as they are read", (browser) => {
  // Each email has every look, but with one of the designs each; in the slow suite, with all of them.
  it.each(designs.map(([language, design], nth) => [language, design, nth] as const))(
    "are accessible and fit the window: %s",
    async (language, design, nth) => {
      const { page, context } = await browser.open();
      await context.route("**", (route) => route.abort());
      for (const [at, category] of sentEmailCategories.entries()) {
        await page.setContent((await renderOutgoing({ ...createSampleEmail(category), brand: design })).html);
        for (const [width, colorScheme] of sample(looks, { offset: at + nth, step: looks.length })) {
          await page.setViewportSize({ width, height: 800 });
          expect(await countExcess(page), category).toBe(0);
          expect(await listButtonFaults(page), category).toEqual([]);
          await page.emulateMedia({ colorScheme });
          await takeScreenshot(page, `mail-${language}-${width}-${colorScheme}-${category}`);
          expect(await findEmailIssues(page), `${category}, ${width} px, ${colorScheme}`).toEqual([]);
        }
      }
    },
  );

  it("fit the window with much longer texts", async () => {
    const { page, context } = await browser.open();
    await page.setViewportSize({ width: 375, height: 800 });
    await context.route("**", (route) => route.abort());
    const wordy = { ...defaultBrand, messages: { en: pseudoMessages } };
    for (const category of sentEmailCategories) {
      const { html, subject } = await renderOutgoing({ ...createSampleEmail(category), brand: wordy });
      expect(subject).toMatch(/\[.*\]/);
      await page.setContent(html);
      expect(await countExcess(page), category).toBe(0);
    }
  });

  it("fit the window, also with long words", async () => {
    const { page, context } = await browser.open();
    await context.route("**", (route) => route.abort());
    for (const category of sentEmailCategories) {
      await page.setContent((await renderOutgoing(hostileMail(category, longWords.join(" ")))).html);
      expect(await countExcess(page), category).toBe(0);
    }
  });

  it.each(sentEmailCategories.map((category, at) => [category, at] as const))(
    "%s: user input remains text",
    async (category, offset) => {
      const { page, context } = await browser.open();
      await context.route("**", (route) => route.abort());
      let dialogs = 0;
      page.on("dialog", (dialog) => {
        dialogs += 1;
        void dialog.dismiss();
      });
      for (const text of sample(hostileTexts, { offset, step: 7 })) {
        await page.setContent((await renderOutgoing(hostileMail(category, text))).html);
        const hacked = await page.evaluate(() => (globalThis as unknown as { hacked?: unknown }).hacked ?? "nothing");
        expect(hacked, JSON.stringify(text)).toBe("nothing");
        const foreign =
          'script, iframe, svg, base, form, input, [onload], [onerror], [onfocus], [onmouseover], a[href^="javascript:"], img[src="x"]';
        expect(await page.locator(foreign).count(), JSON.stringify(text)).toBe(0);
      }
      expect(dialogs).toBe(0);
    },
  );
});
