import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { type Home, Homes, readPurchases, remoteEnv, type Summary } from "../support/starpost.ts";

const homes = new Homes();
const newHome = (env?: Record<string, string>) => homes.open(env);
afterAll(() => homes.remove());

const rowCount = Number(process.env["STARPOST_TEST_KILL_ROWS"] ?? 6_000);
const killCount = Number(process.env["STARPOST_TEST_KILLS"] ?? 6);

function writeOrders(home: Home): string {
  const path = join(home.folder, "orders.csv");
  const rows = Array.from({ length: rowCount }, (_, at) => {
    const order = Math.floor(at / 1.5);
    return `o-${order},2026-01-02,N,n${order}@example.com,p-${at % 500},Name,https://shop.example/p\n`;
  });
  writeFileSync(
    path,
    `order_id,order_date,customer_name,email,product_id,product_name,product_url\n${rows.join("")}`,
  );
  return path;
}

async function latest(home: Home): Promise<Summary | undefined> {
  return (await home.json<Summary[]>(["imports", "list"])).data[0];
}

/** Waits until the latest run has stored something and is under way still, however slow the machine is. */
async function untilUnderWay(home: Home): Promise<Summary> {
  for (;;) {
    const found = await latest(home);
    if (found?.state === "running" && found.rows.accepted > 0) return found;
    await sleep(100);
  }
}

/** Kills an import again and again at random moments, until a resume gets to the end. */
async function killUntilDone(home: Home, path: string, kills: number): Promise<Summary> {
  let args = ["orders", "import", path, "--rate", "0", "--json"];
  for (let kill = 0; kill < kills; kill++) {
    const run = home.start(args);
    await sleep(150 + Math.random() * 700);
    run.kill("SIGKILL");
    const { exitCode } = await run;
    const found = await latest(home);
    if (found) {
      const { read, accepted, rejected, failed } = found.rows;
      expect(read).toBe(accepted + rejected + failed);
      args = ["imports", "resume", found.import_id, "--json"];
    }
    if (exitCode === 0) break;
    if (found) expect(found.state).toBe("interrupted");
  }
  const last = await home.run(args);
  expect(last.stderr).not.toMatch(/error/);
  expect(last.exitCode).toBe(0);
  return JSON.parse(last.stdout) as Summary;
}

describe(`kill -9 at ${killCount} random moments of ${rowCount} rows, then resume`, () => {
  test("in-process: every row is there once", async () => {
    const home = newHome();
    const summary = await killUntilDone(home, writeOrders(home), killCount);
    expect(summary.state).toBe("finished");
    expect(summary.rows).toEqual({ read: rowCount, accepted: rowCount, rejected: 0, failed: 0 });
    const server = await home.serve();
    const utoken = (await home.run(["auth", "token"])).stdout.trim();
    const { purchases } = await readPurchases(server, utoken);
    expect(purchases).toHaveLength(rowCount);
    await server.stop();
  }, 300_000);

  test("remote: every row is there once", async () => {
    const far = newHome();
    const server = await far.serve();
    const home = newHome(remoteEnv(server));
    const summary = await killUntilDone(home, writeOrders(home), killCount);
    expect(summary.rows).toEqual({ read: rowCount, accepted: rowCount, rejected: 0, failed: 0 });
    const utoken = (await home.run(["auth", "token"])).stdout.trim();
    const { purchases } = await readPurchases(server, utoken);
    expect(purchases).toHaveLength(rowCount);
    await server.stop();
  }, 300_000);
});

describe("signals", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s finishes what is in flight, says how to resume, and it resumes",
    async (signal) => {
      const home = newHome();
      const path = writeOrders(home);
      const run = home.start(["orders", "import", path, "--rate", "4", "--batch-size", "50"]);
      await untilUnderWay(home);
      run.kill(signal);
      const { exitCode, stderr } = await run;
      expect(exitCode).toBe(130);
      const summary = await latest(home);
      expect(summary?.state).toBe("interrupted");
      expect(summary?.rows.accepted).toBeGreaterThan(0);
      expect(summary?.rows.accepted).toBeLessThan(rowCount);
      expect(String(stderr)).toContain(`imports resume ${summary?.import_id}`);
      const resumed = await home.json(["imports", "resume", summary?.import_id ?? "", "--rate", "0"]);
      expect(resumed.exitCode).toBe(0);
      expect(resumed.data.rows.accepted).toBe(rowCount);
      expect(resumed.data.calls.retried).toBe(0);
    },
  );

  test("a run cannot be resumed twice at once, and a changed file is refused", async () => {
    const home = newHome();
    const path = writeOrders(home);
    const run = home.start(["orders", "import", path, "--rate", "2", "--batch-size", "50", "--json"]);
    const running = await untilUnderWay(home);
    const second = await home.run(["imports", "resume", running.import_id]);
    expect(second.exitCode).toBe(2);
    expect(second.stderr).toMatch(/under way in another process/);
    run.kill("SIGKILL");
    await run;
    writeFileSync(path, "order_id,order_date,customer_name,email,product_id,product_name,product_url\n");
    const changed = await home.run(["imports", "resume", running.import_id]);
    expect(changed.exitCode).toBe(2);
    expect(changed.stderr).toMatch(/has changed since/);
  });

  test("a run goes on only where it began", async () => {
    const home = newHome();
    const run = home.start(["orders", "import", writeOrders(home), "--rate", "2", "--batch-size", "50"]);
    const { import_id: id } = await untilUnderWay(home);
    run.kill("SIGKILL");
    await run;
    const elsewhere = { env: { STARPOST_DATABASE: join(home.folder, "other.db") } };
    const refused = await home.run(["imports", "resume", id], elsewhere);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/was begun with the profile local, at .*starpost\.db/);
  });

  test("a resume that is interrupted at once does not forget what the run had done", async () => {
    const home = newHome();
    const first = home.start(["orders", "import", writeOrders(home), "--rate", "8", "--batch-size", "50"]);
    await untilUnderWay(home);
    first.kill("SIGINT");
    await first;
    const before = await latest(home);
    const second = home.start(["imports", "resume", before?.import_id ?? "", "--rate", "1"]);
    await sleep(350);
    second.kill("SIGINT");
    await second;
    const after = await latest(home);
    expect(after?.rows.accepted).toBeGreaterThanOrEqual(before?.rows.accepted ?? 1);
  });

  test("coupons: a killed upload is looked after by reading back, and no code is lost or doubled", async () => {
    const home = newHome();
    const path = join(home.folder, "codes.csv");
    const codes = Array.from({ length: 5_000 }, (_, at) => `CODE-${at}`);
    writeFileSync(path, `code\n${codes.join("\n")}\n`);
    let args = ["coupons", "import", path, "--action", "map_review", "--batch-size", "100", "--json"];
    for (let kill = 0; kill < 4; kill++) {
      const run = home.start(args);
      await sleep(250 + Math.random() * 400);
      run.kill("SIGKILL");
      await run;
      const found = await latest(home);
      if (found) args = ["imports", "resume", found.import_id, "--json"];
    }
    const last = await home.run(args);
    expect(last.exitCode).toBe(0);
    expect((JSON.parse(last.stdout) as Summary).rows).toEqual({
      read: 5_000,
      accepted: 5_000,
      rejected: 0,
      failed: 0,
    });
    const again = await home.json(["coupons", "import", path, "--action", "map_review"]);
    expect(again.exitCode).toBe(3);
    expect(again.data.rows.rejected).toBe(5_000);
  });
});
