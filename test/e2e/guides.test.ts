import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runTour } from "../support/readme.ts";

const cwd = mkdtempSync(join(tmpdir(), "starpost-guide-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));

/** Replaces what differs between runs: IDs of runs, the folder, and durations. */
function normalize(text: string): string {
  return text
    .replaceAll(cwd, "~")
    .replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, "20261122-120000-a1b2c3")
    .replaceAll(/\(\d+(?:\.\d+)? m?s\)/g, "(1.2 s)");
}

test("the guide to Shopify orders prints what its commands print", async () => {
  mkdirSync(join(cwd, ".bin"));
  symlinkSync(resolve("bin/starpost.js"), join(cwd, ".bin", "starpost"));
  copyFileSync(resolve("fixtures/guides/shopify-orders-gaps.csv"), join(cwd, "orders_export.csv"));
  const path = [join(cwd, ".bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(":");
  const env = { PATH: path, HOME: cwd, STARPOST_HOME: join(cwd, "starpost"), COLUMNS: "80" };
  const page = resolve("docs/guides/import-shopify-orders.md");
  const toured = normalize(await runTour(readFileSync(page, "utf8"), { cwd, env }));
  expect(toured).toContain("3 rows of 2 orders: Email is missing");
  await expect(toured).toMatchFileSnapshot(page);
});
