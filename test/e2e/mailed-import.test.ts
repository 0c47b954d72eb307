import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { digestDatabase, type Plan } from "../support/planned-imports.ts";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const header = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
const row = (order: string, email: string, date: string, product: string) =>
  `${order},${email},Jane,${date},${product},${product.toUpperCase()},https://shop.example/${product}`;

/** The date a number of days ago, as in orders. */
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

function writeCsv(home: Home, rows: readonly string[], name = "orders.csv"): string {
  const path = join(home.folder, name);
  writeFileSync(path, `${[header, ...rows].join("\n")}\n`);
  return path;
}

/** Orders with two due emails, one of them for an old order, and one that is not due yet. */
function writeOrders(home: Home): string {
  return writeCsv(home, [
    row("1001", "jane@mail.example", daysAgo(20), "teapot"),
    row("1001", "jane@mail.example", daysAgo(20), "teapot"),
    row("1002", "old@mail.example", daysAgo(400), "teapot"),
    row("1003", "bo@mail.example", daysAgo(4), "pan"),
  ]);
}

interface StoredEmail {
  readonly order_id: string;
  readonly state: string;
  readonly reason: string | null;
}

/** Reads the database directly. */
function readEmails(home: Home): StoredEmail[] {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  try {
    const rows = file.all(
      "select order_id, state, reason from mails join orders on orders.id = order_row order by mails.id",
    );
    return rows as unknown as StoredEmail[];
  } finally {
    file.close();
  }
}

const readOutcomes = (home: Home) => readEmails(home).map(({ order_id, state, reason }) => [order_id, reason ?? state]);

function readOutbox(home: Home): string[] {
  const folder = join(home.folder, "outbox");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
}

describe("an import of orders", () => {
  test("queues no emails by default, and mail why explains that the orders are past orders", async () => {
    const home = homes.open();
    const { exitCode, stderr } = await home.run(["orders", "import", writeOrders(home)]);
    expect([exitCode, readEmails(home)]).toEqual([0, []]);
    expect(stderr).not.toContain("mail");
    const why = await home.run(["mail", "why", "1003"]);
    expect([why.exitCode, why.stderr]).toEqual([0, ""]);
    expect(why.stdout).toContain(`Order 1003 of ${daysAgo(4)}, Jane <bo@mail.example>`);
    expect(why.stdout).toMatch(/^ {2}past_order +SUPPRESSES/m);
    expect(why.stdout).toMatch(/^ {2}requests_off +not evaluated/m);
    expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
    expect(readOutbox(home)).toEqual([]);
  });

  test("queues an email for each product with --send-mail, and mail run sends those that are due", async () => {
    const home = homes.open();
    const file = writeOrders(home);
    const { exitCode, stderr, stdout } = await home.run(["orders", "import", file, "--send-mail"]);
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(new RegExp(`^2 emails .*${daysAgo(0)}`, "m"));
    const ran = await home.run(["mail", "run", "--once"]);
    expect(ran.exitCode).toBe(0);
    expect(readOutcomes(home)).toEqual([
      ["1001", "sent"],
      ["1002", "order_too_old"],
      ["1003", "queued"],
    ]);
    const [eml, ...others] = readOutbox(home);
    expect(others).toEqual([]);
    expect(eml).toContain("jane@mail.example");
    const again = await home.run(["orders", "import", file, "--send-mail"]);
    expect(again.stderr).toMatch(new RegExp(`^1 email .*${daysAgo(-10)}`, "m"));
    expect(readEmails(home)).toHaveLength(3);
  });

  test("supports --send-mail with a remote service", async () => {
    const shop = homes.open();
    const server = await shop.serve(["--no-worker"]);
    try {
      const home = homes.open(remoteEnv(server));
      const file = writeOrders(home);
      const planned = await home.json<Plan>(["orders", "plan", file, "--send-mail", "--rate", "0"]);
      expect(planned.data.mails).toMatchObject({ send_mail: true, sent_by_import: 2 });
      expect((await home.run(["orders", "import", file, "--rate", "0"])).exitCode).toBe(0);
      expect(readEmails(shop)).toEqual([]);
      const more = writeCsv(home, [row("1004", "cy@mail.example", daysAgo(1), "cup")], "more.csv");
      const { stderr } = await home.run(["orders", "import", more, "--rate", "0", "--send-mail"]);
      expect(stderr).toMatch(/^1 email /m);
      expect(readOutcomes(shop)).toEqual([["1004", "queued"]]);
      expect((await home.run(["mail", "rules", "set", "due_after_days", "2"])).exitCode).toBe(0);
      const replanned = await home.json<Plan>([
        "orders",
        "plan",
        writeCsv(home, [row("1005", "di@mail.example", daysAgo(1), "cup")], "next.csv"),
        "--send-mail",
        "--rate",
        "0",
      ]);
      expect(replanned.data.mails?.if_sent.days).toEqual([{ day: daysAgo(-1), mails: 1 }]);
      expect((await home.run(["mail", "why", "1004"])).stdout).toContain(" will be sent to ");
    } finally {
      await server.stop();
    }
  });
});

describe("a plan of orders", () => {
  test("reports the emails that --send-mail would send, and records the flag for imports apply", async () => {
    const home = homes.open();
    const file = writeOrders(home);
    await home.run(["mail", "rules", "list"]);
    const before = digestDatabase(join(home.folder, "starpost.db"), ["utokens"]);
    const out = join(home.folder, "plan.json");
    const { stderr, exitCode } = await home.run(["orders", "plan", file, "--send-mail", "--out", out]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`(--send-mail): 2 emails to 2 people, on ${daysAgo(0)} (1), ${daysAgo(-10)} (1)`);
    expect(stderr).toContain("none for 1 ordered product: ");
    expect(stderr).not.toContain("queued");
    expect(digestDatabase(join(home.folder, "starpost.db"), ["utokens"])).toBe(before);
    const applied = await home.run(["imports", "apply", out]);
    expect(applied.exitCode).toBe(0);
    expect(applied.stderr).toMatch(/^2 emails /m);
    expect(readEmails(home)).toHaveLength(3);
  });
});

test("queues the emails of all orders when a killed import is resumed", async () => {
  const home = homes.open();
  const count = 1_200;
  const rows = Array.from({ length: count }, (_, at) =>
    row(`o-${at}`, `n${at}@mail.example`, daysAgo(2), `p-${at % 50}`),
  );
  const file = writeCsv(home, rows);
  const args = ["orders", "import", file, "--send-mail", "--batch-size", "20", "--rate", "4"];
  const running = home.start(args);
  await home.waitForRows(1);
  running.kill("SIGKILL");
  await running;
  const [killed] = (await home.json<Summary[]>(["imports", "list"])).data;
  expect(killed?.state).toBe("interrupted");
  expect(readEmails(home).length).toBeLessThan(count);
  const resumed = await home.run(["imports", "resume", killed?.import_id ?? "", "--rate", "0"]);
  expect(resumed.exitCode).toBe(0);
  expect(resumed.stderr).toMatch(/^\d+ emails /m);
  const emails = readEmails(home);
  expect(new Set(emails.map(({ order_id }) => order_id)).size).toBe(count);
  expect(emails).toHaveLength(count);
});

describe("mail rules and mail why", () => {
  const home = homes.open();
  beforeAll(() => home.init());

  test("lists rules and settings as text, JSON, and CSV", async () => {
    const { stdout, stderr, exitCode } = await home.run(["mail", "rules", "list"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}due_after_days +14 /m);
    expect(stdout).toMatch(/^ {2}unsubscribed +always /m);
    expect(stdout).toMatch(/^ {2}too_many_to_person +on .*\b5\b.*\b30 days/m);
    expect(stdout).toMatch(/^ {4}most_mails_days +30 /m);
    const { data } = await home.json<{ rules: { name: string }[]; settings: { name: string }[] }>([
      "mail",
      "rules",
      "list",
    ]);
    expect([data.rules.length, data.settings.length]).toEqual([14, 21]);
    const csv = await home.run(["mail", "rules", "list", "--format", "csv"]);
    expect(csv.stdout.split("\n").slice(0, 2)).toEqual([
      expect.stringMatching(/^name,value,default,changed,rule,/),
      expect.stringMatching(/^send_review_requests,on,on,false,requests_off,/),
    ]);
  });

  test("changes a setting and resets it", async () => {
    const changed = await home.run(["mail", "rules", "set", "most-mails-to-person", "3"]);
    expect(changed).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^most_mails_to_person is 3 \(default 5\)/),
      stderr: "",
    });
    expect((await home.run(["mail", "rules", "list"])).stdout).toMatch(/^ {2}too_many_to_person +on .*\b3\b/m);
    const { data } = await home.json(["mail", "rules", "set", "most_mails_to_person", "default"]);
    expect(data).toMatchObject({ setting: { name: "most_mails_to_person", value: 5, changed: false } });
  });

  test("reports an unknown order, and a product that the order does not contain", async () => {
    const unknown = await home.run(["mail", "why", "4711"]);
    expect([unknown.exitCode, unknown.stdout]).toEqual([1, ""]);
    expect(unknown.stderr).toContain("4711");
    await home.run(["orders", "import", writeOrders(home), "--send-mail"]);
    const product = await home.run(["mail", "why", "1001", "--product", "cup"]);
    expect(product.exitCode).toBe(1);
    expect(product.stderr).toMatch(/1001.*cup/);
    const json = await home.json<{ decisions: { decided_by: string | null; rules: unknown[] }[] }>([
      "mail",
      "why",
      "1002",
      "--product",
      "teapot",
    ]);
    expect(json.data.decisions).toHaveLength(1);
    expect(json.data.decisions[0]).toMatchObject({ decided_by: "order_too_old" });
    expect(json.data.decisions[0]?.rules).toHaveLength(13);
    const csv = await home.run(["mail", "why", "1002", "--format", "csv"]);
    expect(csv.stdout).toMatch(/^teapot,order_too_old,decides,.*,order_too_old,/m);
  });
});
