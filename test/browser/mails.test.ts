import { expect, it } from "vitest";
import { sentEmailCategories } from "../../src/contract/index.ts";
import { builtInTemplates } from "../../src/email/templates/built-in/templates.ts";
import { renderOutgoing } from "../../src/email/templates/render-email.ts";
import { createSampleEmail } from "../../src/email/templates/check-template.ts";
import {
  describeInBrowser,
  findAccessibilityIssues,
  takeScreenshot,
  viewports,
  type ViewportName,
} from "../support/browser.ts";
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

/** One category for each template. */
const distinct = sentEmailCategories.filter(
  (category, at) =>
    sentEmailCategories.findIndex((other) => builtInTemplates[other] === builtInTemplates[category]) === at,
);

describeInBrowser("mails as they are read", (browser) => {
  it.each(
    (Object.keys(viewports) as ViewportName[]).flatMap((viewport) =>
      (["light", "dark"] as const).map((colorScheme) => [viewport, colorScheme] as const),
    ),
  )("are accessible on a %s in %s colors", async (viewport, colorScheme) => {
    const { page, context } = await browser.open(undefined, { viewport, colorScheme });
    await context.route("**", (route) => route.abort());
    for (const category of distinct) {
      await page.setContent((await renderOutgoing(createSampleEmail(category))).html);
      await takeScreenshot(page, `mail-${viewport}-${colorScheme}-${category}`);
      expect(await findAccessibilityIssues(page), category).toEqual([]);
    }
  });

  it("fit the window, also with long words", async () => {
    const { page, context } = await browser.open();
    await context.route("**", (route) => route.abort());
    for (const category of distinct) {
      await page.setContent((await renderOutgoing(hostileMail(category, longWords.join(" ")))).html);
      const wider = await page.locator("html").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      expect(wider, category).toBe(0);
    }
  });

  it.each(distinct.map((category, at) => [category, at] as const))(
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
