import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";
import { countRows } from "../support/row-counts.ts";
import { chooseSize, isSlowSuite } from "../support/suite-size.ts";
import { shortenRetryDelays } from "../support/retry-delays.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const seeds = isSlowSuite ? [7, 8, 9] : [7];
const [orderCount, couponCount] = [chooseSize(4_000, 20_000), chooseSize(2_000, 10_000)];

interface Counts {
  readonly calls: number;
  readonly spared: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly operations: Readonly<Record<string, number>>;
}

function writeFiles(home: Home) {
  const orders = join(home.folder, "orders.csv");
  const coupons = join(home.folder, "coupons.csv");
  const rows = Array.from(
    { length: orderCount },
    (_, at) => `o-${at},2026-01-02,N,n${at}@example.com,p-${at % 500},Name,https://shop.example/p\n`,
  );
  writeFileSync(
    orders,
    `order_id,order_date,customer_name,email,product_id,product_name,product_url\n${rows.join("")}`,
  );
  const codes = Array.from({ length: couponCount }, (_, at) => `CODE-${at}\n`);
  writeFileSync(coupons, `code\n${codes.join("")}`);
  return { orders, coupons };
}

/** Imports both files into a service with injected faults, and counts the calls at the service. */
async function importWithFaults(chaos: string) {
  const far = homes.open();
  const server = await far.serve(["--quiet", "--chaos", chaos]);
  const home = homes.open(remoteEnv(server));
  const files = writeFiles(home);
  const orders = await home.json(["orders", "import", files.orders, "--rate", "0"]);
  const upload = ["coupons", "import", files.coupons, "--action", "map_review", "--rate", "0"];
  const coupons = await home.json(upload);
  expect(await server.stop()).toBe(0);
  const events = String((await server.process).stdout)
    .trim()
    .split("\n");
  const counts = JSON.parse(events.at(-1) ?? "") as Counts;
  return { orders, coupons, counts, stored: countRows(far.folder) };
}

const everything = {
  orders: orderCount,
  orderIds: orderCount,
  purchases: orderCount,
  coupons: couponCount,
  couponCodes: couponCount,
};

describe("a service that rejects requests, fails, and closes connections before or after processing", () => {
  shortenRetryDelays();

  let baseline: Counts | undefined;

  /** The number of calls of the same import without faults. */
  async function countNeeded(): Promise<Counts> {
    baseline ??= (await importWithFaults("seed=1")).counts;
    expect(baseline.calls).toBe(baseline.spared);
    return baseline;
  }

  test.each(seeds)("seed %i: stores every record once, without unnecessary calls", async (seed) => {
    const { calls: faultless, operations } = await countNeeded();
    const { orders, coupons, counts, stored } = await importWithFaults(`drop=5%,429=10%,500=5%,reset=5%,seed=${seed}`);
    expect([orders.exitCode, coupons.exitCode]).toEqual([0, 0]);
    expect(orders.data.rows).toEqual({ read: orderCount, accepted: orderCount, rejected: 0, failed: 0 });
    expect(coupons.data.rows).toEqual({ read: couponCount, accepted: couponCount, rejected: 0, failed: 0 });
    expect(stored).toMatchObject(everything);
    const met = Object.values(counts.faults).reduce((sum, count) => sum + count, 0);
    expect(met).toBeGreaterThan(0);
    // Each fault costs one call. A lost coupon upload costs one more, to check whether its codes exist.
    const needed = faultless + met;
    expect(counts.calls).toBeLessThanOrEqual(1.3 * needed);
    const looks = (counts.operations["coupons.list"] ?? 0) - (operations["coupons.list"] ?? 0);
    expect(counts.calls).toBeLessThanOrEqual(needed + Math.max(0, looks));
    const ratios = [counts.calls / faultless, counts.calls / needed].map((ratio) => ratio.toFixed(3));
    process.stderr.write(
      `seed ${seed}: ${counts.calls} calls, ${faultless} without faults (${ratios[0]}), ${needed} with one more for each of ${met} faults (${ratios[1]})\n`,
    );
  });
});
