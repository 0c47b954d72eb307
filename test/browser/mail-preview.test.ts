import { expect, it } from "vitest";
import { renderEmailPreview } from "../../src/pages/email-preview-page.ts";
import { builtInTemplates } from "../../src/email/templates/built-in/templates.ts";
import { renderEmail, createScope } from "../../src/email/templates/render-email.ts";
import { createSampleEmail } from "../../src/email/templates/check-template.ts";
import {
  describeInBrowser,
  findAccessibilityIssues,
  takeScreenshot,
  viewports,
  type ViewportName,
} from "../support/browser.ts";
import { hostileTexts } from "../support/hostile-texts.ts";

describeInBrowser("the page of a preview", (browser) => {
  it("shows subject, HTML, and text, and is accessible", async () => {
    const mail = await renderEmail(builtInTemplates.map, createScope(createSampleEmail("map")));
    for (const viewport of Object.keys(viewports) as ViewportName[]) {
      const { page, context } = await browser.open(undefined, { viewport });
      await context.route("**", (route) => route.abort());
      await page.setContent(renderEmailPreview("map", mail));
      await page.frameLocator("iframe").getByRole("link", { name: "5 ★" }).first().waitFor();
      expect(await page.locator("pre").textContent()).toContain("5 ★ https://");
      expect(await page.locator("strong").textContent()).toBe(mail.subject);
      await takeScreenshot(page, `preview-${viewport}`);
      expect(await findAccessibilityIssues(page)).toEqual([]);
    }
  });

  it("neither runs nor loads anything that a template contains", async () => {
    const { page, context } = await browser.open();
    const requested: string[] = [];
    await context.route("**", (route) => {
      requested.push(route.request().resourceType());
      return route.abort();
    });
    for (const text of hostileTexts) {
      const html = `<p>begin</p>${text}<script>parent.hacked = top.hacked = 1; fetch("https://evil.example")</script>
      <meta http-equiv="refresh" content="0; url=https://evil.example"><p>end</p>`;
      await page.setContent(renderEmailPreview(text, { subject: text, text, html }));
      await page.frameLocator("iframe").getByText("begin").waitFor();
      await page.waitForTimeout(50);
      expect(await page.evaluate(() => (globalThis as { hacked?: unknown }).hacked), text).toBeUndefined();
      expect(
        page.frames().every((frame) => !frame.url().startsWith("http")),
        text,
      ).toBe(true);
      expect(
        requested.filter((kind) => kind !== "image"),
        text,
      ).toEqual([]);
    }
  });
});
