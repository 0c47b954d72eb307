import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Homes, type Summary } from "../support/starpost.ts";

/** Real exports of shops, which are not part of the project. */
const data = process.env["STARPOST_TEST_DATA"] ?? "../shared/data";
const isThere = existsSync(data);

/** Smaller ones, which are. */
const fixtures = "fixtures/exports";

const homes = new Homes();
afterAll(() => homes.remove());

interface Verified {
  readonly missing_count: number;
  readonly different_count: number;
}

type Kind = "orders" | "products";

function filesIn(folder: string): (readonly [kind: Kind, path: string])[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(?:csv|txt)$/.test(name))
    .flatMap((name) => {
      const kind = (["orders", "products"] as const).find((one) => name.includes(one));
      return kind ? [[kind, join(folder, name)] as const] : [];
    });
}

/** Imports a file with `--verify`; undefined if its layout is refused. */
async function load(kind: Kind, path: string, home = homes.open()) {
  const args = [kind, "import", path, "--product-url", "https://shop.example/{product_id}", "--verify"];
  const { data: summary, exitCode } = await home.json<Summary & { verified: Verified }>(args);
  return exitCode === 2 ? undefined : summary;
}

async function expectUnchanged(kind: Kind, path: string): Promise<boolean> {
  const home = homes.open();
  const first = await load(kind, path, home);
  if (!first) return false;
  for (const summary of [first, await load(kind, path, home)]) {
    const { accepted, created, changed, unchanged } = summary?.items ?? first.items;
    expect(accepted).toBeGreaterThan(0);
    expect([created, changed, unchanged]).not.toContain(null);
    expect((created ?? 0) + (changed ?? 0) + (unchanged ?? 0)).toBe(accepted);
    expect(summary?.verified).toMatchObject({ missing_count: 0, different_count: 0 });
    if (summary !== first) expect({ created, changed }).toEqual({ created: 0, changed: 0 });
  }
  return true;
}

describe("a file that is imported twice changes nothing the second time", () => {
  test.each(filesIn(fixtures))("%s: %s", async (kind, path) => {
    expect(await expectUnchanged(kind, path)).toBe(true);
  });
});

const title = isThere ? "real exports" : `real exports: skipped because ${data} does not exist`;

describe.skipIf(!isThere)(title, () => {
  test.each(filesIn(data))("%s: %s", { timeout: 120_000 }, async (kind, path) => {
    expect(await expectUnchanged(kind, path)).toBe(true);
  });

  const layouts = join(data, "layouts/orders");
  /** Exports without email addresses. */
  const refused = new Set(["etsy.csv", "wooanalytics.csv"]);
  const others = existsSync(layouts) ? readdirSync(layouts) : [];
  test.each(others)("orders: layouts/orders/%s", async (name) => {
    expect(await expectUnchanged("orders", join(layouts, name))).toBe(!refused.has(name));
  });
});
