import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AxeResults, RunOptions } from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, it } from "vitest";

/** The window sizes: a phone and a desktop. */
export const viewports = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 900 } } as const;
export type ViewportName = keyof typeof viewports;

/** Debian's browser, or the one in `CHROMIUM`. The headless shell is the fastest. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const knownPaths = names.map((name) => `/usr/bin/${name}`);
const chromiumPath = [process.env["CHROMIUM"] ?? "", ...knownPaths].find((path) => path !== "" && existsSync(path));

export interface OpenOptions {
  readonly viewport?: ViewportName;
  readonly colorScheme?: "light" | "dark";
  /** Default: true. */
  readonly javaScript?: boolean;
}

/** A page in its own browser context, with separate cookies and caches. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Warnings and errors in the browser's console, including blocked scripts, styles, and images. */
  readonly complaints: readonly string[];
}

/** The browser logs the status of a form submitted with errors; the page itself is fine. */
export const isExpected422 = (complaint: string) => complaint.includes("status of 422");

export interface TestBrowser {
  /** Opens a URL, or an empty page. */
  readonly open: (url?: string, options?: OpenOptions) => Promise<OpenPage>;
}

/**
 * Runs a suite with a browser. Without one, the suite is skipped with a note.
 * Pages are closed after each test.
 */
export function describeInBrowser(title: string, suite: (browser: TestBrowser) => void): void {
  if (chromiumPath === undefined) {
    it.skip(
      `${title}: no Chromium is installed; install Debian's chromium-headless-shell, or set CHROMIUM to its path`,
    );
    return;
  }
  describe(title, () => {
    let browser: Browser | undefined;
    const opened: BrowserContext[] = [];
    beforeAll(async () => {
      // The sandbox is not available to root or in most containers.
      browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    });
    afterEach(async () => {
      for (const context of opened.splice(0)) await context.close();
    });
    afterAll(() => browser?.close());
    suite({
      open: async (url, options) => {
        if (!browser) throw new Error("the browser is open only while a test runs");
        const made = await openPage(browser, options);
        opened.push(made.context);
        if (url !== undefined) await made.page.goto(url);
        return made;
      },
    });
  });
}

const logViolations = `document.addEventListener("securitypolicyviolation", (event) =>
  console.error("the policy's " + event.violatedDirective + " refused " + event.blockedURI));`;

async function openPage(
  browser: Browser,
  { viewport = "phone", colorScheme = "light", javaScript = true }: OpenOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: viewports[viewport],
    colorScheme,
    javaScriptEnabled: javaScript,
    locale: "en-GB",
  });
  // Init scripts run before the page's own scripts, regardless of its content security policy.
  await context.addInitScript({ content: logViolations });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isOfBrowser = message.location().url.endsWith("/favicon.ico");
    if (["error", "warning"].includes(message.type()) && !isOfBrowser) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, context, complaints };
}

/** A size of the window, in pixels of the screen. */
export interface WindowSize {
  readonly width: number;
  readonly height: number;
  /** The browser's zoom factor; 2 is 200 %. Default: 1. */
  readonly zoom?: number;
}

/** Resizes the window. Zoom makes CSS pixels larger, so that fewer fit. */
export async function resizeWindow(page: Page, { width, height, zoom = 1 }: WindowSize): Promise<void> {
  const size = { width: Math.round(width / zoom), height: Math.round(height / zoom) };
  await page.setViewportSize(size);
  if (zoom === 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setDeviceMetricsOverride", { ...size, deviceScaleFactor: zoom, mobile: false });
}

/** Saves a screenshot to the folder in `STARPOST_TEST_SCREENSHOTS`, if set. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env["STARPOST_TEST_SCREENSHOTS"];
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

let axeText: Promise<string> | undefined;

function axeSource(): Promise<string> {
  return (axeText ??= readFile("node_modules/axe-core/axe.min.js", "utf8"));
}

async function loadAxe(page: Page): Promise<void> {
  // Evaluated by the debugger, which the page's content security policy does not restrict.
  const isLoaded = await page.evaluate(() => "axe" in globalThis);
  if (!isLoaded) await page.evaluate(await axeSource());
}

async function runAxe(page: Page, options: RunOptions): Promise<AxeResults> {
  await loadAxe(page);
  return await page.evaluate(
    (given) => (globalThis as unknown as { axe: { run: (o: unknown) => Promise<AxeResults> } }).axe.run(given),
    { resultTypes: ["violations", "incomplete"], ...options } satisfies RunOptions,
  );
}

function formatResults(results: AxeResults["violations"]): string[] {
  return results.map(({ id, impact, help, nodes }) => `${impact}: ${id}: ${help}: ${nodes[0]?.html ?? ""}`);
}

/**
 * Checks a page with axe-core.
 * @param rules the rules to check (default: all)
 * @returns one line for each serious or critical violation
 */
export async function findAccessibilityIssues(page: Page, rules?: readonly string[]): Promise<string[]> {
  const { violations } = await runAxe(page, rules ? { runOnly: { type: "rule", values: [...rules] } } : {});
  return formatResults(violations.filter(({ impact }) => impact === "serious" || impact === "critical"));
}

/** Checks a page with axe-core against WCAG 2.2 AA. @returns one line for each violation */
export async function findWcagIssues(page: Page, rules?: readonly string[]): Promise<string[]> {
  const values = rules ?? ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await runAxe(page, { runOnly: { type: rules ? "rule" : "tag", values: [...values] } });
  return formatResults(violations);
}

/** The default options of the check, but also for text of one character, such as stars. */
const contrastOptions = {
  ignoreUnicode: false,
  ignoreLength: true,
  ignorePseudo: false,
  boldValue: 700,
  boldTextPt: 14,
  largeTextPt: 18,
  contrastRatio: { normal: { expected: 4.5 }, large: { expected: 3 } },
  pseudoSizeThreshold: 0.25,
  shadowOutlineEmMax: 0.2,
  textStrokeEmMin: 0.03,
};

/**
 * Checks an email with axe-core, except for the rules about complete pages: an email client shows it within its own page.
 * @returns one line for each violation, or contrast that could not be determined
 */
export async function findEmailIssues(page: Page): Promise<string[]> {
  await loadAxe(page);
  await page.evaluate(
    (spec) => (globalThis as unknown as { axe: { configure: (given: unknown) => void } }).axe.configure(spec),
    { checks: [{ id: "color-contrast", options: contrastOptions }] },
  );
  const ofPages = ["landmark-one-main", "page-has-heading-one", "region"];
  const { violations, incomplete } = await runAxe(page, {
    rules: Object.fromEntries(ofPages.map((id) => [id, { enabled: false }])),
    preload: false,
  });
  return formatResults([...violations, ...incomplete.filter(({ id }) => id === "color-contrast")]);
}
