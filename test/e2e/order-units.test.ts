import { writeFileSync } from "node:fs";
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

test("divides orders of many units into calls that the service accepts", async () => {
  const home = homes.open();
  const rows = Array.from({ length: 15 }, (_, n) => `${row.replace("1,", `${n},`)},1000`);
  const path = writeOrders(home, [`${header},Units`, ...rows]);
  const { data } = await home.json(["orders", "import", path, "--map", "quantity=Units", "--batch-size", "1000"]);
  expect(data.rows).toMatchObject({ read: 15, accepted: 15 });
  expect(data).toMatchObject({ calls: { sent: 4 } });
});
