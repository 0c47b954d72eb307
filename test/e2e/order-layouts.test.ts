import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { Homes, type Home } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const withUrl = ["--product-url", "https://shop.example/p/{product_id}"];

/** The stored units: order, platform, address, customer, day, currency, product, price, and number. */
function unitsOf(home: Home): string[] {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  try {
    return file
      .all(
        `select order_id, platform, email, customer_name, date(order_date / 1000, 'unixepoch') as day,
           orders.currency_iso as currency, product_id, purchases.price as price, count(*) as units
         from orders join purchases on order_row = orders.id join products on products.id = product_row
         group by order_row, product_id order by order_id, product_id`,
      )
      .map((row) => Object.values(row).join(" "));
  } finally {
    file.close();
  }
}

describe("order exports of further shop systems", () => {
  const ann = "juergen@example.com Jürgen Groß";
  test.each([
    ["etsy-orders", /Etsy exports no email addresses/, /each order's page/],
    ["woocommerce-analytics-orders", /WooCommerce Analytics have no email addresses/, /Advanced Order Export/],
  ])("refuses %s before anything is sent", async (name, reason, hint) => {
    const home = homes.open();
    const { exitCode, stderr } = await home.run(["orders", "import", `fixtures/layouts/${name}.csv`, ...withUrl]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(hint);
    expect((await home.run(["imports", "list", "--json"])).stdout.trim()).toBe("[]");
  });

  test("imports an Etsy file to which addresses were added", async () => {
    const home = homes.open();
    const [header, row] = readFileSync("fixtures/layouts/etsy-orders.csv", "utf8").trim().split("\n");
    const file = join(home.folder, "etsy.csv");
    writeFileSync(file, `${header},email\n${row},juergen@example.com\n`);
    expect((await home.json(["orders", "import", file, ...withUrl])).exitCode).toBe(0);
    expect(unitsOf(home)).toEqual([`3001 general ${ann} 2026-05-02 EUR 901 12.5 2`]);
  });
});

const shopify =
  "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name\n" +
  "#1,ann@mail.example,2026-10-01 10:00:00 -0400,1,Tea pot - Blue,10,,Ann Lee\n" +
  "#2,,2026-10-01 10:00:00 -0400,1,Cup,5,CUP-1,Bo\n" +
  "#2,,,1,Tea pot,10,,\n" +
  "#3,,2026-10-02 10:00:00 -0400,1,Cup,5,CUP-1,Cy\n" +
  "#4,di@mail.example,2026-10-02 10:00:00 -0400,1,Cup,5,CUP-1,Di\n";

describe("a Shopify export with missing SKUs and addresses", () => {
  test("makes IDs of names, and counts orders without an address once", async () => {
    const home = homes.open();
    const file = join(home.folder, "orders.csv");
    writeFileSync(file, shopify);
    const first = await home.json(["orders", "import", file, ...withUrl, "--product-id-from", "sku"]);
    expect(first.data.rows).toEqual({ read: 5, accepted: 1, rejected: 4, failed: 0 });
    expect(first.stderr).toMatch(/3 rows of 2 orders: Email is missing .*add an email address/);
    expect(first.stderr).toMatch(/1 row: Lineitem sku is missing .*pass --product-id-from sku,name --fix-ids/);
    const rejects = parse(readFileSync(first.data.rejects_file ?? "", "utf8"), { columns: true }) as Record<
      string,
      string
    >[];
    expect(rejects.map(({ Name, _column, _code }) => [Name, _column, _code])).toEqual([
      ["#1", "Lineitem sku", "missing"],
      ["#2", "Email", "missing"],
      ["#2", "Email", "missing"],
      ["#3", "Email", "missing"],
    ]);
    const second = await home.json(["orders", "import", file, ...withUrl]);
    expect(second.stderr).not.toMatch(/--product-id-from/);
    expect(second.data.rows).toEqual({ read: 5, accepted: 2, rejected: 3, failed: 0 });
    const [pair, ...others] = parse(
      readFileSync((second.data as { readonly fixed_ids_file?: string }).fixed_ids_file ?? "", "utf8"),
      { columns: true },
    ) as Record<string, string>[];
    expect(others).toEqual([]);
    expect(pair).toMatchObject({ original: "Tea pot - Blue", line: "2" });
    expect(unitsOf(home)).toEqual([
      `1 shopify ann@mail.example Ann Lee 2026-10-01  ${pair?.["fixed"]} 10 1`,
      "4 shopify di@mail.example Di 2026-10-02  CUP-1 5 1",
    ]);
  });
});
