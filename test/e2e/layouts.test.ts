import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { Homes, type Home } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const data = "fixtures/exports";
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

function productsOf(home: Home): Row[] {
  const found = query(
    home,
    `select product_id, name, url, image_url, description, price, product_tags, upc, mpn, brand, isbn, sku
     from products order by id`,
  );
  return found.map((product) =>
    Object.fromEntries(Object.entries(product).filter(([, value]) => value !== null && value !== "")),
  );
}

async function load(kind: "orders" | "products", file: string, more: readonly string[] = withUrl) {
  const home = homes.open();
  const result = await home.json([kind, "import", file, ...more]);
  return { home, ...result };
}

const own = (name: string) => `fixtures/layouts/${name}.csv`;
const url = (id: string) => `https://shop.example/p/${id}`;

describe("order exports of shop platforms", () => {
  test.each<[string, RegExp, number, Row[]]>([
    [
      "shopify-orders",
      /Shopify orders.*'Lineitem sku'.*'Name'/,
      6,
      [
        order("1001", "shopify", "jürgen.groß@example.com", "Jürgen Groß", "2026-03-14", "EUR", [
          "TEA-01 × 2 at 1249.5",
          "CUP_02 × 1 at 12.5",
        ]),
        order("1002", "shopify", "mia@example.com", "Mia Øst", "2026-03-14", "EUR", ["CUP_02 × 1 at 12.5"]),
        order("1003", "shopify", "lee@example.com", "Lee Ann", "2026-03-15", "EUR", ["SPN-3 × 4 at 4"]),
      ],
    ],
    [
      "woocommerce-orders",
      /product IDs are 'Product Id'/,
      4,
      [
        order("2001", "woocommerce", "zoe@example.com", "Zoë Müller", "2026-04-01", "EUR", [
          "741 × 2 at 1018.5",
          "746 × 1 at 55",
        ]),
        order("2002", "woocommerce", "ben@example.com", "Ben", "2026-04-01", "EUR", ["746 × 1 at 55"]),
      ],
    ],
    [
      "woocommerce-orders-lines",
      /'line_item_1'/,
      2,
      [
        order("3001", "woocommerce", "ida@example.com", "Ida Noël", "2026-04-02", "EUR", [
          "747 × 2 at 18",
          "746 × 1 at 55",
        ]),
        order("3002", "woocommerce", "jo@example.com", "Jo Ek", "2026-04-02", "EUR", ["886 × 1 at 15"]),
      ],
    ],
    [
      "magento-orders",
      /read as a Magento orders export: product IDs are 'Item SKU'/,
      3,
      [
        order("100000001", "magento", "aenne@example.com", "Änne Weiß", "2026-08-14", "EUR", [
          "24-MB01 × 2 at 34",
          "24-WG02 × 1 at 92",
        ]),
        order("100000002", "magento", "ole@example.com", "Olé Sand", "2026-10-01", "EUR", ["24-WG02 × 1 at 1045"]),
      ],
    ],
    [
      "bigcommerce-orders",
      /'Product Details'.*month/,
      2,
      [
        order("101", "bigcommerce", "asa@example.com", "Åsa Holm", "2026-08-14", "USD", [
          "77 × 2 at 1229.5",
          "78 × 1 at 10",
        ]),
        order("102", "bigcommerce", "bo@example.com", "Bo Ek", "2026-01-02", "USD", ["78 × 1 at 10"]),
      ],
    ],
  ])("%s", async (name, expected, rows, stored) => {
    const { home, exitCode, stderr, data: summary } = await load("orders", own(name));
    expect(stderr).toMatch(expected);
    expect(summary.rows).toEqual({ read: rows, accepted: rows, rejected: 0, failed: 0 });
    expect(exitCode).toBe(0);
    const found = ordersOf(home).map((row) => Object.assign(row, { lines: sortLines(String(row["lines"])) }));
    expect(found).toEqual(stored);
  });

  function order(
    order_id: string,
    platform: string,
    email: string,
    customer_name: string,
    day: string,
    currency: string,
    lines: readonly string[],
  ): Row {
    return { order_id, platform, email, customer_name, day, currency, lines: sortLines(lines.join(" + ")) };
  }

  function sortLines(lines: string): string {
    return lines.split(" + ").toSorted().join(" + ");
  }

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

  test("rejects a URL template with an unknown column and lists the first columns", async () => {
    const home = homes.open();
    const file = join(home.folder, "products.csv");
    const columns = Array.from({ length: 20 }, (_, at) => `c${at + 1}`).join(",");
    writeFileSync(file, `product_id,name,${columns}\n1,Mug,${",".repeat(19)}\n`);
    const template = "https://shop.example/{nothing}";
    const refused = await home.run(["products", "import", file, "--product-url", template]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(
      /--product-url: .*'nothing'[^]*product_id, name(?:, \w+){10}, ….*product_id, name(?:, c\d+){10}, …/,
    );
  });

  test("does not guess the order of day and month in ambiguous dates; a flag or the layout defines it", async () => {
    const home = homes.open();
    const file = join(home.folder, "orders.csv");
    writeFileSync(
      file,
      "Order ID,Order Date,Customer Email,Customer Name,Product ID,Product Name\n1,01/02/2026,a@example.com,Ada,7,Mug\n",
    );
    const refused = await home.run(["orders", "import", file, ...withUrl]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/'Order Date'[^]*--date-format dmy/);
    const { exitCode } = await home.json(["orders", "import", file, ...withUrl, "--layout", "bigcommerce-orders-dmy"]);
    expect(exitCode).toBe(0);
    expect(ordersOf(home)[0]).toMatchObject({ day: "2026-02-01" });
  });

  test("writes complete rejected orders, and imports them once corrected", async () => {
    const home = homes.open();
    const file = join(home.folder, "orders.csv");
    const rejects = join(home.folder, "rejects.csv");
    writeFileSync(
      file,
      readFileSync(own("shopify-orders"), "utf8").replace(/CUP_02,,,Lädchen,,\r?\n#1003/, "CUP/02,,,Lädchen,,\n#1003"),
    );
    const first = await home.json(["orders", "import", file, ...withUrl, "--rejects", rejects]);
    expect(first.data.rows).toEqual({ read: 6, accepted: 4, rejected: 2, failed: 0 });
    const text = readFileSync(rejects, "utf8");
    expect(text).toMatch(/^#1001,.*\nklingeln",2,,order_incomplete,/m);
    expect(text).toMatch(/^#1001,.*CUP\/02.*,5,Lineitem sku,bad_id,/m);
    writeFileSync(rejects, text.replace("CUP/02,", "CUP_02,"));
    const second = await home.json(["orders", "import", rejects, ...withUrl]);
    expect(second.data.rows).toEqual({ read: 2, accepted: 2, rejected: 0, failed: 0 });
    expect(ordersOf(home)).toHaveLength(3);
    expect(productsOf(home)).toHaveLength(3);
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
  test.each<[string, number, Row[]]>([
    [
      "shopify-products",
      4,
      [
        {
          product_id: "teekanne",
          name: 'Teekanne "Käthe"',
          url: url("teekanne"),
          image_url: "https://cdn.example/tea-1.jpg",
          description: "Für sechs Tassen & mehr.\n\n- Steingut\n- spülmaschinenfest; robust",
          price: "49.90",
          product_tags: "Tee,Küche",
          upc: "4006381333931",
          sku: "TEA-01-B",
        },
        {
          product_id: "cookbook",
          name: "Cook Book",
          url: url("cookbook"),
          price: "19.5",
          brand: "Press",
          isbn: "9783161484100",
        },
      ],
    ],
    [
      "woocommerce-products",
      5,
      [
        {
          product_id: "10",
          name: "T-Shirt",
          url: url("10"),
          image_url: "https://shop.example/a.png",
          description: "Weiche Baumwolle, 40 °C.\n\nGrößen: S – XL",
          price: "22.50",
          product_tags: "Sommer,Neu",
          sku: "tee",
        },
        {
          product_id: "11",
          name: "Gutschein; digital",
          url: url("11"),
          description: "nur kurz",
          price: "10",
        },
        { product_id: "14", name: "Spende", url: url("14"), price: "30" },
      ],
    ],
    [
      "magento-products",
      5,
      [
        {
          product_id: "MH01",
          name: "Hoodie „Chaz“",
          url: url("MH01"),
          description: "Warm & weich.\n\nSüß",
          price: "52.000000",
          sku: "MH01",
        },
        {
          product_id: "24-MB01",
          name: "Duffle Bag",
          url: url("24-MB01"),
          description: "Plain text; no tags",
          price: "34.000000",
          sku: "24-MB01",
        },
      ],
    ],
    [
      "bigcommerce-products",
      5,
      [
        {
          product_id: "77",
          name: "Mütze; blau",
          url: url("77"),
          image_url: "https://store.example/cap-1.jpg",
          description: "Warm\n\nAus Wolle & Liebe",
          price: "29.95",
          product_tags: "Winter,Kopf",
          upc: "4006381333931",
          mpn: "MP-1",
          sku: "CAP-1",
        },
        { product_id: "78", name: "Mug", url: url("78"), description: "Plain", price: "8.5", sku: "MUG" },
      ],
    ],
    [
      "bigcommerce-products-v2",
      3,
      [
        {
          product_id: "91",
          name: "Kettle",
          url: "https://store.example/kettle/",
          description: "Boils",
          price: "45.5000",
          brand: "Acme",
          sku: "KET-1",
        },
      ],
    ],
  ])("%s", async (name, rows, stored) => {
    const { home, exitCode, data: summary } = await load("products", own(name));
    expect(summary.rows).toEqual({ read: rows, accepted: rows, rejected: 0, failed: 0 });
    expect(exitCode).toBe(0);
    expect(productsOf(home)).toEqual(stored);
  });

  test("builds URLs from exported paths, and takes the currency from --set", async () => {
    const { home } = await load("products", own("bigcommerce-products"), [
      "--product-url",
      "https://store.example{Product URL}",
      "--set",
      "currency_iso=EUR",
    ]);
    expect(productsOf(home).map((product) => product["url"])).toEqual([
      "https://store.example/muetze-blau/",
      "https://store.example/mug/",
    ]);
    expect(query(home, "select distinct currency_iso from products")).toEqual([{ currency_iso: "EUR" }]);
  });

  test("sends nothing without product URLs, and names the flag", async () => {
    const { home, exitCode, stderr } = await load("products", own("shopify-products"), []);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        kind: "usage",
        message: expect.stringContaining(own("shopify-products")),
        hint: expect.stringContaining("--product-url 'https://shop.example/products/{product_id}'"),
      },
    });
    const { data: runs } = await home.json<unknown[]>(["imports", "list"]);
    expect(runs).toEqual([]);
  });
});

describe("files with native columns", () => {
  const native = "order_id,order_date,email,product_id,product_name,product_price\n";

  test("takes missing values from flags, and normalizes a price only if it is unambiguous", async () => {
    const home = homes.open();
    const file = join(home.folder, "orders.csv");
    writeFileSync(
      file,
      `${native}1,2026-01-02,a@example.com,M-1,Mug,"R$ 1.234,56"\n2,2026-01-02,b@example.com,C-1,Cup,"1,234"\n`,
    );
    const { exitCode, data: summary } = await home.json([
      "orders",
      "import",
      file,
      ...withUrl,
      "--set",
      "customer_name=Customer",
      "--set",
      "currency_iso=BRL",
    ]);
    expect(exitCode).toBe(3);
    expect(summary.rows).toEqual({ read: 2, accepted: 1, rejected: 1, failed: 0 });
    expect(readFileSync(summary.rejects_file ?? "", "utf8")).toMatch(
      /,product_price,bad_price,"product_price '1,234' /,
    );
    expect(ordersOf(home)).toEqual([
      {
        order_id: "1",
        platform: "general",
        email: "a@example.com",
        customer_name: "Customer",
        day: "2026-01-02",
        currency: "BRL",
        lines: "M-1 × 1 at 1234.56",
      },
    ]);
  });
});

describe("complete exports", () => {
  test("imports Shopify orders without a mapping", async () => {
    const { home, exitCode, data: summary } = await load("orders", `${data}/shopify-orders-export.csv`);
    expect(exitCode).toBe(0);
    expect(summary.rows).toEqual({ read: 72, accepted: 72, rejected: 0, failed: 0 });
    expect(summary.items).toEqual({ sent: 60, accepted: 60, rejected: 0, created: 60, changed: 0, unchanged: 0 });
    expect(query(home, "select count(*) as n from purchases")).toEqual([{ n: 102 }]);
    expect(ordersOf(home)[0]).toEqual({
      order_id: "3001",
      platform: "shopify",
      email: "buyer00@example.com",
      customer_name: "Mara Lindqvist",
      day: "2025-01-01",
      currency: "EUR",
      lines: "SKU00000 × 1 at 5 + SKU00100 × 1 at 95",
    });
  });

  test.each([
    ["shopify-products-export.csv", 11, 5],
    ["woocommerce-products-export.csv", 20, 11],
    ["products.csv", 150, 150],
  ])("%s", async (name, rows, products) => {
    const { home, data: summary } = await load("products", `${data}/${name}`);
    expect(summary.rows).toEqual({ read: rows, accepted: rows, rejected: 0, failed: 0 });
    expect(productsOf(home)).toHaveLength(products);
  });
});
