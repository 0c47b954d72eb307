import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { Homes, type Home } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const withUrl = ["--product-url", "https://shop.example/p/{product_id}"];

type Row = Readonly<Record<string, unknown>>;

function query(home: Home, sql: string): Row[] {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  try {
    return [...file.iterate(sql)].map((row) => Object.assign({}, row));
  } finally {
    file.close();
  }
}

/** The stored orders with their products and units. */
function ordersOf(home: Home): Row[] {
  return query(
    home,
    `select order_id, platform, email, customer_name, date(order_date / 1000, 'unixepoch') as day,
       orders.currency_iso as currency, group_concat(line, ' + ') as lines
     from orders join (
       select order_row, product_id || ' × ' || count(*) || ' at ' || min(purchases.price) as line
       from purchases join products on products.id = product_row group by order_row, product_id
     ) on order_row = orders.id group by orders.id order by orders.id`,
  );
}

async function load(kind: "orders" | "products", file: string, more: readonly string[] = withUrl) {
  const home = homes.open();
  const result = await home.json([kind, "import", file, ...more]);
  return { home, ...result };
}

const own = (name: string) => `fixtures/layouts/${name}.csv`;

describe("order exports of shop platforms", () => {
  test("rejects an unknown layout and lists all names, including native and short names", async () => {
    const home = homes.open();
    const file = join(home.folder, "orders.csv");
    writeFileSync(file, "order_id\n1\n");
    const refused = await home.run(["orders", "import", file, "--layout", "nonsense"]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /native \(or none\), shopify \(or shopify-orders\), matrixify \(or matrixify-orders\), woo/,
      ),
    ]);
  });

  test("resumes a shop export with the same layout", async () => {
    const home = homes.open();
    const file = join(home.folder, "orders.csv");
    const rows = Array.from({ length: 60 }, (_, at) => [
      `#${at},c${at}@example.com,2026-01-02,2,Mug,5,M-1,Ada\n`,
      `#${at},,,1,Cup,5,${at % 2 === 0 ? "C 1" : "C-1"},\n`,
    ]);
    writeFileSync(
      file,
      `Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name\n${rows.flat().join("")}`,
    );
    const stopped = await home.json(["orders", "import", file, ...withUrl, "--max-errors", "20", "--batch-size", "5"]);
    expect(stopped.exitCode).toBe(6);
    const resumed = await home.json(["imports", "resume", stopped.data.import_id, "--max-errors", "100"]);
    expect(resumed.data.rows).toEqual({ read: 120, accepted: 60, rejected: 60, failed: 0 });
    expect(ordersOf(home)).toHaveLength(30);
  });
});

describe("product exports of shop platforms", () => {
  test("sends nothing without product URLs, and names the flag", async () => {
    const { home, exitCode, stderr } = await load("products", own("shopify-products"), []);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        kind: "usage",
        message: expect.stringContaining(own("shopify-products")),
        hint: expect.stringContaining("--store-url https://shop.example"),
      },
    });
    const { data: runs } = await home.json<unknown[]>(["imports", "list"]);
    expect(runs).toEqual([]);
  });
});
