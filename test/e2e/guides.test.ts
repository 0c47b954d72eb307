import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runLine, runTour, type Shell } from "../support/readme.ts";

const dayMs = 86_400_000;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** An empty folder of a person who has `starpost` on the path and a screen of 80 columns. */
function openShell(): Shell {
  const cwd = mkdtempSync(join(tmpdir(), "starpost-guide-"));
  folders.push(cwd);
  mkdirSync(join(cwd, ".bin"));
  symlinkSync(resolve("bin/starpost.js"), join(cwd, ".bin", "starpost"));
  const path = [join(cwd, ".bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(":");
  return {
    cwd,
    env: { PATH: path, HOME: cwd, STARPOST_HOME: join(cwd, "starpost"), STARPOST_BY: "kim", COLUMNS: "80" },
    isInProcess: true,
  };
}

/** Replaces what differs between runs: IDs of runs, the folder, and durations. */
function normalize(text: string, { cwd }: Shell): string {
  return text
    .replaceAll(cwd, "~")
    .replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, "20261122-120000-a1b2c3")
    .replaceAll(/\(\d+(?:\.\d+)? m?s\)/g, "(1.2 s)");
}

async function expectToPrint(page: string, shell: Shell, change = (text: string) => text): Promise<string> {
  const path = resolve("docs/guides", page);
  const toured = change(normalize(await runTour(readFileSync(path, "utf8"), shell), shell));
  await expect(toured).toMatchFileSnapshot(path);
  return toured;
}

test("the guide to Shopify orders prints what its commands print", async () => {
  const shell = openShell();
  copyFileSync(resolve("fixtures/guides/shopify-orders-gaps.csv"), join(shell.cwd, "orders_export.csv"));
  const toured = await expectToPrint("import-shopify-orders.md", shell);
  expect(toured).toContain("3 rows of 2 orders: Email is missing");
});

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Writes dates as if today were 2026-11-22, and times as 10:15. */
function fixDates(text: string): string {
  const shiftMs = Date.parse("2026-11-22") - Date.parse(daysAgo(0));
  const fixDay = (day: string) => new Date(Date.parse(day) + shiftMs).toISOString().slice(0, 10);
  return text
    .replaceAll(/\b\d{4}-\d\d-\d\d(?=[T\s,.]|$)/gm, fixDay)
    .replaceAll(/(?<=\d{4}-\d\d-\d\d[T ])(?!00:00)\d\d:\d\d(?::\d\d\.\d{3})?(?=Z)/g, "10:15")
    .replaceAll(/\bv1\.[\w-]+\.[\w-]+/g, "v1.1fe0e845.3KWOkO8V");
}

/** Fills a shop with orders, reviews, a question, and emails. */
async function openShop(): Promise<Shell> {
  const shell = openShell();
  const lineItem = (id: string, name: string, price: string) => `${id},${name},https://shop.example/${id},${price},EUR`;
  const teapot = lineItem("teapot", "Teapot", "25.00");
  const orders = [
    "order_id,email,customer_name,order_date,product_id,product_name,product_url,product_price,currency_iso",
    `1001,ann@mail.example,Ann Lee,${daysAgo(20)},${teapot}`,
    `1001,ann@mail.example,Ann Lee,${daysAgo(20)},${lineItem("mug", "Mug", "9.00")}`,
    `1002,bo@mail.example,Bo Diaz,${daysAgo(18)},${teapot}`,
    `1003,ann@mail.example,Ann Lee,${daysAgo(2)},${lineItem("samovar", "Samovar", "120.00")}`,
  ];
  const reviews = [
    "product_id,review_title,review_content,review_score,display_name,email,date",
    `teapot,Good,It pours well,5,Bo Diaz,bo@mail.example,${daysAgo(30)}`,
    `teapot,Drips,The spout drips on the table,2,Cy Weber,cy@mail.example,${daysAgo(3)}`,
    `mug,Broken,It arrived with a broken handle,1,Ann Lee,ann@mail.example,${daysAgo(1)}`,
  ];
  writeFileSync(join(shell.cwd, "orders.csv"), `${orders.join("\n")}\n`);
  writeFileSync(join(shell.cwd, "reviews.csv"), `${reviews.join("\n")}\n`);
  for (const line of [
    "starpost orders import orders.csv --send-mail",
    "starpost reviews import reviews.csv",
    `starpost questions ask --review-content 'Can it go into the dishwasher?' --display-name 'Dee Roy' --email dee@mail.example --product-id mug --product-title Mug --product-url https://shop.example/mug`,
    `starpost reviews create --sku teapot --product-title Teapot --product-url https://shop.example/teapot --display-name Spam --email spam@mail.example --review-title 'Visit https://spam.example' --review-content 'Cheap pots' --review-score 5`,
    // The store's own reviews are never held.
    "starpost reviews requeue 4 --reason 'contains a link'",
    "starpost questions publish 1",
    "starpost mail run --once --public-url https://reviews.shop.example",
  ]) {
    const { exitCode, output } = await runLine(line, shell);
    expect(exitCode, output).toBe(0);
  }
  return shell;
}

test("the guide to a support day prints what its commands print", async () => {
  const shell = await openShop();
  const toured = await expectToPrint("support-desk.md", shell, fixDates);
  expect(toured.match(/^## \d+\. /gm)?.length).toBeGreaterThanOrEqual(20);
  expect(toured).not.toMatch(/^error: /m);
}, 180_000);
