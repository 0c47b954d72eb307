import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { describeInBrowser, findAccessibilityIssues, takeScreenshot } from "../support/browser.ts";
import { expectNoShift, observeShifts, overflowOf } from "../support/element-checks.ts";
import { Homes } from "../support/starpost.ts";
import { isSlowSuite, sample } from "../support/suite-size.ts";

/** Scrolls through the page, so that all elements load. */
async function showAll(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let y = 0; y <= document.documentElement.scrollHeight; y += innerHeight) {
      scrollTo(0, y);
      await frame();
    }
  })()`);
  await page.waitForLoadState("networkidle");
  await page.evaluate("scrollTo(0, 0)");
}

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

  it.each(paths.map((path, at) => [path, at] as const))(
    "%s: accessible, without overflow, complaints, layout shift, cookies, storage, and requests to others",
    async (path, at) => {
      for (const viewport of sample(["desktop", "phone"] as const, { offset: at, step: 2 })) {
        const { page, context, complaints } = await browser.open(undefined, { viewport });
        const origins = new Set<string>();
        page.on("request", (request) => origins.add(new URL(request.url()).origin));
        await observeShifts({ context }, demo.service_url);
        await page.goto(demo.url + path);
        await page.waitForLoadState("networkidle");
        await expectNoShift(page, `${path} ${viewport}`);
        await showAll(page);
        for (const [index, [width, colorScheme]] of views.entries()) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await takeScreenshot(page, `demo-${width}-${colorScheme}${path.replaceAll("/", "-")}`);
          expect(await overflowOf(page), `${width}`).toBe(0);
          const rules = index === 0 || isSlowSuite ? undefined : ["color-contrast"];
          if (index < 2 || isSlowSuite) expect(await findAccessibilityIssues(page, rules), colorScheme).toEqual([]);
        }
        expect([...origins].filter((origin) => ![demo.url, demo.service_url].includes(origin))).toEqual([]);
        expect(await page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]")).toEqual([
          "",
          0,
          0,
        ]);
        // Neither axe nor the scripts of this test run in the sandboxed frame of an email.
        expect(complaints.filter((complaint) => !/postMessage|allow-scripts/.test(complaint))).toEqual([]);
      }
    },
  );
});

/** Windows and color schemes. */
const views = [
  [1_280, "light"],
  [375, "dark"],
  [1_280, "dark"],
  [375, "light"],
] as const;
