// Renders docs/images/emails-*.webp: all built-in emails on a phone and a desktop, in light and dark mode, one picture for
// each language. Needs Chromium, and fonts for these languages (Debian: fonts-noto-core, fonts-noto-cjk).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { importSource } from "./generated-modules.js";

const languages = ["en", "de", "ja", "ar"];
const images = join(import.meta.dirname, "../docs/images");
const maxBytes = 150_000;

const [{ createBrand, sentEmailCategories }, { createSampleEmail }, { renderOutgoing }] = await Promise.all(
  ["src/contract/index.ts", "src/email/templates/check-template.ts", "src/email/templates/render-email.ts"].map(
    importSource,
  ),
);

const svg = (width, height, shapes) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${shapes}</svg>`;
const teapot = `<rect width="180" height="130" rx="6" fill="#f2e9dc"/><g fill="#4b7f9d">
<path d="M40 40h70q12 0 12 14v32q0 34-34 34H66q-34 0-34-34V54q0-14 8-14zM120 58q34-4 42-22l10 6q-10 44-52 50z"/>
<path d="M34 56Q4 52 6 78t30 24" fill="none" stroke="#4b7f9d" stroke-width="9"/></g>
<path d="M46 40q29-26 58 0z" fill="#36617a"/><circle cx="75" cy="24" r="6" fill="#36617a"/>`;
const logo = `<circle cx="30" cy="30" r="26" fill="#1f6fb5"/>
<path d="M18 24h22v8a11 11 0 0 1-22 0zM40 26h4a5 5 0 0 1-4 9z" fill="#fff"/>
<text x="66" y="40" font-family="Noto Serif, serif" font-size="28" fill="#3484cc">Tea &amp; Cups</text>`;
/** What the URLs in the emails show. */
const pictures = { "/teapot.png": svg(180, 130, teapot), "/logo.png": svg(240, 60, logo) };

const brandOf = (language) =>
  createBrand(
    {
      language,
      postal_address: "Tea & Cups\n1 Harbor Street, 20457 Hamburg",
      privacy_url: "https://shop.example/privacy",
      terms_url: "https://shop.example/terms",
    },
    { logo_url: "https://shop.example/logo.png", logo_width: 240, logo_height: 60 },
  );

const style = `
  body { margin: 0; zoom: 0.4; background: #fff; }
  table { border-spacing: 20px; }
  td { vertical-align: top; }
  th { text-align: start; font: bold 34px sans-serif; }
  img { display: block; outline: 2px solid #888; }
`;

const shots = [375, 1_280].flatMap((width) => ["light", "dark"].map((scheme) => ({ width, scheme })));

/** Takes pictures of all emails, and arranges them in one: a row for each email. */
async function drawEmails(browser, language) {
  const context = await browser.newContext({ deviceScaleFactor: 1 });
  await context.route("**", (route) => {
    const picture = pictures[new URL(route.request().url()).pathname];
    return picture ? route.fulfill({ body: picture, contentType: "image/svg+xml" }) : route.abort();
  });
  const page = await context.newPage();
  const rows = [];
  for (const category of sentEmailCategories) {
    const { html } = await renderOutgoing({ ...createSampleEmail(category), brand: brandOf(language) });
    await page.setContent(html, { waitUntil: "load" });
    const row = [];
    for (const { width, scheme } of shots) {
      await page.setViewportSize({ width, height: 100 });
      await page.emulateMedia({ colorScheme: scheme });
      const picture = await page.screenshot({ fullPage: true });
      row.push(`<td><img src="data:image/png;base64,${picture.toString("base64")}" width="${width}" alt=""></td>`);
    }
    rows.push(`<tr><th colspan="${shots.length}">${category}</th></tr><tr>${row.join("")}</tr>`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setContent(`<style>${style}</style><table>${rows.join("")}</table>`, { waitUntil: "load" });
  const { width, height } = await page.locator("table").boundingBox();
  await page.setViewportSize({ width: Math.ceil(width), height: Math.ceil(height) });
  const cdp = await context.newCDPSession(page);
  for (let quality = 50; quality > 0; quality -= 5) {
    const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality });
    const picture = Buffer.from(data, "base64");
    if (picture.length <= maxBytes) return picture;
  }
  throw new Error(`the picture of the emails in ${language} has more than ${maxBytes} bytes`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const language of languages) {
    writeFileSync(join(images, `emails-${language}.webp`), await drawEmails(browser, language));
  }
} finally {
  await browser.close();
}
