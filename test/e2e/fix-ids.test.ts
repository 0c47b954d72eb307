import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { type Home, Homes, type Summary, writeInto } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

type Rows = Record<string, string>[];
type FixedSummary = Summary & { readonly fixed_ids_file?: string };

const orderHeader = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
const orderRow = (order: string, product: string) =>
  `${order},2026-01-02,N,n@example.com,${product},Name of ${product},https://shop.example/p\n`;
const orders =
  orderHeader +
  [
    ["o-1", "#1001/A"],
    ["o-2", "1001-A"],
    ["o-3", "1001 A"],
    ["o-1", "Größe M"],
    ["o-4", "#1001/A"],
  ]
    .map(([order = "", product = ""]) => orderRow(order, product))
    .join("");
const products =
  "product_id,name,url,sku,brand\n" +
  "1001 A,Blank,https://shop.example/1,1001 A,Some Brand\n" +
  "Größe M,Size,https://shop.example/2,,\n" +
  "#1001/A,Slash,https://shop.example/3,S-1,\n";

const readRows = (path: string | null | undefined): Rows => parse(readFileSync(path ?? "", "utf8"), { columns: true });
const pairsOf = (summary: FixedSummary) =>
  new Map(readRows(summary.fixed_ids_file).map(({ original = "", fixed = "" }) => [original, fixed]));

/** The IDs of the products in the embedded database. */
async function readStoredIds(home: Home): Promise<Set<string | undefined>> {
  const server = await home.serve();
  const utoken = (await home.run(["auth", "token"])).stdout.trim();
  const reply = await fetch(`${server.url}/core/v3/stores/${server.app_key}/products?limit=100`, {
    headers: { "X-Service-Token": utoken },
  });
  const body = (await reply.json()) as { products: { external_id: string }[] };
  await server.stop();
  return new Set(body.products.map(({ external_id }) => external_id));
}

describe("without --fix-ids", () => {
  test("rejects an ID that the service would drop, and names the flag", async () => {
    const home = homes.open();
    const { exitCode, data, stderr } = await home.json(["orders", "import", writeInto(home, "o.csv", orders)]);
    expect(exitCode).toBe(3);
    expect(data.rows).toEqual({ read: 5, accepted: 1, rejected: 4, failed: 0 });
    expect(data).not.toHaveProperty("fixed_ids_file");
    const [first] = readRows(data.rejects_file);
    expect(first).toMatchObject({ _line: "2", _column: "product_id", _code: "bad_id", product_id: "#1001/A" });
    expect(first?.["_reason"]).toMatch(/'#1001\/A'.* --fix-ids/);
    expect(stderr).toMatch(/4 rows: product_id .*--fix-ids/);
  });

  test("imports the reject file unchanged with --fix-ids, under valid IDs", async () => {
    const home = homes.open();
    const { data } = await home.json(["orders", "import", writeInto(home, "o.csv", orders)]);
    const again = await home.json<FixedSummary>(["orders", "import", data.rejects_file ?? "", "--fix-ids"]);
    expect(again.exitCode).toBe(0);
    const fixed = [...pairsOf(again.data).values()];
    expect(fixed).toContainEqual(expect.stringMatching(/^1001-A-[a-z2-7]{10}$/));
    expect(await readStoredIds(home)).toEqual(new Set(["1001-A", ...fixed]));
  });
});

describe("with --fix-ids", () => {
  test("imports orders and products under the same IDs, and records the mapping", async () => {
    const home = homes.open();
    const ordered = await home.json<FixedSummary>(["orders", "import", writeInto(home, "o.csv", orders), "--fix-ids"]);
    expect(ordered.exitCode).toBe(0);
    expect(ordered.data.rows).toEqual({ read: 5, accepted: 5, rejected: 0, failed: 0 });
    const known = await readStoredIds(home);
    expect(known.size).toBe(4);
    const listed = await home.json<FixedSummary>([
      "products",
      "import",
      writeInto(home, "p.csv", products),
      "--update",
      "--fix-ids",
    ]);
    // An update accepts only existing products, so all products were found under the IDs of the orders.
    expect(listed.exitCode).toBe(0);
    expect(await readStoredIds(home)).toEqual(known);
    const [fromOrders, fromProducts] = [pairsOf(ordered.data), pairsOf(listed.data)];
    expect(fromProducts.size).toBe(3);
    for (const [original, fixed] of fromProducts) expect(fromOrders.get(original)).toBe(fixed);
    expect(new Set([...fromOrders.values(), "1001-A"]).size).toBe(4);
    const path = ordered.data.fixed_ids_file ?? "";
    expect(readRows(path).map(({ original, line }) => [original, line])).toEqual([
      ["#1001/A", "2"],
      ["1001 A", "4"],
      ["Größe M", "5"],
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(ordered.stderr).toContain("3 IDs were rewritten: '#1001/A'");
    expect(ordered.stderr).toContain(path);
    const shown = await home.run(["imports", "show", ordered.data.import_id]);
    expect(shown.stdout).toContain(path);
    const listing = await home.json<FixedSummary[]>(["imports", "list"]);
    expect(listing.data.map(({ fixed_ids_file }) => fixed_ids_file)).toContain(path);
  });

  test("records the same mapping in a resumed run as in an uninterrupted run", async () => {
    const [home, other] = [homes.open(), homes.open()];
    const rows = Array.from({ length: 40 }, (_, at) => orderRow(`o-${at}`, `p ${at % 25}`));
    const bad = orderRow("", "p 99");
    const file = writeInto(home, "o.csv", orderHeader + [...rows.slice(0, 20), bad, bad, ...rows.slice(20)].join(""));
    const args = ["orders", "import", file, "--fix-ids", "--batch-size", "5"];
    const stopped = await home.json<FixedSummary>([...args, "--max-errors", "1"]);
    expect(stopped.exitCode).toBe(6);
    expect(pairsOf(stopped.data).size).toBeLessThan(25);
    const resumed = await home.json<FixedSummary>(["imports", "resume", stopped.data.import_id, "--max-errors", "9"]);
    expect(resumed.exitCode).toBe(3);
    const whole = await other.json<FixedSummary>(args);
    expect(pairsOf(resumed.data)).toEqual(pairsOf(whole.data));
    expect(pairsOf(whole.data).size).toBe(25);
    // The rejected rows also contained an ID, but nothing was sent for it.
    expect(pairsOf(whole.data).has("p 99")).toBe(false);
    expect(existsSync(join(resumed.data.fixed_ids_file ?? "", "..", "fixed-ids.db"))).toBe(false);
  });

  test("derives the product URL from the original ID", async () => {
    const home = homes.open();
    const bare = orders.replace(",product_url", "").replaceAll(",https://shop.example/p", "");
    const args = ["orders", "import", writeInto(home, "o.csv", bare), "--fix-ids"];
    const { exitCode } = await home.json([...args, "--product-url", "https://shop.example/p/{product_id}"]);
    expect(exitCode).toBe(0);
    const server = await home.serve();
    const utoken = (await home.run(["auth", "token"])).stdout.trim();
    const reply = await fetch(`${server.url}/apps/${server.app_key}/purchases?utoken=${utoken}`);
    const { response } = (await reply.json()) as {
      response: { purchases: { product_sku: string; product_url: string }[] };
    };
    await server.stop();
    const first = response.purchases.find(({ product_sku }) => product_sku === "1001-A-hanowhjpg3");
    expect(first?.product_url).toBe("https://shop.example/p/%231001/A");
  });

  test("fixes IDs in a shop layout: rows of the same product get the same ID", async () => {
    const home = homes.open();
    const file = writeInto(
      home,
      "s.csv",
      "Handle,Title,Body (HTML),Vendor,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src\n" +
        "größe hut,Hut,<p>Ein Hut</p>,ACME,Größe,M,H 1,10.00,https://s.example/1.jpg\n" +
        "größe hut,,,,,L,H 2,11.00,\n",
    );
    const args = ["products", "import", file, "--fix-ids", "--product-url", "https://s.example/p/{product_id}"];
    const { exitCode, data } = await home.json<FixedSummary>(args);
    expect(exitCode).toBe(0);
    expect(data.rows).toEqual({ read: 2, accepted: 2, rejected: 0, failed: 0 });
    const stored = await readStoredIds(home);
    expect(stored).toEqual(new Set([pairsOf(data).get("größe hut")]));
  });

  test("is supported by verify and plan", async () => {
    const home = homes.open();
    const file = writeInto(home, "o.csv", orders);
    const planned = await home.json<{ rows: Summary["rows"] }>(["orders", "plan", file, "--fix-ids"]);
    expect(planned.exitCode).toBe(0);
    expect(planned.data.rows).toMatchObject({ read: 5, rejected: 0 });
    const { data } = await home.json(["orders", "import", file, "--fix-ids"]);
    const verified = await home.json<{ missing_count: number; checked: { rows: number } }>([
      "imports",
      "verify",
      data.import_id,
    ]);
    expect(verified.exitCode).toBe(0);
    expect(verified.data).toMatchObject({ missing_count: 0, checked: { rows: 5 } });
  });
});
