import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";
import { countRows, type RowCounts } from "../support/row-counts.ts";
import { chooseSize, sample } from "../support/suite-size.ts";

const homes = new Homes();
const newHome = (env?: Record<string, string>) => homes.open(env);
afterAll(() => homes.remove());

const rowCount = chooseSize(1_500, 20_000);
const killCount = chooseSize(2, 30);

function writeOrders(home: Home): string {
  const path = join(home.folder, "orders.csv");
  const rows = Array.from({ length: rowCount }, (_, at) => {
    const order = Math.floor(at / 1.5);
    return `o-${order},2026-01-02,N,n${order}@example.com,p-${at % 500},Name,https://shop.example/p\n`;
  });
  writeFileSync(path, `order_id,order_date,customer_name,email,product_id,product_name,product_url\n${rows.join("")}`);
  return path;
}

async function latest(home: Home): Promise<Summary | undefined> {
  return (await home.json<Summary[]>(["imports", "list"])).data[0];
}

/** An import to be killed: its rows, and how many of them are stored afterwards. */
interface Killed {
  readonly args: readonly string[];
  /** The rows of one file; `run` makes them unique among the files. */
  readonly rows: (run: number) => readonly string[];
  readonly header: string;
  /** The number of rows that are duplicates in the input and rejected as such. */
  readonly duplicates: number;
  readonly stored: readonly (keyof RowCounts)[];
  /** Whether the summary counts what was created although calls were repeated. */
  readonly isExact?: boolean;
}

const doubled = 20;

const killed: Readonly<Record<string, Killed>> = {
  orders: {
    args: ["orders", "import", "--batch-size", "20"],
    header: "order_id,order_date,customer_name,email,product_id,product_name,product_url",
    rows: (run) =>
      Array.from({ length: Math.ceil(rowCount / 2) }, (_, at) => {
        const person = `N,n${at}@example.com,p-${at % 500},Name,https://shop.example/p`;
        return `o-${run}-${at},2026-01-02,${person}`;
      }),
    duplicates: 0,
    isExact: true,
    stored: ["orders", "orderIds", "purchases"],
  },
  coupons: {
    args: ["coupons", "import", "--action", "map_review", "--batch-size", "100"],
    header: "code",
    // Some codes occur twice in the input; a repeated call must not be mistaken for such a duplicate.
    rows: (run) => {
      const codes = Array.from({ length: rowCount - doubled }, (_, at) => `CODE-${run}-${at}`);
      return [...codes, ...codes.slice(0, doubled)];
    },
    duplicates: doubled,
    isExact: true,
    stored: ["coupons", "couponCodes"],
  },
  products: {
    args: ["products", "import", "--batch-size", "5"],
    header: "product_id,name,url",
    rows: (run) =>
      Array.from({ length: Math.ceil(rowCount / 3) }, (_, at) => `p-${run}-${at},Name,https://shop.example/${at}`),
    duplicates: 0,
    stored: ["products"],
  },
  unsubscribers: {
    args: ["unsubscribers", "import", "--type", "1"],
    header: "email",
    rows: (run) => Array.from({ length: rowCount }, (_, at) => `n${run}-${at}@example.com`),
    duplicates: 0,
    stored: ["unsubscribers"],
  },
};

/** Whether the killed attempt had sent calls without receiving their responses. */
function hadCallInFlight(home: Home, { import_id: id }: Summary): boolean {
  const journal = join(home.folder, "imports", id, "journal.ndjson");
  // Killed before it wrote a journal.
  if (!existsSync(journal)) return false;
  const lines = readFileSync(journal, "utf8").split("\n");
  const open = new Set<number>();
  for (const line of lines) {
    const [, kind, n] = /^\{"t":"(\w+)"(?:,"n":(\d+))?/.exec(line) ?? [];
    if (kind === "start") open.clear();
    else if (kind === "send") open.add(Number(n));
    else open.delete(Number(n));
  }
  return open.size > 0;
}

/** The journal size of the newest run. */
function readJournalSize(home: Home): number {
  const folder = join(home.folder, "imports");
  const newest = existsSync(folder) ? readdirSync(folder).toSorted().at(-1) : undefined;
  const journal = join(folder, newest ?? "", "journal.ndjson");
  return existsSync(journal) ? statSync(journal).size : 0;
}

/**
 * Waits for a random time to kill an import: one time in four possibly before it did anything, otherwise after it has
 * started to send, however slow the machine is.
 */
async function waitRandomly(home: Home, isOver: () => boolean): Promise<void> {
  if (Math.random() < 0.25) return sleep(Math.random() * 500);
  const before = readJournalSize(home);
  // More than the first line of an attempt.
  while (readJournalSize(home) <= before + 60 && !isOver()) await sleep(5);
  // Prefer short delays: a quick import ends soon.
  return sleep(Math.random() ** 2 * 250);
}

/** Kills an import repeatedly at random times, until a resume finishes or `kills` is reached. */
async function killAndResume(home: Home, begin: readonly string[], kills: number) {
  let args = begin;
  let [made, killsInFlight] = [0, 0];
  while (made < kills) {
    const run = home.start(args);
    await waitRandomly(home, () => run.exitCode !== null);
    run.kill("SIGKILL");
    const { exitCode, signal } = await run;
    if (signal === "SIGKILL") made++;
    const found = await latest(home);
    if (found && found.files[0] === begin.find((arg) => arg.endsWith(".csv"))) {
      const { rows } = found;
      expect(rows.read).toBe(rows.accepted + rows.rejected + rows.failed);
      if (signal === "SIGKILL" && hadCallInFlight(home, found)) killsInFlight++;
      args = ["imports", "resume", found.import_id, "--json"];
      if (exitCode === undefined && found.state !== "finished") expect(found.state).toBe("interrupted");
    }
    if (exitCode !== undefined) break;
  }
  const last = await home.run(args);
  expect(last.stderr).not.toMatch(/error/);
  return { made, killsInFlight, summary: JSON.parse(last.stdout) as Summary };
}

/** Imports files of one record type in turn until `kills` runs were killed, then counts the stored records. */
async function killRuns(home: Home, far: Home, kind: string, kills: number): Promise<void> {
  const { args, header, rows, duplicates, stored, isExact = false } = killed[kind] as Killed;
  let [made, killsInFlight, files, taken] = [0, 0, 0, 0];
  while (made < kills) {
    const path = join(home.folder, `${kind}-${files}.csv`);
    const lines = rows(files++);
    writeFileSync(path, `${header}\n${lines.join("\n")}\n`);
    const done = await killAndResume(home, [...args, path, "--rate", "0", "--json"], kills - made);
    made += done.made;
    killsInFlight += done.killsInFlight;
    taken += lines.length - duplicates;
    expect(done.summary.state).toBe("finished");
    expect(done.summary.rows).toEqual({
      read: lines.length,
      accepted: lines.length - duplicates,
      rejected: duplicates,
      failed: 0,
    });
    if (isExact) {
      const created = lines.length - duplicates;
      expect(done.summary.items).toMatchObject({ accepted: created, created, changed: 0, unchanged: 0 });
    }
    if (duplicates > 0) {
      const rejects = readFileSync(done.summary.rejects_file ?? "", "utf8")
        .trim()
        .split("\n")
        .slice(1);
      expect(rejects.filter((line) => !line.includes(",duplicate,"))).toEqual([]);
      expect(rejects).toHaveLength(duplicates);
    }
    const verified = await home.run(["imports", "verify", done.summary.import_id, "--rate", "0"]);
    expect([verified.exitCode, verified.stderr]).toEqual([0, expect.any(String)]);
  }
  const counts = countRows(far.folder);
  expect(stored.map((name) => [name, counts[name]])).toEqual(stored.map((name) => [name, taken]));
  process.stderr.write(
    `${kind}: ${made} kills of ${files} runs, ${killsInFlight} of them with a call in flight; ${taken} rows, each stored once\n`,
  );
}

const killCounts: readonly (readonly [kind: string, kills: number])[] = [
  ["orders", killCount],
  ["coupons", killCount],
  ["products", Math.ceil(killCount / 3)],
  ["unsubscribers", Math.ceil(killCount / 3)],
];

describe(`kill -9 at ${killCount} random times, then resume`, () => {
  // In the slow suite, every kind in both ways.
  test.each(sample(killCounts, { offset: 0, step: 2 }))(
    "embedded engine: every row of %s is stored once",
    async (kind, kills) => {
      const home = newHome();
      await killRuns(home, home, kind, kills);
    },
  );

  test.each(sample(killCounts, { offset: 1, step: 2 }))(
    "remote service: every row of %s is stored once",
    async (kind, kills) => {
      const far = newHome();
      const server = await far.serve(["--quiet"]);
      const home = newHome(remoteEnv(server));
      await killRuns(home, far, kind, kills);
      await server.stop();
    },
  );
});

describe("signals", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s finishes requests in flight, prints how to resume, and can be resumed",
    async (signal) => {
      const home = newHome();
      const path = writeOrders(home);
      const run = home.start(["orders", "import", path, "--rate", "4", "--batch-size", "50"]);
      await home.waitForRows(1);
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

  test("rejects a second concurrent resume, and a changed file", async () => {
    const home = newHome();
    const path = writeOrders(home);
    const run = home.start(["orders", "import", path, "--rate", "2", "--batch-size", "50", "--json"]);
    const running = await home.waitForRows(1);
    const second = await home.run(["imports", "resume", running.import_id]);
    expect(second.exitCode).toBe(2);
    expect(second.stderr).toMatch(/another process/);
    run.kill("SIGKILL");
    await run;
    writeFileSync(path, "order_id,order_date,customer_name,email,product_id,product_name,product_url\n");
    const changed = await home.run(["imports", "resume", running.import_id]);
    expect(changed.exitCode).toBe(2);
    expect(changed.stderr).toMatch(/orders\.csv/);
  });

  test("resumes a run only against the account where it started", async () => {
    const home = newHome();
    const run = home.start(["orders", "import", writeOrders(home), "--rate", "2", "--batch-size", "50"]);
    const { import_id: id } = await home.waitForRows(1);
    run.kill("SIGKILL");
    await run;
    const elsewhere = { env: { STARPOST_DATABASE: join(home.folder, "other.db") } };
    const refused = await home.run(["imports", "resume", id], elsewhere);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/profile local, at .*starpost\.db/);
  });

  test("keeps the progress of a run if its resume is interrupted at once", async () => {
    const home = newHome();
    const first = home.start(["orders", "import", writeOrders(home), "--rate", "8", "--batch-size", "50"]);
    await home.waitForRows(1);
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
});
