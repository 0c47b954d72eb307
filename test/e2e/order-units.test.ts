import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const header = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
const row = "1,ann@mail.example,Ann,2026-01-31,cup,Cup,https://shop.example/cup";

function writeOrders(home: Home, lines: readonly string[]): string {
  const path = join(home.folder, "orders.csv");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** Imports an order of which the file states the units. */
async function importUnits(home: Home, units: string) {
  const path = writeOrders(home, [`${header},Units`, `${row},${units}`]);
  return home.json(["orders", "import", path, "--map", "quantity=Units"]);
}

async function countPurchases(home: Home): Promise<number> {
  return (await home.json<readonly unknown[]>(["orders", "list"])).data.length;
}

test("stores at most 1,000 of the units that a file states", async () => {
  const home = homes.open();
  const { exitCode, data } = await importUnits(home, "1001");
  expect([exitCode, data.rows.accepted]).toEqual([0, 1]);
  expect(await countPurchases(home)).toBe(1_000);
});

test("rejects the rows of an order beyond 1,000 for one product", async () => {
  const home = homes.open();
  const rejects = join(home.folder, "rejects.csv");
  const path = writeOrders(home, [header, ...Array.from({ length: 1_001 }, () => row)]);
  const { exitCode, data } = await home.json(["orders", "import", path, "--rejects", rejects]);
  expect([exitCode, data.rows]).toEqual([3, { read: 1_001, accepted: 1_000, rejected: 1, failed: 0 }]);
  expect(readFileSync(rejects, "utf8")).toContain(",order_too_large,");
  expect(await countPurchases(home)).toBe(1_000);
});

test("rejects the rows of an order beyond 1,000 products", async () => {
  const home = homes.open();
  const rejects = join(home.folder, "rejects.csv");
  const rows = Array.from({ length: 1_001 }, (_, n) => row.replaceAll("cup", `cup${n}`));
  const args = ["orders", "import", writeOrders(home, [header, ...rows]), "--rejects", rejects];
  const { exitCode, data } = await home.json(args);
  expect([exitCode, data.rows]).toEqual([3, { read: 1_001, accepted: 1_000, rejected: 1, failed: 0 }]);
  expect(readFileSync(rejects, "utf8")).toMatch(/,order_too_large,.*1000 products/);
});

test("divides orders of many units into calls that the service accepts", async () => {
  const home = homes.open();
  const rows = Array.from({ length: 15 }, (_, n) => `${row.replace("1,", `${n},`)},1000`);
  const path = writeOrders(home, [`${header},Units`, ...rows]);
  const { data } = await home.json(["orders", "import", path, "--map", "quantity=Units", "--batch-size", "1000"]);
  expect(data.rows).toMatchObject({ read: 15, accepted: 15 });
  expect(data).toMatchObject({ calls: { sent: 2 } });
});

test("adds and removes units as the file states them", async () => {
  const home = homes.open();
  for (const units of [3, 1, 2]) {
    expect((await importUnits(home, String(units))).data.rows.accepted).toBe(1);
    expect(await countPurchases(home)).toBe(units);
  }
});
