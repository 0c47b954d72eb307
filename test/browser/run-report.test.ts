import { expect, it } from "vitest";
import { renderRunReport } from "../../src/pages/run-report/page.ts";
import {
  describeInBrowser,
  findAccessibilityIssues,
  takeScreenshot,
  viewports,
  type ViewportName,
} from "../support/browser.ts";
import type { RejectReason } from "../../src/import/report/reject-reasons.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { sampleRunReport } from "../support/sample-run-report.ts";

describeInBrowser("the report of a run", (browser) => {
  it.each(
    (Object.keys(viewports) as ViewportName[]).flatMap((viewport) =>
      (["light", "dark"] as const).map((colorScheme) => ({ viewport, colorScheme })),
    ),
  )("is accessible: $viewport, $colorScheme", async ({ viewport, colorScheme }) => {
    const { page, context, complaints } = await browser.open(undefined, { viewport, colorScheme });
    await context.route("**", (route) => route.abort());
    await page.setContent(renderRunReport(sampleRunReport()));
    expect(await page.getByRole("img").count()).toBe(5);
    await takeScreenshot(page, `run-report-${viewport}-${colorScheme}`);
    await page.getByText("Show the numbers").click();
    expect(await page.getByRole("region", { name: "Numbers over time" }).getByRole("row").count()).toBe(61);
    expect(await findAccessibilityIssues(page)).toEqual([]);
    // Nothing overflows the window; wide tables scroll separately.
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });

  it.each([375, 690])("fits %i pixels with long names and many reasons, on screen and in print", async (width) => {
    const { page } = await browser.open();
    const [file] = sampleRunReport().files;
    const [reason] = sampleRunReport().reasons;
    const name = `/data/${"shop_export_final_".repeat(12)}1.csv`;
    const run = sampleRunReport(
      {
        files: Array.from({ length: 6 }, () => ({
          ...file,
          file: name,
          size_bytes: 1,
          sha256: "0".repeat(64),
          encoding: "utf-8",
          delimiter: ",",
        })),
        reasons: Array.from({ length: 40 }, (_, at) => ({ ...reason, column: `column_${at}_${name}` }) as RejectReason),
      },
      name,
    );
    await page.setViewportSize({ width, height: 800 });
    await page.setContent(renderRunReport(run));
    for (const media of ["screen", "print"] as const) {
      await page.emulateMedia({ media });
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect(overflow).toBeLessThanOrEqual(0);
      await takeScreenshot(page, `run-report-long-${width}-${media}`);
    }
  });

  it("runs, loads, and sends nothing from the imported data", async () => {
    const { page, context, complaints } = await browser.open();
    const asked: string[] = [];
    await context.route("**", (route) => {
      asked.push(route.request().url());
      return route.abort();
    });
    await page.setContent(renderRunReport(sampleRunReport({}, hostileTexts.join(" "))));
    await page.getByRole("heading", { name: "Over time" }).waitFor();
    expect(await page.evaluate(() => (globalThis as { hacked?: unknown }).hacked)).toBeUndefined();
    expect(asked).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
