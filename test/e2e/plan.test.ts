import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { digestDatabase, type Plan } from "../support/planned-imports.ts";
import { type Home, Homes, remoteEnv, type Summary, writeInto } from "../support/starpost.ts";

const homes = new Homes();
const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
afterAll(() => {
  homes.remove();
  rmSync(folder, { recursive: true });
});

function writeCsv(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const orderHeader = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
const orderRow = (order: string, email: string, date: string, product: string, name = "Pot") =>
  `${order},${email},Ann,${date},${product},${name},https://shop.example/${product}`;

/** The date a number of days ago, as in orders. */
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const databaseOf = (home: Home) => join(home.folder, "starpost.db");

describe("a plan of orders", () => {
  const home = homes.open();
  let plan: Plan;
  let output: string;
  beforeAll(async () => {
    const before = writeCsv(
      "before.csv",
      orderHeader,
      orderRow("1", "ann@mail.example", daysAgo(1), "pot", "Old name"),
      orderRow("77", "ann@mail.example", daysAgo(1), "pot", "Old name"),
    );
    expect((await home.run(["orders", "import", before])).exitCode).toBe(0);
    const file = writeCsv(
      "orders.csv",
      orderHeader,
      orderRow("1", "ann@mail.example", daysAgo(1), "pot", "New name"),
      orderRow("1", "ann@mail.example", daysAgo(1), "pan", "Pan"),
      orderRow("2", "bo@mail.example", daysAgo(40), "pan", "Frying pan"),
      orderRow("002", "cy@mail.example", daysAgo(2), "PAN", "Pan"),
      orderRow("3", "no address", daysAgo(2), "pan", "Pan"),
      orderRow("4", "no address", daysAgo(2), "pan", "Pan"),
      orderRow("5", "cy@mail.example", daysAgo(400), "cup", "Cup"),
      orderRow("6", "cy@mail.example", daysAgo(2), "cup", "Cup"),
      orderRow("6", "cy@mail.example", daysAgo(2), "cup", "Cup"),
    );
    const ran = await home.json<Plan>(["orders", "plan", file]);
    expect(ran.exitCode).toBe(3);
    plan = ran.data;
    output = (await home.run(["orders", "plan", file])).stderr;
  });

  test("counts rows, orders, and calls, and gives the reasons for rejected rows", () => {
    expect(plan).toMatchObject({
      kind: "orders",
      state: "finished",
      rows: { read: 9, accepted: 7, rejected: 2, failed: 0 },
      items: { sent: 5, accepted: 5, rejected: 0 },
      calls: { sent: 1 },
      time: { rate: null },
      rejects: [{ code: "bad_email", column: "email", count: 2 }],
      rejects_file: null,
      not_known: [],
    });
    expect(plan.rejects[0]?.first).toContain('orders.csv:6:email ("no address")');
  });

  test("counts existing records and repeated rows", () => {
    expect(plan.there).toEqual({ items: 1, changed: null, purchases_added: 1 });
    expect(plan.repeated).toEqual({ rows: 1, first: expect.stringMatching(/orders\.csv:10$/) as unknown });
  });

  test("forecasts the emails of new orders, and sends none", () => {
    expect(plan.mails).toEqual({
      send_mail: false,
      sent_by_import: 0,
      if_sent: {
        mails: 4,
        people: 3,
        days: [
          { day: daysAgo(0), mails: 1 },
          { day: daysAgo(-12), mails: 2 },
          { day: daysAgo(-13), mails: 1 },
        ],
        not_sent: expect.objectContaining({ order_too_old: 1, too_many_to_person: 0 }) as unknown,
      },
    });
  });

  test("prints a summary", () => {
    expect(output).toMatch(/orders\.csv .*embedded database/);
    expect(output).toMatch(/^ {2}rows {6}9 read, 7 acceptable, 2 rejected, 0 failed$/m);
    expect(output).toMatch(/^ {2}to send {3}\d orders in 1 call, /m);
    expect(output).toMatch(/^ {2}existing {2}1 order; 1 purchase /m);
    expect(output).toContain('"2", "002" (first: ');
    expect(output).toMatch(/^ {2}emails .*--send-mail.* 4 emails to 3 people, on /m);
    expect(output).toMatch(/^ {2}rejected {2}2 rows: email /m);
    expect(output).toMatch(/^ +none for 1 ordered product: /m);
  });

  test("states why no emails would be sent", async () => {
    const old = writeCsv(
      "old.csv",
      orderHeader,
      orderRow("8", "ann@mail.example", daysAgo(400), "pot"),
      orderRow("9", "gone@mail.example", daysAgo(2), "pot"),
    );
    await home.run(["unsubscribers", "import", writeCsv("gone.csv", "email,type", "gone@mail.example,1")]);
    const unsent = (await home.run(["orders", "plan", old])).stderr;
    expect(unsent).toMatch(/0 emails to 0 people$/m);
    expect(unsent.match(/^ +none for 1 ordered product: /gm)).toHaveLength(2);
    const again = (await home.run(["orders", "plan", join(folder, "before.csv")])).stderr;
    expect(again).toMatch(/0 emails to 0 people, because/);
    expect(again).not.toContain("none for");
  });

  test("prints one CSV record, and adds no run to the list", async () => {
    const { stdout } = await home.run(["orders", "plan", join(folder, "orders.csv"), "--format", "csv"]);
    const [header, record, ...more] = stdout.trim().split("\n");
    expect(more).toEqual([]);
    expect(header?.split(",").slice(0, 4)).toEqual(["kind", "files", "profile", "state"]);
    expect(record).toContain("orders,");
    const { data: runs } = await home.json<Summary[]>(["imports", "list"]);
    expect(runs.flatMap(({ files }) => files)).not.toContain(join(folder, "orders.csv"));
    expect(runs.some(({ files }) => files.includes(join(folder, "before.csv")))).toBe(true);
  });
});

describe("a plan of products", () => {
  test("creates nothing on a fresh machine", async () => {
    const fresh = homes.open();
    const { exitCode } = await fresh.run(["products", "plan", "fixtures/good/products.csv"]);
    expect(exitCode).toBe(0);
    expect(readdirSync(fresh.folder)).toEqual([]);
  });
});

describe("a saved plan", () => {
  let home: Home;
  let file: string;
  const out = join(folder, "plan.json");
  beforeEach(async () => {
    home = homes.open();
    file = writeCsv("saved.csv", orderHeader, orderRow("1", "ann@mail.example", daysAgo(1), "pot"), "2,,,,,,");
    rmSync(out, { force: true });
  });
  const plan = (...flags: string[]) => home.run(["orders", "plan", file, "--out", out, ...flags]);

  test("is readable only by its owner, and is applied as planned", async () => {
    expect(await plan("--platform", "shopify", "--batch-size", "7")).toMatchObject({ exitCode: 3 });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(out, "utf8"))).toMatchObject({
      format: 1,
      kind: "orders",
      profile: "local",
      target: databaseOf(home),
      files: [
        {
          given: file,
          path: file,
          size_bytes: statSync(file).size,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
        },
      ],
      options: { platform: "shopify", batchSize: 7, dryRun: false },
      summary: { rows: { read: 2, accepted: 1, rejected: 1 } },
    });
    const applied = await home.json(["imports", "apply", out]);
    expect(applied).toMatchObject({ exitCode: 3, data: { kind: "orders", rows: { accepted: 1, rejected: 1 } } });
    expect((await home.json<Summary[]>(["imports", "list"])).data).toEqual([applied.data]);
    const database = new SqliteFile(databaseOf(home));
    expect(database.all("select order_id, platform from orders")).toEqual([{ order_id: "1", platform: "shopify" }]);
    database.close();
  });

  test("reports differences if the account has changed", async () => {
    const action = ["--action", "map_review"];
    const codes = writeCsv("codes.csv", "code", "AAAA", "BBBB");
    expect((await home.run(["coupons", "plan", codes, ...action, "--out", out])).exitCode).toBe(0);
    await home.run(["coupons", "import", writeCsv("one.csv", "code", "AAAA"), ...action]);
    const applied = await home.run(["imports", "apply", out]);
    expect(applied.exitCode).toBe(3);
    expect(applied.stderr).toMatch(/^ {2}planned {3}2 rows accepted \(2 codes\), 0 rejected$/m);
    expect(applied.stderr).toMatch(/^ {2}actual {4}1 row accepted \(1 code\), 1 rejected$/m);
  });

  test("can be applied from another folder, with an unchanged mapping", async () => {
    writeFileSync(file, readFileSync(file, "utf8").replace("customer_name", "buyer"));
    expect(await plan("--map", "customer_name=buyer")).toMatchObject({ exitCode: 3 });
    const applied = await home.run(["imports", "apply", out], { cwd: folder, env: {} });
    expect(applied.exitCode).toBe(3);
  });
});

describe("the estimated duration at a rate", () => {
  const serving = homes.open();
  let server: Awaited<ReturnType<Home["serve"]>>;
  let home: Home;
  beforeAll(async () => {
    server = await serving.serve();
    home = homes.open(remoteEnv(server));
  });
  afterAll(async () => {
    await server.stop();
  });

  test.each([
    [[], 5, 2_200],
    [["--rate", "10"], 10, 1_100],
    [["--rate", "10", "--rate-share", "50%"], 5, 2_200],
  ])("with %j", async (flags, rate, ms) => {
    const file = writeCsv("codes.csv", "code", ...Array.from({ length: 12 }, (_, at) => `CODE-${at}`));
    const args = ["coupons", "plan", file, "--action", "map_review", "--batch-size", "1", ...flags];
    const { data } = await home.json<Plan>(args);
    expect(data).toMatchObject({ calls: { sent: 12 }, time: { rate, ms } });
  });
});

/** Counts transactions, also those that change nothing else. */
const counted = ["account_versions"];

describe("an interrupted plan", () => {
  // A killed plan's leftovers in the temporary folder are removed with the folder.
  const home = homes.open({ TMPDIR: folder });
  const big = join(folder, "big.csv");
  let digest: string;
  beforeAll(async () => {
    const out = createWriteStream(big);
    out.write(`${orderHeader}\n`);
    for (let at = 0; at < 60_000; at++) {
      out.write(`${orderRow(`o${at}`, `p${at % 900}@mail.example`, "2026-01-02", `sku${at % 500}`)}\n`);
    }
    out.end();
    await once(out, "finish");
    await home.run(["products", "import", "fixtures/good/products.csv"]);
    digest = digestDatabase(databaseOf(home), counted);
  });

  /** Starts a plan and waits until it has opened the database. */
  async function startPlan() {
    const running = home.start(["orders", "plan", big]);
    const probe = new SqliteFile(databaseOf(home), { busyTimeoutMs: 0 });
    try {
      for (;;) {
        try {
          probe.executeNow("begin immediate");
          probe.execute("rollback");
        } catch {
          // In an object, because `await` would wait for the process itself.
          return { running };
        }
        await new Promise((later) => setTimeout(later, 5));
      }
    } finally {
      probe.close();
    }
  }

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 130],
    ["SIGKILL", undefined],
  ] as const)("leaves nothing behind after %s, and releases the database", async (signal, status) => {
    const { running } = await startPlan();
    running.kill(signal);
    const ended = await running;
    expect(ended.exitCode).toBe(status);
    expect(digestDatabase(databaseOf(home), counted)).toBe(digest);
    const again = await home.run(["products", "import", "fixtures/good/products.csv"]);
    expect(again.exitCode).toBe(0);
    expect((await home.json<Summary[]>(["imports", "list"])).data[0]?.kind).toBe("products");
  });

  test("exits with 5 and a hint if another process has locked the database", async () => {
    const holder = new SqliteFile(databaseOf(home));
    holder.executeNow("begin immediate");
    const refused = await home.json(["orders", "plan", resolve("fixtures/good/orders.csv")]);
    holder.execute("rollback");
    holder.close();
    expect(refused.exitCode).toBe(5);
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { kind: "unavailable", message: expect.stringContaining("locked") as unknown },
    });
  });
});

test("with --json, a plan that stops early is an error", async () => {
  const home = homes.open();
  const file = writeInto(home, "products.csv", "product_id,name,url\np1,Pot,nowhere\np2,Pot,nowhere\n");
  const argv = ["products", "plan", file, "--max-errors", "0", "--json"];
  const { exitCode, stderr } = await home.run(argv);
  const { error } = JSON.parse(stderr) as { error: { kind: string } };
  expect([exitCode, error.kind]).toEqual([6, "stopped"]);
});
