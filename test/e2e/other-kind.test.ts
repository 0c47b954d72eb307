import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeZip } from "../support/archives.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

let home: Home;
beforeAll(() => {
  home = homes.open();
});

const orders = "fixtures/good/orders.csv";
const products = "fixtures/good/products.csv";

describe("a file of another kind", () => {
  test.each<[string, string[], string]>([
    ["unsubscribers import", [orders, "--type", "1"], `starpost orders import ${orders};`],
    ["unsubscribers import", [orders, "--type", "1", "--remove"], `starpost orders import ${orders};`],
    ["unsubscribers import", [orders, "--type", "1", "--dry-run"], `starpost orders import ${orders};`],
    ["unsubscribers plan", [orders, "--type", "1"], `starpost orders import ${orders};`],
    ["unsubscribers sync", [orders, "--type", "1", "--plan"], `starpost orders import ${orders};`],
    ["unsubscribers import", ["fixtures/exports/reviews.csv", "--type", "1"], "starpost reviews import "],
    ["unsubscribers import", ["fixtures/layouts/shopify-orders.csv", "--type", "1"], "starpost orders import "],
    ["products import", [orders], `starpost orders import ${orders};`],
    ["products import", [products, orders], `starpost orders import ${orders};`],
    ["products import", ["fixtures/good/groups.csv", "--update"], "starpost groups import fixtures/good/groups.csv;"],
  ])("is refused by %s %j, with the right command", async (words, args, command) => {
    const { exitCode, stderr, stdout } = await home.run([...words.split(" "), ...args]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(`run: ${command}`);
    expect(stderr).toContain("--force");
    expect((await home.json<unknown>(["imports", "list"])).data).toEqual([]);
  });

  test.each<[string, string[], RegExp]>([
    ["orders import", [products], /run: starpost products import fixtures\/good\/products\.csv$/m],
    ["reviews import", [orders], /run: starpost orders import fixtures\/good\/orders\.csv$/m],
    ["unsubscribers import", [orders], /run: starpost orders import fixtures\/good\/orders\.csv$/m],
    ["orders import", ["fixtures/good/coupons.csv"], /run: starpost coupons import \S+ --action <action>$/m],
    ["orders import", [orders, "--layout", "shopify"], /remove --layout shopify$/m],
    ["products import", ["fixtures/good/products-catalog.csv", "--layout", "shopify"], /remove --layout shopify$/m],
    ["products import", ["fixtures/layouts/shopify-products.csv", "--layout", "magento"], /remove --layout magento$/m],
  ])("is named in the hint of %s %j", async (words, args, hint) => {
    const { exitCode, stderr } = await home.run([...words.split(" "), ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(hint);
  });

  test("is refused from an archive and from standard input, with a command that works there", async () => {
    const archive = join(home.folder, "my export.zip");
    writeFileSync(archive, makeZip([{ name: "orders.csv", bytes: readFileSync(orders) }]));
    const packed = await home.run(["products", "import", archive]);
    expect(packed.exitCode).toBe(2);
    expect(packed.stderr).toContain(`run: starpost orders import '${archive}';`);
    const piped = await home.run(["products", "import", "-"], { input: readFileSync(orders, "utf8") });
    expect(piped.exitCode).toBe(2);
    expect(piped.stderr).toContain("run: starpost orders import -;");
  });

  test.each([[["-p", "shop"]], [["--profile=shop"]], [["--json", "--profile", "shop"]]])(
    "is refused with a command for the profile of %j",
    async (flags) => {
      const own = homes.open();
      await own.run(["profile", "add", "shop", "--database", join(own.folder, "shop.db")]);
      const { exitCode, stderr } = await own.run(["products", "import", orders, "--dry-run", ...flags]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`run: starpost orders import ${orders} --profile shop;`);
    },
  );

  test.each([[["--force"]], [["--map", "product_id=product_id"]], [["--layout", "none"]]])(
    "is imported with %j, because the person has decided",
    async (flags) => {
      const own = homes.open();
      const { exitCode, data } = await own.json(["products", "import", orders, ...flags]);
      expect(exitCode).toBe(0);
      expect(data.rows.rejected).toBe(0);
      const verified = await own.run(["imports", "verify", data.import_id]);
      expect(verified.exitCode).toBe(0);
    },
  );

  test("is not what a list of addresses is", async () => {
    const list = join(home.folder, "list.csv");
    writeFileSync(list, "Email,First Name,Last Name,Title\nann@example.com,Ann,Lee,Ms\n");
    const { exitCode } = await home.run(["unsubscribers", "import", list, "--type", "1", "--dry-run"]);
    expect(exitCode).toBe(0);
  });
});
