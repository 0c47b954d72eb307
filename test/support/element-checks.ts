import { setTimeout as wait } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";

/** Prepares a page before it is opened. */
export type Prepare = (opened: { readonly page: Page; readonly context: BrowserContext }) => Promise<unknown>;

export const shopModes = [
  { colorScheme: "light", forcedColors: "none" },
  { colorScheme: "dark", forcedColors: "none" },
  { colorScheme: "light", forcedColors: "active" },
] as const;

/** Of 1,280 pixels, 320 remain at 400% zoom. */
export const shopWindows = [
  { width: 1_280, height: 900 },
  { width: 375, height: 812 },
  { width: 320, height: 225 },
] as const;

/** By how many pixels the page is wider than the window. */
export const overflowOf = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

/** The controls smaller than 24 by 24 pixels, as HTML. An invisible control has the size of its label. Source: WCAG 2.2, 2.5.8. */
export const findSmallTargets = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll("*")].flatMap((host) => host.shadowRoot
    ? [...host.shadowRoot.querySelectorAll("a, button, input, select, textarea")].filter((control) => {
        const target = control.classList.contains("unseen") ? control.closest("label") : control;
        const { width, height } = target.getBoundingClientRect();
        return width > 0 && (width < 24 || height < 24);
      }).map((control) => control.outerHTML)
    : [])`);

/** Delays what the service sends, except for pages, and adds up the layout shifts of the next page. */
export async function observeShifts({ context }: { readonly context: BrowserContext }, service: string): Promise<void> {
  await context.addInitScript(`globalThis.shifts = []; new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) if (!hadRecentInput)
      globalThis.shifts.push([value, ...sources.map(({ node }) => node?.parentElement?.localName + ">" + node?.localName)]);
  }).observe({ type: "layout-shift", buffered: true });`);
  await context.route(`${service}/**`, async (route) => {
    if (!route.request().isNavigationRequest()) await wait(600);
    await route.fallback();
  });
}

/** Expects that the page has hardly moved since it was opened. */
export async function expectNoShift(page: Page, label = ""): Promise<void> {
  // Shifts are reported after they are painted.
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))",
  );
  const shifts = await page.evaluate<readonly (readonly [number, ...string[]])[]>("globalThis.shifts");
  const total = shifts.reduce((sum, [value]) => sum + value, 0);
  expect(total, `${label} ${JSON.stringify(shifts)}`).toBeLessThanOrEqual(0.01);
}

/** Scrolls to each image, so that all are loaded. @returns how many there are */
export async function showImages(page: Page): Promise<number> {
  return page.evaluate<number>(`(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const image of document.images) {
      image.scrollIntoView({ behavior: "instant" });
      await frame();
    }
    await Promise.all([...document.images].map((image) => image.decode()));
    scrollTo(0, 0);
    await frame();
    return document.images.length;
  })()`);
}
