import { join } from "node:path";
import { build } from "esbuild";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser } from "../support/browser.ts";
import { showElements } from "../support/element-checks.ts";
import { ReactShop } from "../support/react-shop.ts";
import { addQuestions, openStorefront, type Storefront } from "../support/storefront.ts";

/** Takes over the HTML of the server, and collects the errors that React reports later. */
const hydrate = `
  import { createElement } from "react";
  import { hydrateRoot } from "react-dom/client";
  import { ReactShop } from "./react-shop.ts";
  globalThis.errors = [];
  const onRecoverableError = (error) => errors.push(String(error));
  hydrateRoot(document.getElementById("root"), createElement(ReactShop), { onRecoverableError });
`;

describeInBrowser("elements in React 19", (browser) => {
  let shop: Storefront;
  let client: string;
  beforeAll(async () => {
    shop = await openStorefront();
    await addQuestions(shop, { sku: "pot", count: 4 });
    const { outputFiles } = await build({
      stdin: { contents: hydrate, resolveDir: join(import.meta.dirname, "../support") },
      bundle: true,
      write: false,
    });
    client = outputFiles[0]?.text ?? "";
  });
  afterAll(() => shop.close());

  it.each(["before", "after"])("are taken over %s they are loaded, changed, and added", async (order) => {
    const { page, complaints } = await browser.open(undefined, { viewport: "desktop" });
    let load = () => {};
    const isLoaded = new Promise<void>((resolve) => (load = resolve));
    if (order === "after") load();
    await page.route("**/elements.js*", async (route) => {
      await isLoaded;
      await route.continue();
    });
    const url = shop.showPage(`<div id="root">${renderToString(createElement(ReactShop))}</div>`);
    await page.goto(url, { waitUntil: "commit" });
    await page.locator("starpost-carousel p").waitFor();
    if (order === "after") await showElements(page);
    await page.evaluate(client);
    load();
    await page.locator("article").first().waitFor();
    await showElements(page);
    const counts = { article: 5, ".question": 3, "starpost-photos li": 3, "starpost-carousel li": 12 };
    for (const [css, count] of Object.entries(counts)) expect(await page.locator(css).count(), css).toBe(count);
    await page.locator("starpost-review-form form").waitFor();

    await page.locator("#more").click();
    await showElements(page);
    await page.locator("#added .question").nth(3).waitFor();
    await page.locator("#added starpost-carousel li").nth(11).waitFor();

    await page.locator("#other").click();
    for (const text of ["There are no reviews yet.", "No questions yet.", "No photos yet."]) {
      await page.getByText(text).first().waitFor();
    }
    expect(await page.evaluate("errors")).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
