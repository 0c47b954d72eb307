import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { makeGzip, makeZip } from "../support/archives.ts";
import { type Home, Homes } from "../support/starpost.ts";
import { type Cell, makeSheet, makeWorkbook, type SheetForm } from "../support/workbooks.ts";

const homes = new Homes();
afterAll(() => homes.remove());
let home: Home;
beforeEach(() => {
  home = homes.open();
});

const columns = ["order_id", "order_date", "customer_name", "email", "product_id", "product_name", "product_url"];
const orderOf = (at: number, email = "ada@mail.example") => ({
  order_id: 1_000 + at,
  order_date: "2026-01-02",
  customer_name: "Ada\nLovelace",
  email,
  product_id: `p-${at}`,
  product_name: "Name",
  product_url: "https://shop.example/p",
});
const cellsOf = (order: ReturnType<typeof orderOf>): Cell[] => Object.values(order);

const rows = Array.from({ length: 6 }, (_, at) => orderOf(at));
const bad = orderOf(8, "nobody");
const workbook = makeSheet([[], columns, ...rows.map(cellsOf), [], cellsOf(bad), cellsOf(orderOf(9))]);
const ndjson = [...rows, bad, orderOf(9)].map((row) => `${JSON.stringify(row)}\n`).join("");

function write(name: string, content: string | Buffer): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

const options = () => ({ cwd: home.folder, env: { STARPOST_HOME: join(home.folder, "home") } });
const load = (args: readonly string[], input?: Buffer) =>
  home.json(["orders", ...args], { ...options(), ...(input && { input }) });

describe("workbooks", () => {
  test("are imported with the numbers of their rows, resumed without the file, and verified", async () => {
    const path = write("orders.xlsx", workbook);
    const stopped = await load(["import", "orders.xlsx", "--max-errors", "0", "--batch-size", "2"]);
    expect([stopped.exitCode, stopped.data.state, stopped.data.files]).toEqual([6, "stopped", ["orders.xlsx"]]);
    rmSync(path);
    const resumed = await home.json(["imports", "resume", stopped.data.import_id, "--max-errors", "5"], options());
    expect([resumed.exitCode, resumed.data.rows]).toEqual([3, { read: 8, accepted: 7, rejected: 1, failed: 0 }]);
    expect(resumed.stderr).toContain("orders.xlsx, row 10: ");
    expect(readFileSync(resumed.data.rejects_file ?? "", "utf8")).toMatch(
      /^\uFEFForder_id.*\n1008,.*\n.*,10,email,bad_email/,
    );
    const verified = await home.json<{ compared: number }>(["imports", "verify", stopped.data.import_id], options());
    expect(verified.exitCode).toBe(0);
    const stored = await home.json<{ order_id: string }[]>(["orders", "list"], options());
    expect(stored.data.map(({ order_id: id }) => id).toSorted()).toEqual([
      ...rows.map(({ order_id: id }) => String(id)),
      "1009",
    ]);
    const undone = await home.json(["imports", "undo", stopped.data.import_id, "--plan"], options());
    expect(undone.exitCode).toBe(0);
  });

  test("are planned, and the plan is applied unless the file changes", async () => {
    write("orders.xlsx", workbook);
    const planned = await load(["plan", "orders.xlsx", "--out", "plan.json"]);
    expect([planned.exitCode, planned.data.rows.rejected]).toEqual([3, 1]);
    const applied = await home.json(["imports", "apply", "plan.json"], options());
    expect([applied.exitCode, applied.data.rows.accepted]).toEqual([3, 7]);
    write("orders.xlsx", makeSheet([columns, cellsOf(orderOf(1))]));
    expect((await home.json(["imports", "apply", "plan.json"], options())).exitCode).toBe(2);
  });

  test("are read from archives and standard input, and leave only the table behind", async () => {
    write(
      "both.zip",
      makeZip([
        { name: "a.xlsx", bytes: workbook },
        { name: "read me.md", bytes: Buffer.from("x") },
      ]),
    );
    const fromZip = await load(["import", "both.zip"]);
    expect([fromZip.data.files, fromZip.data.rows.accepted]).toEqual([["both.zip/a.xlsx"], 7]);
    const fromInput = await load(["import", "-"], makeGzip(workbook));
    expect([fromInput.data.files, fromInput.data.rows.accepted]).toEqual([["-"], 7]);
    const left = readdirSync(join(home.folder, "home", "imports", fromInput.data.import_id ?? ""));
    expect(left.filter((name) => /^(?:input|table)/.test(name))).toEqual(["table-1.csv"]);
  });

  test("have several sheets; the layout is recognized, and `map` uses the same sheet", async () => {
    const shop = readFileSync("fixtures/layouts/shopify-orders.csv", "utf8").split("\n")[0] ?? "";
    const sheets: SheetForm[] = [
      { name: "Notes", rows: { 1: ["note"] } },
      { name: "Export", rows: { 1: shop.split(",") } },
      { name: "Mine", rows: { 1: columns } },
    ];
    write("orders.xlsx", makeWorkbook({ sheets }));
    const urls = ["--product-url", "https://shop.example/p/{product_id}"];
    const shopify = await load(["import", "orders.xlsx", "--sheet", "export", "--dry-run", ...urls]);
    expect([shopify.exitCode, shopify.stderr]).toEqual([0, expect.stringContaining("Shopify")]);
    const unknown = await load(["import", "orders.xlsx", "--sheet", "Exports"]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining("Did you mean Export?")]);
    const mapped = await load(["map", "orders.xlsx", "--sheet", "Mine", "--no-input"]);
    expect([mapped.exitCode, mapped.data]).toEqual([0, expect.objectContaining({ kind: "orders" })]);
    expect((await load(["map", "orders.xlsx", "--no-input"])).exitCode).toBe(2);
  });
});

describe("JSON", () => {
  test.each([
    ["an object per line", () => ndjson, /orders\.json:7/],
    ["an array", () => JSON.stringify([...rows, bad, orderOf(9)]), /orders\.json, element 7/],
    ["an object around an array", () => JSON.stringify({ orders: [...rows, bad, orderOf(9)] }, null, 2), /, element 7/],
  ])("is imported from %s", async (_name, content, place) => {
    write("orders.json", content());
    const { data, exitCode, stderr } = await load(["import", "orders.json"]);
    expect([exitCode, data.rows]).toEqual([3, { read: 8, accepted: 7, rejected: 1, failed: 0 }]);
    expect(stderr).toMatch(place);
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/\n1008,.*\n.*,7,email,bad_email/);
  });

  test("is read from standard input, and invalid JSON is an error before anything is sent", async () => {
    expect((await load(["import", "-", "--dry-run"], Buffer.from(ndjson))).data.rows.accepted).toBe(7);
    const { exitCode, stderr } = await load(["import", "-"], Buffer.from(`${ndjson}{"order_id":}\n`));
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/-:9: .*column 13/)]);
  });
});
