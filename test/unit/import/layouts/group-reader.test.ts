import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kinds } from "../../../support/record-kinds.ts";
import { startImport } from "../../../../src/import/import.ts";
import type { ImportObserver } from "../../../../src/import/deps.ts";
import type { Item } from "../../../../src/import/item.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import type { Service } from "../../../../src/service/service.ts";
import { countRuns } from "../../../support/suite-size.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

type Sent = Record<string, unknown>[];

/** Creates a service that accepts everything and records its calls. */
function createTaker(): { readonly service: Service; readonly sent: Sent } {
  const sent: Sent = [];
  const take = async ({ orders = [], products = {} }: { orders?: Sent; products?: Record<string, object> }) => {
    sent.push(
      ...orders,
      ...Object.entries(products).map(([product_id, product]) => Object.assign({ product_id }, product)),
    );
    return { uuid: "1" };
  };
  const core = { listProducts: async () => ({ products: [], pagination: { next_page_info: null } }) };
  const calls = { massCreate: take, list: async () => ({ purchases: [], total_purchases: 0 }) };
  return { service: { orders: calls, products: calls, core } as unknown as Service, sent };
}

async function load(
  text: string,
  kind: string = "orders",
  options: Partial<ImportOptions> = {},
  observer?: ImportObserver,
) {
  const { service, sent } = createTaker();
  const path = join(folder, `${randomBytes(6).toString("hex")}.csv`);
  writeFileSync(path, text);
  const never = new AbortController().signal;
  const notices: string[] = [];
  const summary = await startImport(
    {
      kind,
      files: [path],
      options: { dryRun: false, map: {}, productUrl: "https://shop.example/{product_id}", ...options },
    },
    {
      kinds,
      observer,
      openService: async () => ({ service, concurrency: 2, keepsOrder: true, close: async () => {} }),
      profileName: "test",
      target: "test",
      runsFolder: join(folder, "runs"),
      clock: () => 1_790_000_000_000,
      random: randomBytes,
      stdin: Readable.from([]),
      cwd: folder,
      version: "0",
      stop: never,
      abort: never,
      report: (event) => {
        if (event.type === "notice") notices.push(event.message);
      },
    },
  );
  const rejected = summary.rejects_file === null ? "" : readFileSync(summary.rejects_file, "utf8");
  return { rows: summary.rows, sent, rejected, notices };
}

const header = [
  "Name",
  "Email",
  "Created at",
  "Lineitem quantity",
  "Lineitem name",
  "Lineitem price",
  "Lineitem sku",
  "Billing Name",
];
const write = (rows: readonly (readonly string[])[]) => stringify([header, ...rows]);
const codesOf = (rejected: string) =>
  parse(rejected, { columns: true }).map((row) => {
    const { Name, _line, _column, _code } = row as Record<string, string>;
    return [Name, Number(_line), _column, _code];
  });

interface Line {
  readonly product: number;
  readonly units: number;
  readonly fault: "none" | "sku" | "price" | "quantity" | "ragged" | "quote";
}

/** The rows of an order as a shop exports them; the order's own fields may be on any row. */
function rowsOf(order: number, lines: readonly Line[], carrier: number, hasBadEmail: boolean): string[][] {
  return lines.map(({ product, units, fault }, at) => {
    const own = at === carrier % lines.length;
    const cells = [
      `#${order}`,
      own ? (hasBadEmail ? "nobody" : `c${order}@example.com`) : "",
      own ? "2026-03-04 10:00:00 +0100" : "",
      fault === "quantity" ? `x${units}` : String(units),
      `Mug; ${product}`,
      fault === "price" ? "cheap" : "1.050,25",
      fault === "sku" ? "M/1" : `M-${product}`,
      own ? `Customer ${order}` : "",
    ];
    if (fault === "ragged") cells.pop();
    if (fault === "quote") cells[4] = '"open';
    return cells;
  });
}

/** A row with an unclosed quote is written unchanged. */
function writeRaw(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) =>
    cells.some((cell) => cell.startsWith('"'))
      ? `${cells.map((cell) => cell.replace(",", ".")).join(",")}\n`
      : stringify([cells]),
  );
  return stringify([header]) + lines.join("");
}

const anyLine = fc.record({
  product: fc.integer({ min: 1, max: 4 }),
  units: fc.integer({ min: 1, max: 3 }),
  fault: fc.oneof(
    { weight: 12, arbitrary: fc.constant("none" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "sku" as const,
        "price" as const,
        "quantity" as const,
        "ragged" as const,
        "quote" as const,
      ),
    },
  ),
});

describe("orders whose own fields are on one row", () => {
  test("are accepted or rejected as a unit, wherever their rows are; fixed rows can be imported again", async () => {
    const anyOrder = fc.record({
      lines: fc.array(anyLine, { minLength: 1, maxLength: 5 }),
      carrier: fc.nat(4),
      hasBadEmail: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    });
    const anyFile = fc.array(anyOrder, { minLength: 1, maxLength: 12 }).chain((orders) => {
      const rows = orders.flatMap(({ lines, carrier, hasBadEmail }, at) =>
        rowsOf(1000 + at, lines, carrier, hasBadEmail),
      );
      return fc.record({
        orders: fc.constant(orders),
        rows: fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length }),
      });
    });
    const isBad = ({ lines, hasBadEmail }: { readonly lines: readonly Line[]; readonly hasBadEmail: boolean }) =>
      hasBadEmail || lines.some(({ fault }) => fault !== "none");
    const unitsOf = (lines: readonly Line[]) => {
      const units: Record<string, number> = {};
      for (const { product, units: more } of lines) units[`M-${product}`] = (units[`M-${product}`] ?? 0) + more;
      return units;
    };
    const summarizeRun = (sent: Sent) =>
      Object.fromEntries(
        sent.map((order) => [
          order["order_id"],
          Object.fromEntries(
            Object.entries(order["products"] as Record<string, { quantity?: number; price?: number }>).map(
              ([id, { quantity = 1, price }]) => {
                expect(price).toBe(1050.25);
                return [id, quantity];
              },
            ),
          ),
        ]),
      );
    await fc.assert(
      fc.asyncProperty(anyFile, async ({ orders, rows }) => {
        const bad = new Set(orders.flatMap((order, at) => (isBad(order) ? [`#${1000 + at}`] : [])));
        const first = await load(writeRaw(rows));
        const good = orders.flatMap((order, at) =>
          isBad(order) ? [] : [[String(1000 + at), unitsOf(order.lines)] as const],
        );
        const rejectedRows = rows.filter(([name = ""]) => bad.has(name)).length;
        expect(first.rows).toEqual({
          read: rows.length,
          accepted: rows.length - rejectedRows,
          rejected: rejectedRows,
          failed: 0,
        });
        expect(summarizeRun(first.sent)).toEqual(Object.fromEntries(good));
        if (rejectedRows === 0) return;
        // Rejected rows are copied unchanged, each with its own line, and fixed there.
        const found = parse(first.rejected, { columns: true }) as Record<string, string>[];
        for (const reject of found) {
          const at = Number(reject["_line"]) - 2;
          expect(reject["Name"]).toBe(rows[at]?.[0]);
        }
        const corrected = found.map((reject) => {
          const [cells] = rowsFor(reject, orders, rows);
          return cells ?? [];
        });
        const second = await load(write(corrected));
        expect(second.rows).toEqual({ read: rejectedRows, accepted: rejectedRows, rejected: 0, failed: 0 });
        expect({ ...summarizeRun(first.sent), ...summarizeRun(second.sent) }).toEqual(
          Object.fromEntries(orders.map(({ lines }, at) => [String(1000 + at), unitsOf(lines)])),
        );
      }),
      { numRuns: countRuns(40) },
    );

    /** The correct row. */
    function rowsFor(
      reject: Record<string, string>,
      orders: readonly {
        readonly lines: readonly Line[];
        readonly carrier: number;
        readonly hasBadEmail: boolean;
      }[],
      rows: readonly (readonly string[])[],
    ): string[][] {
      const meant = rows[Number(reject["_line"]) - 2];
      const order = Number(reject["Name"]?.slice(1)) - 1000;
      const { lines = [], carrier = 0, hasBadEmail = false } = orders[order] ?? {};
      const at = rowsOf(1000 + order, lines, carrier, hasBadEmail).findIndex(
        (cells) => cells.join("|") === meant?.join("|"),
      );
      const sound = lines.map((line) => Object.assign({}, line, { fault: "none" as const }));
      return rowsOf(1000 + order, sound, carrier, false).slice(at, at + 1);
    }
  });

  test("an invalid order is reported once, on its row; its other rows refer to that line", async () => {
    const { rejected } = await load(
      write([
        ["#1", "nobody", "2026-01-02", "1", "Mug", "5", "M-1", "Ada"],
        ["#2", "b@example.com", "2026-01-02", "1", "Mug", "5", "M-1", "Bo"],
        ["#1", "", "", "1", "Cup", "5", "C-1", ""],
        ["#1", "", "", "1", "Hat", "5", "H 1", ""],
      ]),
    );
    expect(codesOf(rejected)).toEqual([
      ["#1", 2, "Email", "bad_email"],
      ["#1", 4, "", "order_incomplete"],
      ["#1", 5, "Lineitem sku", "bad_id"],
    ]);
    expect(rejected).toMatch(/line 2 /);
  });

  test("a missing order field is the error of all rows", async () => {
    const { rejected } = await load(
      write([
        ["#1", "", "2026-01-02", "1", "Mug", "5", "M-1", "Ada"],
        ["#1", "", "", "1", "Cup", "5", "C-1", ""],
      ]),
    );
    expect(codesOf(rejected)).toEqual([
      ["#1", 2, "Email", "missing"],
      ["#1", 3, "Email", "missing"],
    ]);
  });

  test("two customers in one order contradict each other, so all rows are rejected", async () => {
    const { rows, rejected } = await load(
      write([
        ["#1", "a@example.com", "2026-01-02", "1", "Mug", "5", "M-1", "Ada"],
        ["#1", "b@example.com", "2026-01-02", "1", "Cup", "5", "C-1", "Bo"],
      ]),
    );
    expect(rows).toEqual({ read: 2, accepted: 0, rejected: 2, failed: 0 });
    expect(codesOf(rejected)).toEqual([
      ["#1", 2, "", "order_incomplete"],
      ["#1", 3, "Email", "order_conflict"],
    ]);
  });

  test("a row without an order name is a separate order", async () => {
    const { rows, rejected } = await load(
      write([
        ["#1", "a@example.com", "2026-01-02", "1", "Mug", "5", "M-1", "Ada"],
        ["", "", "", "1", "Cup", "5", "C-1", ""],
        ["", "", "", "1", "Cup", "5", "C-1", ""],
      ]),
    );
    expect(rows).toEqual({ read: 3, accepted: 1, rejected: 2, failed: 0 });
    expect(codesOf(rejected).map(([, line, , code]) => [line, code])).toEqual([
      [3, "missing"],
      [4, "missing"],
    ]);
    expect(rejected.match(/Name is missing/g)).toHaveLength(4);
  });

  test("quantities of several rows are added and capped, and a quantity of 0 is not a line item", async () => {
    const { rows, sent, notices } = await load(
      write([
        ["#1", "a@example.com", "2026-01-02", "700", "Mug", "5", "M-1", "Ada"],
        ["#1", "", "", "2.0000", "Cup", "5", "C-1", ""],
        ["#1", "", "", "0", "Hat", "5", "H-1", ""],
        ["#1", "", "", "700", "Mug", "5", "M-1", ""],
        ["#2", "b@example.com", "2026-01-02", "5000", "Mug", "5", "M-1", "Bo"],
        ["#3", "b@example.com", "2026-01-02", "0", "Mug", "5", "M-1", "Bo"],
      ]),
    );
    expect(rows).toEqual({ read: 6, accepted: 5, rejected: 1, failed: 0 });
    expect(
      sent.map(({ products }) => Object.entries(products as object).map(([id, { quantity }]) => [id, quantity])),
    ).toEqual([
      [
        ["M-1", 1000],
        ["C-1", 2],
      ],
      [["M-1", 1000]],
    ]);
    expect(notices.join("\n")).toMatch(/0 units[\s\S]*1000/);
  });

  test("rows beyond the maximum per order are rejected one by one", async () => {
    const rows = Array.from({ length: 5_003 }, () => [
      "#1",
      "a@example.com",
      "2026-01-02",
      "1",
      "Mug",
      "5",
      "M-1",
      "Ada",
    ]);
    const { rows: counts } = await load(
      write([...rows, ["#2", "b@example.com", "2026-01-02", "1", "Mug", "5", "M-1", "Bo"]]),
    );
    expect(counts).toEqual({ read: 5_004, accepted: 1, rejected: 5_003, failed: 0 });
  });
});

describe("products with several rows", () => {
  const products = (rows: string) =>
    load(`Handle,Title,Body (HTML),Vendor,Variant SKU,Variant Price,Image Src\n${rows}`, "products");

  test("are one product of their first variant, wherever its rows are", async () => {
    const { rows, sent } = await products(
      "mug,,,,M-2,7,https://x.example/2.png\ncup,Cup,,Acme,C-1,3,\nmug,Mug,<p>Big</p>,Acme,M-1,5,\nmug,,,,,,https://x.example/3.png\n",
    );
    expect(rows).toEqual({ read: 4, accepted: 4, rejected: 0, failed: 0 });
    expect(sent).toEqual([
      {
        product_id: "mug",
        name: "Mug",
        url: "https://shop.example/mug",
        description: "Big",
        price: "5",
        image_url: "https://x.example/2.png",
        specs: { brand: "Acme", sku: "M-1" },
      },
      {
        product_id: "cup",
        name: "Cup",
        url: "https://shop.example/cup",
        price: "3",
        specs: { brand: "Acme", sku: "C-1" },
      },
    ]);
  });

  test("are accepted or rejected as a unit, and the invalid row is named", async () => {
    const { rows, rejected } = await products("mug,Mug,,,M-1,cheap,\nmug,,,,M-2,7,\ncup,Cup,,,C-1,3,\n");
    expect(rows).toEqual({ read: 3, accepted: 1, rejected: 2, failed: 0 });
    const found = parse(rejected, { columns: true }) as Record<string, string>[];
    expect(found.map(({ _line, _column, _code }) => [_line, _column, _code])).toEqual([
      ["2", "Variant Price", "bad_price"],
      ["3", "", "product_incomplete"],
    ]);
  });

  test("are one product per variant on request, all or none", async () => {
    const text =
      "Handle,Title,Vendor,Variant SKU,Variant Price,Image Src\nmug,,,M-2,7,\nmug,Mug,Acme,M-1,5,https://x.example/1.png\n" +
      "mug,,,,,https://x.example/2.png\ncup,Cup,,C-1,3,\ncup,,,C/2,3,\n";
    const { rows, sent, rejected } = await load(text, "products", { layout: "shopify-variants" });
    expect(rows).toEqual({ read: 5, accepted: 3, rejected: 2, failed: 0 });
    expect(sent.map(({ product_id, name, price, image_url }) => [product_id, name, price, image_url])).toEqual([
      ["M-2", "Mug", "7", "https://x.example/1.png"],
      ["M-1", "Mug", "5", "https://x.example/1.png"],
    ]);
    expect(rejected).toMatch(/cup,Cup.*,5,,product_incomplete,[^]*C\/2.*,6,Variant SKU,bad_id,/);
  });

  test("are grouped by the shop's own column, whatever column the ID comes from", async () => {
    const text = "Handle,Title,Vendor,Variant SKU,Variant Price\nmug,Mug,,M-1,5\nmug,,,M-2,7\n";
    const { rows, sent } = await load(text, "products", { map: { product_id: "Variant SKU" } });
    expect(rows).toEqual({ read: 2, accepted: 2, rejected: 0, failed: 0 });
    expect(sent.map(({ product_id }) => product_id)).toEqual(["M-1"]);
  });

  test("reject a WooCommerce variation whose parent is missing", async () => {
    const { rows, rejected } = await load(
      "ID,Type,SKU,Name,Regular price,Parent\n1,simple,a,A,5,\n2,variation,b,B,5,id:9\n3,variation,c,C,5,id:9\n4,variation,d,D,5,\n",
      "products",
    );
    expect(rows).toEqual({ read: 4, accepted: 1, rejected: 3, failed: 0 });
    const found = parse(rejected, { columns: true }) as Record<string, string>[];
    expect(found.map(({ _line, _column, _code }) => [_line, _column, _code])).toEqual([
      ["3", "Parent", "no_parent"],
      ["4", "Parent", "no_parent"],
      ["5", "Parent", "no_parent"],
    ]);
  });
});

test("the rows of a group can only be sent together", async () => {
  const items: Item[] = [];
  const observer: ImportObserver = {
    behavior: (behavior) => ({
      ...behavior,
      send: async (service, sent, options) => {
        items.push(...sent);
        return behavior.send(service, sent, options);
      },
    }),
    files: () => {},
    tally: () => {},
  };
  const rows = [0, 1].flatMap((at) => rowsOf(1000 + at, [line, { ...line, product: 2 }], 0, false));
  await load(write(rows), "orders", {}, observer);
  expect(items.map(({ key, isIndivisible, rows: own }) => [key, isIndivisible, own.map((row) => row.line)])).toEqual([
    ["1000", true, [2, 3]],
    ["1001", true, [4, 5]],
  ]);
});

const line: Line = { product: 1, units: 1, fault: "none" };
