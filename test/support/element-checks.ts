import { setTimeout as wait } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";

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

/** Adds up the layout shifts of the next page. */
export async function observeShifts({ context }: { readonly context: BrowserContext }): Promise<void> {
  await context.addInitScript(`globalThis.shift = 0; new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value;
  }).observe({ type: "layout-shift", buffered: true });`);
}

/** The layout shift since then. */
export async function shiftOf(page: Page): Promise<number> {
  await wait(300);
  return await page.evaluate<number>("globalThis.shift");
}
