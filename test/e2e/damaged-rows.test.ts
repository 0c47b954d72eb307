import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

let home: Home;
beforeEach(() => {
  home = homes.open();
});

const productColumns = ["product_id", "name", "url", "upc", "isbn", "sku", "price", "description"];
const product = ["p-1", "Cap", "https://shop.example/p", "", "", "", "", ""];
const orderColumns = "order_id,order_date,customer_name,email,product_id,product_name,product_url".split(",");
const order = ["o-1", "2026-01-02", "Ann", "ann@example.com", "p-1", "Cap", "https://shop.example/p"];
const reviewColumns = "review_title,review_content,review_score,date,product_id,display_name,email".split(",");
const review = ["Good", "A good cap", "5", "2026-01-02", "p-1", "Ann", "ann@example.com"];

interface Case {
  readonly columns: readonly string[];
  readonly row: readonly string[];
}

const kinds: Readonly<Record<string, Case>> = {
  products: { columns: productColumns, row: product },
  orders: { columns: orderColumns, row: order },
  reviews: { columns: reviewColumns, row: review },
  coupons: { columns: ["code"], row: ["ABCDEFGH"] },
};

function write(name: string, content: string | Buffer): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

/** A file with one row for each change, and a valid last row. */
function writeRows(kind: string, changes: readonly Readonly<Record<string, string>>[]): string {
  const { columns, row } = kinds[kind] ?? { columns: [], row: [] };
  const rows = changes.map((change) => columns.map((column, at) => change[column] ?? row[at] ?? ""));
  return write(`${kind}.csv`, stringify([columns, ...rows, row]));
}

async function importRows(args: readonly string[], delimiter = ",") {
  const { data, exitCode, stderr } = await home.json([...args]);
  const rows = data.rejects_file == null ? [] : readRejects(data.rejects_file, delimiter);
  return { data, exitCode, stderr, rejects: rows.map((row) => [row["_line"], row["_column"], row["_code"]]) };
}

function readRejects(path: string, delimiter: string): Record<string, string>[] {
  return parse(readFileSync(path, "utf8"), { columns: true, delimiter });
}

describe("values damaged by a spreadsheet program", () => {
  test("are rejected by field, and --fix-ids does not rewrite them", async () => {
    const file = writeRows("products", [
      { product_id: "1.23E+12" },
      { product_id: "a", upc: "8.85909E+11" },
      { product_id: "b", isbn: "9,78316E+12" },
      { product_id: "c", sku: "1E+15" },
      { product_id: "#REF!" },
      { product_id: "d", name: "#N/A" },
      { product_id: '="1002"' },
      { product_id: "e", name: '="Cap"' },
      { product_id: "f", description: "The label says #N/A, and 1.23E+12 below" },
    ]);
    const { data, rejects, exitCode } = await importRows(["products", "import", file, "--fix-ids"]);
    expect(exitCode).toBe(3);
    expect(rejects).toEqual([
      ["2", "product_id", "scientific_notation"],
      ["3", "upc", "scientific_notation"],
      ["4", "isbn", "scientific_notation"],
      ["5", "sku", "scientific_notation"],
      ["6", "product_id", "spreadsheet_error"],
      ["7", "name", "spreadsheet_error"],
      ["8", "product_id", "spreadsheet_formula"],
      ["9", "name", "spreadsheet_formula"],
    ]);
    expect(data.rows).toEqual({ read: 10, accepted: 2, rejected: 8, failed: 0 });
    expect(data).not.toHaveProperty("fixed_ids_file");
  });

  test.each([
    ["orders", [], { order_id: "4.5E+17" }, "order_id", "scientific_notation"],
    ["orders", [], { customer_name: "#NAME?" }, "customer_name", "spreadsheet_error"],
    ["coupons", ["--action", "map_review"], { code: "1.23E+12" }, "code", "scientific_notation"],
    ["reviews", [], { review_title: "#VALUE!" }, "review_title", "spreadsheet_error"],
  ])("are rejected in %s", async (kind, flags, change, column, code) => {
    const file = writeRows(kind, [change]);
    const { data, rejects } = await importRows([kind, "import", file, ...flags]);
    expect(rejects).toEqual([["2", column, code]]);
    expect(data.rows.accepted).toBe(1);
  });

  test("are rejected in the columns of a shop's layout before they are converted", async () => {
    const header =
      "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Financial Status";
    const cells = (name: string, sku: string) => `${name},a@example.com,2026-01-02,1,Hat,10.00,${sku},Ana,paid`;
    const file = write("s.csv", `${header}\n${cells("#REF!", "H-1")}\n${cells("#1002", "1.2E+11")}\n`);
    const url = "https://shop.example/{product_id}";
    const { rejects } = await importRows(["orders", "import", file, "--product-url", url]);
    expect(rejects).toEqual([
      ["2", "Name", "spreadsheet_error"],
      ["3", "Lineitem sku", "scientific_notation"],
    ]);
  });
});

describe("dates in the future", () => {
  const dayMs = 24 * 60 * 60 * 1000;
  const dayIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

  test.each([
    ["orders", "order_date", "o-1", "order_id"],
    ["reviews", "date", "Fine", "review_title"],
  ])("are rejected in %s, and tomorrow's date is accepted", async (kind, field, name, key) => {
    const file = writeRows(kind, [{ [field]: dayIn(3) }, { [field]: dayIn(1), [key]: `${name}2` }]);
    const { rejects, data } = await importRows([kind, "import", file]);
    expect(rejects).toEqual([["2", field, "future_date"]]);
    expect(data.rows.accepted).toBe(2);
  });

  test("are rejected with a time", async () => {
    const file = writeRows("reviews", [{ date: `${dayIn(3)}T10:00:00+02:00` }]);
    expect((await importRows(["reviews", "import", file])).rejects).toEqual([["2", "date", "future_date"]]);
  });
});

describe("a row with an unclosed quote", () => {
  const rows = [
    'a,"never closed,https://shop.example/a,',
    'b,Cap,https://shop.example/b,"x',
    'c,"Cap"x,https://shop.example/c,',
    'd,Cap,"https://shop.example/d,',
    'e,Cap,https://shop.example/e,5" wide',
    'f,Cap,https://shop.example/f,"',
  ];

  test.each([",", ";", "\t"])("is rejected again if it is imported unedited, and can be corrected (%j)", async (c) => {
    const lines = ["product_id,name,url,description", ...rows].map((line) => line.replaceAll(",", c));
    const first = await importRows(["products", "import", write("p.csv", `${lines.join("\n")}\n`)], c);
    expect(first.data.rows).toEqual({ read: 6, accepted: 1, rejected: 5, failed: 0 });
    const rejects = first.data.rejects_file ?? "";
    for (const path of [rejects, undefined]) {
      const again = await importRows(["products", "import", path ?? write("copy.csv", readFileSync(rejects))], c);
      expect(again.exitCode).toBe(3);
      expect(again.data.rows).toEqual({ read: 5, accepted: 0, rejected: 5, failed: 0 });
      expect(again.rejects.map(([, , code]) => code)).toEqual(Array(5).fill("bad_quote"));
      const unchanged = (found: string) => readRejects(found, c).map(({ product_id, name }) => [product_id, name]);
      expect(unchanged(again.data.rejects_file ?? "")).toEqual(unchanged(rejects));
    }
    const corrected = parse(readFileSync(rejects, "utf8"), { delimiter: c });
    for (const row of corrected.slice(1)) {
      for (const [at, cell] of row.slice(0, 4).entries()) row[at] = cell.replaceAll('"', "");
    }
    const last = await importRows([
      "products",
      "import",
      write("corrected.csv", stringify(corrected, { delimiter: c })),
    ]);
    expect(last.data.rows).toEqual({ read: 5, accepted: 5, rejected: 0, failed: 0 });
  });

  test("can be accepted as it is by clearing its code", async () => {
    const rejected = 'product_id,name,url,_line,_code\na,"""odd",https://shop.example/a,2,';
    const kept = await importRows(["products", "import", write("k.csv", `${rejected}bad_quote\n`)]);
    expect(kept.data.rows).toMatchObject({ accepted: 0, rejected: 1 });
    const cleared = await importRows(["products", "import", write("c.csv", `${rejected}\n`)]);
    expect(cleared.data.rows).toMatchObject({ accepted: 1, rejected: 0 });
  });
});

describe("oversized values", () => {
  const spaces = " ".repeat(300 * 1024);

  test("are rejected quickly, and the other rows are accepted", async () => {
    const file = writeRows("products", [
      { product_id: "a", upc: `x${spaces}x` },
      { product_id: "b", price: "0".repeat(200 * 1024) },
      { product_id: "c", price: `1${"0".repeat(200 * 1024)} x` },
      { product_id: "d", sku: "-".repeat(60_000) },
    ]);
    const startedMs = Date.now();
    const { data, rejects } = await importRows(["products", "import", file]);
    expect(Date.now() - startedMs).toBeLessThan(15_000);
    expect(rejects).toEqual([
      ["2", "upc", "too_long"],
      ["3", "price", "too_long"],
      ["4", "price", "too_long"],
    ]);
    expect(data.rows.accepted).toBe(2);
  });

  test("in a shop's layout are rejected: prices, and HTML that is nested too deeply", async () => {
    const columns = ["Handle", "Title", "Body (HTML)", "Vendor", "Variant Price"];
    const rows = [
      ["a", "Cap", `${"<div>".repeat(2_000)}deep${"</div>".repeat(2_000)}`, "V", "1.00"],
      ["b", "Cap", "text", "V", `${"0".repeat(200 * 1024)}x`],
      ["c", "Cap", `${"<div>".repeat(100)}text${"</div>".repeat(100)}`, "V", "1.00"],
      ["e", "Cap", "<div>".repeat(200_000), "V", "1.00"],
      ["f", "Cap", "<table>" + "<tr><td>x</td></tr>".repeat(40_000) + "</table>", "V", "1.00"],
      ["g", "Cap", `<table>${'<tr><td rowspan="60000" colspan="1e9">cell</td></tr>'.repeat(50)}</table>`, "V", "1.00"],
      ["d", "Cap", `${"<p>one<br>two".repeat(2_000)}<ul>${"<li>item".repeat(2_000)}</ul>`, "V", "1.00"],
    ];
    const file = write("s.csv", stringify([columns, ...rows]));
    const url = "https://shop.example/{product_id}";
    const { data, rejects } = await importRows(["products", "import", file, "--product-url", url]);
    expect(rejects).toEqual([
      ["2", "Body (HTML)", "html_too_complex"],
      ["3", "Variant Price", "too_long"],
      ["5", "Body (HTML)", "html_too_complex"],
      ["6", "Body (HTML)", "html_too_complex"],
    ]);
    expect(data.rows.accepted).toBe(3);
  });

  test("a row of 20 MB without quotes counts as one row", async () => {
    const file = write(
      "long.csv",
      `${productColumns.join(",")}\np-1,${"x".repeat(20_000_000)}\n${product.join(",")}\n`,
    );
    const { data, rejects } = await importRows(["products", "import", file]);
    expect(data.rows).toEqual({ read: 2, accepted: 1, rejected: 1, failed: 0 });
    expect(rejects).toEqual([["2", "", "record_too_long"]]);
  });

  test("an archive with an absurd expansion is refused before anything is sent", async () => {
    const content = Buffer.concat([Buffer.from("product_id,name,url\n"), Buffer.alloc(200_000_000, "a,\n")]);
    const { exitCode, stderr } = await home.run(["products", "import", write("bomb.csv.gz", gzipSync(content))]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/bomb\.csv\.gz: the gzip archive expands to more than/);
    expect((await home.json<unknown>(["imports", "list"])).data).toEqual([]);
  });
});
