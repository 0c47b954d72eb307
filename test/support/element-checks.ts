import { setTimeout as wait } from "node:timers/promises";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { findWcagIssues, resizeWindow, takeScreenshot, type WindowSize } from "./browser.ts";
import { isSlowSuite, sample } from "./suite-size.ts";

/** Prepares a page before it is opened. */
export type Prepare = (opened: { readonly page: Page; readonly context: BrowserContext }) => Promise<unknown>;

export const shopModes = [
  { colorScheme: "light", forcedColors: "none" },
  { colorScheme: "dark", forcedColors: "none" },
  { colorScheme: "light", forcedColors: "active" },
] as const;

export const shopWindows: readonly WindowSize[] = [
  { width: 1_280, height: 900 },
  { width: 375, height: 812 },
  { width: 320, height: 640 },
  { width: 1_280, height: 900, zoom: 4 },
];

/**
 * Checks what is shown in each window, and with axe in half of them, each in one of the modes; in the slow suite, in all
 * windows and modes. Callers with the offsets 0 to 3 together use each window and mode several times.
 */
export async function checkElements(page: Page, label: string, offset: number, windows = shopWindows): Promise<void> {
  for (const [at, size] of shopWindows.entries()) {
    if (!windows.includes(size)) continue;
    await resizeWindow(page, size);
    const shown = `${label} ${size.width}${size.zoom ? `-zoom-${size.zoom}` : ""}`;
    expect(await page.evaluate("devicePixelRatio"), shown).toBe(size.zoom ?? 1);
    const modes = sample(shopModes, { offset: Math.floor(offset / 2) + at, step: shopModes.length });
    const isChecked = isSlowSuite || windows.length < shopWindows.length || (offset + at) % 2 === 0;
    for (const mode of isChecked ? modes : []) {
      await page.emulateMedia(mode);
      const name = `${shown} ${mode.colorScheme} ${mode.forcedColors}`;
      await takeScreenshot(page, `elements-${name.replaceAll(" ", "-")}`);
      expect(await findWcagIssues(page), name).toEqual([]);
    }
    expect(await overflowOf(page), shown).toBeLessThanOrEqual(0);
    expect(await findSmallTargets(page), shown).toEqual([]);
  }
}

/** Presses Tab until a control has the focus, which must be visible, as a shopper without a mouse does. */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor({ state: "attached" });
  for (let at = 0; at < 200; at += 1) {
    const state = await control.evaluate(findFocus);
    if (state !== "") return expect(state).not.toBe("none");
    await page.keyboard.press("Tab");
  }
  throw new Error(`${control.toString()} cannot be reached with Tab`);
}

/** The style of the outline of a control that has the focus, or an empty text. An invisible control has that of its label. */
function findFocus(control: unknown): string {
  const node = control as { matches(css: string): boolean; closest(css: string): unknown };
  if (!node.matches(":focus")) return "";
  const { getComputedStyle } = globalThis as unknown as { getComputedStyle: (of: unknown) => { outlineStyle: string } };
  return getComputedStyle(node.matches(".unseen") ? node.closest("label") : node).outlineStyle;
}

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

/** Scrolls to each element, which then loads. */
export async function showElements(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    for (const element of document.querySelectorAll("starpost-review-form, starpost-questions, starpost-photos, starpost-carousel")) {
      element.scrollIntoView({ behavior: "instant" });
      await customElements.whenDefined(element.localName);
    }
  })()`);
  await page.waitForLoadState("networkidle");
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
