import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { runBuilt } from "../support/built-program.ts";
import { splitWords, stockHome } from "../support/command-lines.ts";
import { sample } from "../support/suite-size.ts";

const total = 25_000;

/** Each table of lists, with the values that its copied rows do not share, as expressions of their number `n`. */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  accounts: { app_key: "'key' || n" },
  account_versions: { account_id: "n + 1" },
  products: { product_id: "'p' || n" },
  purchases: { unit: "n + 1000" },
  coupons: { code: "'code' || n" },
  unsubscribers: { email: "n || '@mail.example'", email_key: "n || '@mail.example'" },
  reviews: {},
  questions: { content_key: "n" },
  product_groups: { name: "'group' || n" },
  mails: { order_row: "null", due_at: "due_at + n % 100" },
  webhooks: { url: "'https://shop.example/' || n" },
  webhook_deliveries: { event_id: "'event' || n" },
  webhook_attempts: {},
  erasures: {},
  missed_products: { order_id: "'order' || n" },
};

const questionWords = splitWords(
  "--product-id teapot --product-title Teapot --product-url https://shop.example/teapot --display-name Ann --email ann@mail.example --review-content 'Does it pour?'",
);

let stock: Awaited<ReturnType<typeof stockHome>>;

beforeAll(async () => {
  stock = await stockHome(async (call, folder) => {
    await call("api", "coupons.upload", "--action", "map_review", "--codes", "AAAA");
    await call("unsubscribers", "add", "ann@mail.example", "--type", "1");
    await call("questions", "ask", ...questionWords);
    await call("questions", "hide", "1");
    await call("groups", "import", join(folder, "groups.csv"));
    await call("customers", "erase", "nobody@mail.example", "--yes");
    fill(join(folder, "starpost.db"));
  });
}, 60_000);
afterAll(() => stock.remove());

/** Copies the first row of each table until there are enough. */
function fill(path: string): void {
  const file = new SqliteFile(path);
  file.execute(`pragma synchronous = off; begin;
    insert into webhook_attempts (account_id, delivery_row, worker, started_at) values (1, 1, 'w', 1);
    insert into missed_products (account_id, order_id, product_sku, product_name, user_email, user_name, order_date, created_at)
      values (1, 'o', 'p', 'Pot', 'ann@mail.example', 'Ann', 1, 1)`);
  for (const [table, changes] of Object.entries(tables)) {
    const columns = file.all(`select name from pragma_table_info('${table}') where name <> 'id'`);
    const names = columns.map(({ name }) => String(name));
    file.execute(`with recursive numbers (n) as
        (select 1 union all select n + 1 from numbers where n < ${total} - (select count(*) from ${table}))
      insert into ${table} (${names.join(", ")})
      select ${names.map((name) => changes[name] ?? name).join(", ")} from (select * from ${table} limit 1), numbers`);
  }
  file.execute("commit");
  file.close();
}

/** Copies the manifest of the first run until there are enough runs. */
function fillRuns(folder: string): void {
  const runs = readdirSync(folder);
  const manifest = readFileSync(join(folder, runs[0] ?? "", "manifest.json"), "utf8");
  for (let n = runs.length; n < total; n++) {
    const id = `20250101-000000-${n.toString(16).padStart(6, "0")}`;
    mkdirSync(join(folder, id));
    writeFileSync(join(folder, id, "manifest.json"), manifest.replaceAll(runs[0] ?? "", id));
  }
}

const countRows: Readonly<Record<string, (text: string) => number>> = {
  json: (text) => (JSON.parse(text) as unknown[]).length,
  ndjson: (text) => text.trimEnd().split("\n").length,
  csv: (text) => parse(text).length - 1,
};

const lists = [
  "mail list",
  "webhooks list",
  "webhooks deliveries",
  "imports list",
  "customers erasures",
  "products list",
  "orders list",
  "coupons list",
  "unsubscribers list",
  "reviews list",
  "questions list --state hidden",
  "groups list",
  "account list",
  "products missed",
  "mail list --sort soonest",
  "mail list --state queued",
  "mail list --since 7d",
  "webhooks deliveries --since 7d",
  "orders list --sort newest",
  "unsubscribers list --sort newest",
  "reviews list --score 5",
  "api webhookDeliveries.attempts",
];
const pairs = lists.flatMap((line) => Object.keys(countRows).map((format) => [line, format] as const));

describe("a list has all of its records:", () => {
  test.each(sample(pairs, { offset: 0, step: 4 }))("%s --format %s", async (line, format) => {
    if (line === "imports list") fillRuns(join(stock.folder, "imports"));
    const argv = [...splitWords(line), "--format", format];
    const { status, stdout, stderr } = await runBuilt(argv, { env: { STARPOST_HOME: stock.folder } });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(countRows[format]?.(stdout)).toBe(total);
  });
});

test.each([
  ["mail list", 7_000, total],
  ["imports list", 1, expect.any(Number)],
])("a limit of %s has no maximum, and is reported", async (line, limit, all) => {
  const list = async (wanted: number) => {
    const argv = [...splitWords(line), "--format", "csv", "--limit", String(wanted)];
    const { stdout, stderr } = await runBuilt(argv, { env: { STARPOST_HOME: stock.folder } });
    return [parse(stdout).length - 1, stderr];
  };
  expect(await list(limit)).toEqual([limit, expect.stringContaining("--limit")]);
  expect(await list(total)).toEqual([all, ""]);
});

test("a table shows the newest, and reports that there are more", async () => {
  const { stdout, stderr } = await runBuilt(["mail", "list"], { env: { STARPOST_HOME: stock.folder } });
  expect(stdout.trimEnd().split("\n")).toHaveLength(21);
  expect(stdout).toContain(String(total));
  expect(stderr).toContain("--limit");
});
