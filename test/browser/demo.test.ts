import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { describeInBrowser, findAccessibilityIssues, takeScreenshot } from "../support/browser.ts";
import { Homes } from "../support/starpost.ts";

const delayMs = 600;

/** Scrolls through the page, so that all elements load. */
async function showAll(page: Page): Promise<void> {
  const height = await page.evaluate<number>("document.documentElement.scrollHeight");
  for (let y = 0; y <= height; y += 600) {
    await page.evaluate(`scrollTo(0, ${y})`);
    await page.waitForTimeout(50);
  }
  await page.waitForLoadState("networkidle");
  await page.evaluate("scrollTo(0, 0)");
}

const observeShifts = `globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries())
    if (!hadRecentInput) shifts.push([value, sources.map(({ node }) => node?.parentElement?.localName + ">" + node?.localName).join()]);
}).observe({ type: "layout-shift", buffered: true });`;

describeInBrowser("the sample shop", (browser) => {
  const homes = new Homes();
  let demo: { readonly url: string; readonly service_url: string };
  let stop = async () => {};
  beforeAll(async () => {
    const ran = homes.open().start(["demo", "--json"], { timeout: 300_000 });
    const line = await new Promise<string>((found, failed) => {
      ran.stdout?.once("data", (data: Buffer) => found(data.toString()));
      void ran.then((ended) => failed(new Error(String(ended.stderr))));
    });
    demo = JSON.parse(line) as typeof demo;
    stop = async () => {
      ran.kill("SIGTERM");
      await ran;
    };
  });
  afterAll(async () => {
    await stop();
    homes.remove();
  });

  const paths = ["/", "/products", "/products/teapot", "/ar/products/clock", "/de/emails"];

  describe.each(["light", "dark"] as const)("in %s mode", (colorScheme) => {
    it.each(paths)("%s: accessible, without overflow and complaints", async (path) => {
      const { page, complaints } = await browser.open(demo.url + path, { colorScheme, viewport: "desktop" });
      for (const width of [1_280, 375]) {
        await page.setViewportSize({ width, height: 900 });
        await showAll(page);
        await takeScreenshot(page, `demo-${width}-${colorScheme}${path.replaceAll("/", "-")}`);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
        expect(await findAccessibilityIssues(page)).toEqual([]);
      }
      // Axe cannot ask the sandboxed frame of an email.
      expect(complaints.filter((complaint) => !complaint.includes("postMessage"))).toEqual([]);
    });
  });

  it.each(paths)("%s: no cookies, nothing stored, no requests to others, and no layout shift", async (path) => {
    const { page, context } = await browser.open(undefined, { viewport: "desktop" });
    const origins = new Set<string>();
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    await context.addInitScript({ content: observeShifts });
    await page.route(`${demo.service_url}/**`, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await route.continue();
    });
    await page.goto(demo.url + path);
    await page.waitForLoadState("networkidle");
    const shifts = await page.evaluate<readonly (readonly [number, string])[]>("shifts");
    const stored = await page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]");
    expect([...origins].filter((origin) => ![demo.url, demo.service_url].includes(origin))).toEqual([]);
    expect(stored).toEqual(["", 0, 0]);
    const total = shifts.reduce((sum, [value]) => sum + value, 0);
    expect(total, JSON.stringify(shifts)).toBeLessThanOrEqual(0.01);
  });
});
