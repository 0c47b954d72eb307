import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readReadme, recipesUnder, runLine, runTour, type Shell } from "../support/readme.ts";
import { Homes, remoteEnv } from "../support/starpost.ts";

const folders: string[] = [];
const homes = new Homes();

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  homes.remove();
});

/** An empty folder of a person who has `starpost` on the path. */
function openShell(): Shell {
  const cwd = mkdtempSync(join(tmpdir(), "starpost-readme-"));
  folders.push(cwd);
  mkdirSync(join(cwd, ".bin"));
  symlinkSync(resolve("bin/starpost.js"), join(cwd, ".bin", "starpost"));
  const path = [join(cwd, ".bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(":");
  return { cwd, env: { PATH: path, HOME: cwd, STARPOST_HOME: join(cwd, "starpost") }, isInProcess: true };
}

/** The files that the recipes speak of. */
function putFiles({ cwd }: Shell): void {
  const put = (from: string, to: string) => copyFileSync(resolve("fixtures", from), join(cwd, to));
  // The shop's order IDs must not be those of the other file, which has other customers.
  const shopOrders = readFileSync(resolve("fixtures/layouts/shopify-orders.csv"), "utf8").replaceAll("#1", "#2");
  writeFileSync(join(cwd, "orders_export.csv"), shopOrders);
  put("good/orders.csv", "orders.csv");
  put("good/products.csv", "products.csv");
  put("good/coupons.csv", "codes.csv");
  put("good/unsubscribers.csv", "everyone.csv");
}

const hasJq = spawnSync("jq", ["--version"]).status === 0;

/** Every line has to end well, after those before it. Those that need jq are left out where there is none. */
async function expectLinesToWork(lines: readonly string[], shell: Shell): Promise<void> {
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) {
    if (!hasJq && /\bjq\b/.test(line)) continue;
    const { exitCode, output } = await runLine(line, shell);
    expect(exitCode, `${line}\n${output}`).toBe(0);
  }
}

describe("the README", () => {
  const readme = readReadme();
  const shopper = openShell();

  test("fits in the first minutes of a reader", () => {
    expect(readme.split("\n").length).toBeLessThan(130);
  });

  test("has a tour that prints what it says", async () => {
    const toured = await runTour(readme, shopper);
    expect(toured).not.toMatch(/^error: /m);
    await expect(toured).toMatchFileSnapshot(resolve("README.md"));
  });

  describe("for CI", () => {
    let server: Awaited<ReturnType<ReturnType<Homes["open"]>["serve"]>>;
    beforeAll(async () => {
      server = await homes.open().serve();
    });
    afterAll(() => server.stop());

    test("has recipes that work against a service elsewhere", async () => {
      const shell = openShell();
      putFiles(shell);
      const env = { ...shell.env, CI: "true", ...remoteEnv(server) };
      await expectLinesToWork(recipesUnder(readme, "CI"), { ...shell, env });
    });
  });
});
