import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Homes, readPurchases, remoteEnv, type Summary } from "../support/starpost.ts";

const data = "fixtures/exports";

const homes = new Homes();
const newHome = (env?: Record<string, string>) => homes.open(env);
afterAll(() => homes.remove());

function counts({ rows, items }: Summary) {
  return { ...rows, items: items.accepted };
}

test("an unknown column is reported before anything is imported", async () => {
  const home = newHome();
  const { exitCode } = await home.run(["orders", "import", "fixtures/good/orders.csv", "--columns", "order_id"]);
  expect(exitCode).toBe(2);
  expect((await home.json(["imports", "list"])).data).toEqual([]);
});

describe("importing the fixtures of every record type", () => {
  const home = newHome();
  test.each([
    [["orders", "import", "fixtures/good/orders.csv"], 10, 6],
    [["products", "import", "fixtures/good/products.csv"], 5, 5],
    [["products", "import", "fixtures/good/products.csv", "--update"], 5, 5],
    [["products", "import", "fixtures/good/products-catalog.csv"], 5, 5],
    [["coupons", "import", "fixtures/good/coupons.csv", "--action", "map_review"], 12, 12],
    [["unsubscribers", "import", "fixtures/good/unsubscribers.csv"], 8, 8],
    [["unsubscribers", "import", "fixtures/good/unsubscribers.csv", "--remove"], 8, 8],
    [["orders", "import", "fixtures/good/orders-semicolon-crlf.csv"], 3, 2],
    [["orders", "import", "fixtures/good/orders-tab-utf16.csv"], 3, 2],
  ])("%j", async (args, rows, items) => {
    const { exitCode, data: summary, stderr } = await home.json(args);
    expect(stderr).not.toMatch(/\d rows?: |error/);
    expect(exitCode).toBe(0);
    expect(counts(summary)).toEqual({ read: rows, accepted: rows, rejected: 0, failed: 0, items });
    expect(summary.rejects_file).toBeNull();
    const shown = await home.json(["imports", "show", summary.import_id]);
    expect(shown.data).toEqual(summary);
  });

  test("lists all runs, newest first", async () => {
    const { data: runs } = await home.json<Summary[]>(["imports", "list"]);
    expect(runs).toHaveLength(9);
    const times = runs.map(({ import_id }) => import_id.slice(0, 15));
    expect(times).toEqual(times.toSorted().toReversed());
  });
});

describe("complete exports", () => {
  const home = newHome();
  test.each([
    ["orders", "orders.csv", 240, 200],
    ["orders", "shopify-orders-export.csv", 72, 60],
    ["products", "products.csv", 150, 150],
    ["products", "shopify-products-export.csv", 11, 5],
    ["products", "woocommerce-products-export.csv", 20, 11],
  ])("of %s are imported without a mapping: %s", async (kind, name, rows, items) => {
    const flags = /woocommerce|shopify/.test(name) ? ["--product-url", "https://shop.example/p/{product_id}"] : [];
    const { data: summary } = await home.json([kind, "import", `${data}/${name}`, ...flags]);
    expect(counts(summary)).toEqual({ read: rows, accepted: rows, rejected: 0, failed: 0, items });
  });

  test("are imported into a service given by three environment variables", async () => {
    const remote = await newHome().serve();
    const client = newHome(remoteEnv(remote));
    const orders = await client.json(["orders", "import", `${data}/orders.csv`, "--rate", "0"]);
    expect(counts(orders.data)).toEqual({ read: 240, accepted: 240, rejected: 0, failed: 0, items: 200 });
    const token = (await client.run(["auth", "token"])).stdout.trim();
    const { purchases, total } = await readPurchases(remote, token);
    expect([purchases.length, total]).toEqual([240, 240]);
    expect(existsSync(join(client.folder, "starpost.db"))).toBe(false);
    expect(await remote.stop()).toBe(0);
  });
});

describe("totals and rejects of a run", () => {
  test("writes rejected rows unchanged with their line, and imports them once corrected", async () => {
    const home = newHome();
    const rejects = join(home.folder, "rejected.csv");
    const first = await home.json(["orders", "import", "fixtures/bad/product-ids.csv", "--rejects", rejects]);
    expect(first.exitCode).toBe(3);
    expect(first.data.rows).toEqual({ read: 10, accepted: 7, rejected: 3, failed: 0 });
    expect(first.data.rejects_file).toBe(rejects);
    const text = readFileSync(rejects, "utf8");
    expect(text.split("\n")[0]).toMatch(/product_price,_line,_column,_code,_reason$/);
    expect(text).toMatch(/lamp 03,.*,5,product_id,bad_id,/);
    expect(statSync(rejects).mode & 0o077).toBe(0);

    const corrected = join(home.folder, "corrected.csv");
    writeFileSync(corrected, text.replace("lamp 03", "lamp-03").replace("rug/04", "rug-04").replace("lämp", "lamp"));
    const second = await home.json(["orders", "import", corrected]);
    expect(second.stderr).not.toMatch(/_line|_reason/);
    expect(second.exitCode).toBe(0);
    expect(second.data.rows.accepted).toBe(3);
  });

  test("counts the same in a dry run, and writes nothing", async () => {
    const home = newHome();
    const dry = await home.json(["orders", "import", "fixtures/bad/dates.csv", "--dry-run"]);
    expect(dry.exitCode).toBe(3);
    expect(dry.data.import_id).toBeNull();
    expect(dry.data.rows).toEqual({ read: 10, accepted: 5, rejected: 5, failed: 0 });
    expect(existsSync(join(home.folder, "starpost.db"))).toBe(false);
    expect(existsSync(join(home.folder, "imports"))).toBe(false);
  });

  test("accepts standard input, --map, and several files", async () => {
    const home = newHome();
    const input = readFileSync("fixtures/good/products.csv", "utf8").replace("product_id,", "Artikel,");
    const piped = await home.json(["products", "import", "-", "--map", "product_id=Artikel"], { input });
    expect(piped.exitCode).toBe(0);
    expect(piped.data.rows.accepted).toBe(5);
    const both = await home.json([
      "products",
      "import",
      "fixtures/good/products.csv",
      "fixtures/good/products-catalog.csv",
    ]);
    expect(both.data.rows.accepted).toBe(10);
  });

  test("merges rows with the same order ID, and keeps the last product for any concurrency", async () => {
    const home = newHome();
    const server = await home.serve();
    const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
    const rows = Array.from(
      { length: 300 },
      (_, at) => `o-${at % 150},2026-01-02,N,n@example.com,p-${at % 3},Name ${at},https://shop.example/p\n`,
    );
    const args = ["orders", "import", "-", "--concurrency", "8", "--batch-size", "5", "--rate", "0"];
    const client = newHome(remoteEnv(server));
    const { data: summary } = await client.json(args, { input: header + rows.join("") });
    expect(summary.items.accepted).toBe(150);
    expect(summary.rows.accepted).toBe(300);
    const utoken = (await client.run(["auth", "token"])).stdout.trim();
    const { purchases } = await readPurchases(server, utoken);
    expect(purchases).toHaveLength(300);
    // The last order in the file is o-149; its last row for p-2 is row 299.
    const names = new Map(
      purchases.map((p) => [p.product_sku, (p as unknown as { product_name: string }).product_name]),
    );
    expect(names.get("p-2")).toBe("Name 299");
    await server.stop();
  });
});
