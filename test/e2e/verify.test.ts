import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, type Result, type Summary, writeInto } from "../support/starpost.ts";

interface Verified {
  readonly import_id: string;
  readonly kind: string;
  readonly state: string;
  readonly checked: { rows: number; items: number };
  readonly missing: { file: string; line: number; column: string; reason: string; [id: string]: unknown }[];
  readonly missing_count: number;
  readonly missing_file: string | null;
  readonly rows_not_looked_for: number;
  readonly calls: number;
}

const homes = new Homes();
afterAll(() => homes.remove());

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
const line = (order: string, product: string, email = "n@example.com") =>
  `${order},2026-01-02,N,${email},${product},Name,https://shop.example/p\n`;

/** Changes the database directly. */
function change(home: Home, ...statements: string[]): void {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  for (const statement of statements) file.execute(statement);
  file.close();
}

const deletePurchase = (order: string, product: string, unit?: number) =>
  `delete from purchases where order_row = (select id from orders where order_id = '${order}')
     and product_row = (select id from products where product_id = '${product}')
     ${unit === undefined ? "" : `and unit = ${unit}`}`;

async function importRun(home: Home, args: readonly string[], status = 0): Promise<Summary> {
  const { data, exitCode, stderr } = await home.json(args);
  expect(stderr).not.toMatch(/"error"/);
  expect(exitCode).toBe(status);
  return data;
}

function verify(home: Home, id: string, ...more: string[]): Promise<Result & { readonly data: Verified }> {
  return home.json<Verified>(["imports", "verify", id, ...more]);
}

/** The missing rows as `file:line column reason`, without the folder. */
function formatMissing({ missing }: Verified, home: Home): string[] {
  return missing.map(
    ({ file, line: at, column, reason }) => `${file.replace(`${home.folder}/`, "")}:${at} ${column} ${reason}`,
  );
}

/** Order, product, line, and code of the rows that are listed. */
const listedRows = [
  ["o-1", "p-1", "2", "is_there"],
  ["o-1", "p-2", "5", "not_there"],
  ["o-1", "p-1", "6", "too_few"],
  ["o-5", "p-1", "9", "not_there"],
  ["o-6", "p-3", "3", "not_there"],
];

const rowsOfFirst =
  header +
  line("o-1", "p-1") +
  line("o-2", "p-2") +
  line("o-3", "p-1", "bad") +
  line("o-1", "p-2") +
  line("o-1", "p-1") +
  '"o-4",2026-01-02,"N\nN",n@example.com,p-1,Name,https://shop.example/p\n' +
  line("o-5", "p-1");

describe("orders", () => {
  test("finds rows that were deleted after the import, with their lines, and imports them again", async () => {
    const home = homes.open();
    const first = writeInto(home, "a.csv", rowsOfFirst);
    const second = writeInto(home, "b.csv", header + line("o-6", "p-1") + line("o-6", "p-3"));
    const { import_id: id } = await importRun(home, ["orders", "import", first, second], 3);

    const complete = await verify(home, id);
    expect(complete.exitCode).toBe(0);
    expect(complete.data).toMatchObject({
      import_id: id,
      kind: "orders",
      state: "finished",
      checked: { rows: 8, items: 5 },
      missing: [],
      missing_count: 0,
      missing_file: null,
      rows_not_looked_for: 1,
    });

    change(
      home,
      deletePurchase("o-1", "p-1", 2),
      deletePurchase("o-5", "p-1"),
      deletePurchase("o-6", "p-3"),
      deletePurchase("o-1", "p-2"),
    );
    const file = join(home.folder, "missing.csv");
    const found = await verify(home, id, "--missing", file);
    expect(found.exitCode).toBe(7);
    expect(formatMissing(found.data, home)).toEqual([
      "a.csv:5 product_id is not stored",
      "a.csv:6 product_id 1 of 2 stored",
      "a.csv:9 product_id is not stored",
      "b.csv:3 product_id is not stored",
    ]);
    expect(found.data.missing[3]).toMatchObject({ order_id: "o-6", product_id: "p-3" });
    expect(found.data).toMatchObject({ missing_count: 4, missing_file: file });

    const rows = parse(readFileSync(file), { columns: true }) as Record<string, string>[];
    expect(rows.map(({ order_id, product_id, _line, _code }) => [order_id, product_id, _line, _code])).toEqual(
      listedRows,
    );
    await importRun(home, ["orders", "import", file]);
    const again = await verify(home, id);
    expect(again.data.missing).toEqual([]);
    expect(again.exitCode).toBe(0);
  });

  test("shows the first missing rows, their number, and the file that lists them", async () => {
    const home = homes.open();
    const rows = Array.from({ length: 60 }, (_, at) => line(`o-${at}`, `p-${at % 7}`)).join("");
    const path = writeInto(home, "orders.csv", header + rows);
    const { import_id: id } = await importRun(home, ["orders", "import", path]);
    change(home, "delete from purchases where id % 2 = 0");
    const shown = await home.run(["imports", "verify", id]);
    expect(shown.exitCode).toBe(7);
    expect(shown.stdout.trim().split("\n")).toHaveLength(21);
    expect(shown.stdout).toMatch(/orders\.csv +3 +product_id +o-1 +p-1 +is not stored/);
    expect(shown.stderr).toMatch(/60 rows \(60 orders\): 30 rows/);
    expect(shown.stderr).toMatch(/10 more rows/);
    const missingFile = /Missing rows: (\S+)\. /.exec(shown.stderr)?.[1] ?? "";
    expect(parse(readFileSync(missingFile), { columns: true })).toHaveLength(30);
    const listed = await home.run(["imports", "verify", id, "--format", "csv"]);
    expect(parse(listed.stdout, { columns: true })).toHaveLength(30);
    const folder = join(home.folder, "imports", id);
    expect(readdirSync(folder).filter((name) => name.startsWith("starpost-"))).toEqual([]);
  });
});

describe("other record types", () => {
  test("more than 5,000 unsubscribers, and removed unsubscribers", async () => {
    const home = homes.open();
    const emails = Array.from({ length: 5_400 }, (_, at) => `n${at}@example.com\n`);
    const path = writeInto(home, "all.csv", `email\n${emails.join("")}`);
    const { import_id: id } = await importRun(home, ["unsubscribers", "import", path, "--type", "1"]);
    const some = writeInto(home, "some.csv", "email\nN5@Example.com\nn6@example.com\nnobody@example.com\n");
    const removal = await importRun(home, ["unsubscribers", "import", some, "--type", "1", "--remove"]);
    const added = await verify(home, id);
    expect(added.data.missing).toMatchObject([
      { line: 7, email: "n5@example.com", email_type_id: "1", reason: "is not stored" },
      { line: 8, email: "n6@example.com" },
    ]);
    expect((await verify(home, removal.import_id)).exitCode).toBe(0);
    const back = writeInto(home, "back.csv", "email\nn5@example.com\n");
    await importRun(home, ["unsubscribers", "import", back, "--type", "1"]);
    const removed = await verify(home, removal.import_id);
    expect(removed.exitCode).toBe(7);
    expect(removed.data.missing).toMatchObject([{ line: 2, reason: "is still stored" }]);
  });
});

describe("--verify", () => {
  /** A service that accepts the purchases of a product without storing them. */
  const losing = `create trigger lose after insert on purchases
    when new.product_row = (select id from products where product_id = 'p-lost')
    begin delete from purchases where id = new.id; end`;

  test("reads back at the end of an import; missing rows take precedence over rejected rows", async () => {
    const home = homes.open();
    const sound = writeInto(home, "sound.csv", header + line("o-1", "p-1") + line("o-2", "p-2", "bad"));
    const fine = await home.json<Summary & { verified: Verified }>(["orders", "import", sound, "--verify"]);
    expect(fine.exitCode).toBe(3);
    expect(fine.data.verified).toMatchObject({ state: "finished", missing_count: 0, rows_not_looked_for: 1 });
    change(home, losing);
    const path = writeInto(home, "orders.csv", header + line("o-3", "p-lost") + line("o-4", "p-2", "bad"));
    const found = await home.json<Summary & { verified: Verified }>(["orders", "import", path, "--verify"]);
    expect(found.exitCode).toBe(7);
    expect(found.data).toMatchObject({ state: "finished", rows: { accepted: 1, rejected: 1 } });
    expect(found.data.verified.missing).toMatchObject([{ line: 2, order_id: "o-3", product_id: "p-lost" }]);
    const shown = await home.run(["orders", "import", path, "--verify"]);
    expect(shown.exitCode).toBe(7);
    expect(shown.stderr).toMatch(/\b1 row .*missing/);
  });
});

async function waitUntilSent(home: Home, rows: number): Promise<string> {
  for (;;) {
    const [found] = (await home.json<Summary[]>(["imports", "list"])).data;
    if (found && found.rows.accepted >= rows) return found.import_id;
    await sleep(50);
  }
}

describe("runs that cannot be verified", () => {
  test("rejects changed and missing files, other profiles, and running and unknown runs", async () => {
    const home = homes.open();
    const path = writeInto(home, "orders.csv", header + line("o-1", "p-1"));
    const { import_id: id } = await importRun(home, ["orders", "import", path]);
    const refused = async (args: readonly string[], expected: RegExp, env?: Record<string, string>, status = 2) => {
      const { exitCode, stderr } = await home.run(["imports", "verify", ...args], env ? { env } : {});
      expect(stderr).toMatch(expected);
      expect(exitCode).toBe(status);
    };
    await refused(["nothing"], /"nothing"/, undefined, 1);
    await refused([id], /profile local/, { STARPOST_DATABASE: join(home.folder, "x.db") });
    await refused([id, "--missing", path, "--yes"], /--missing/);
    const copy = `${path}.copy`;
    copyFileSync(path, copy);
    writeFileSync(path, header + line("o-2", "p-1"));
    const kept = join(home.folder, "imports", id, "file-1.br");
    expect((await verify(home, id)).exitCode).toBe(0);
    // Without its copy, the run needs the file.
    rmSync(kept);
    await refused([id], /orders\.csv\b/);
    rmSync(path);
    await refused([id], /orders\.csv\b/);
    copyFileSync(copy, path);
    expect((await verify(home, id)).exitCode).toBe(0);
    const long = writeInto(
      home,
      "long.csv",
      header + Array.from({ length: 400 }, (_, at) => line(`l-${at}`, "p-1")).join(""),
    );
    const run = home.start(["orders", "import", long, "--rate", "2", "--batch-size", "20"]);
    await refused([await waitUntilSent(home, 20)], /another process/);
    run.kill("SIGKILL");
    await run;
  });
});

test("a run is verified, undone, and found by address after its file was deleted and the data folder moved", async () => {
  const [home, moved] = [homes.open(), homes.open()];
  const path = writeInto(home, "orders.csv", header + line("o-1", "p-1") + line("o-2", "p-2", "ann@example.com"));
  const { import_id } = await importRun(home, ["orders", "import", path]);
  const id = import_id ?? "";
  rmSync(path);
  rmSync(moved.folder, { recursive: true });
  renameSync(home.folder, moved.folder);
  expect(await verify(moved, id)).toMatchObject({ exitCode: 0, data: { checked: { rows: 2 }, missing_count: 0 } });
  const undone = await moved.json(["imports", "undo", id, "--yes"]);
  expect([undone.exitCode, undone.data]).toMatchObject([0, { state: "finished", reversed: 2 }]);
  const shown = await moved.json<{ imports: object[] }>(["customers", "show", "ann@example.com"]);
  expect(shown.stdout).toContain(id);
}, 60_000);

describe("with a remote service", () => {
  test("reads back orders and unsubscribers over HTTP at the given rate", async () => {
    const far = homes.open();
    const server = await far.serve(["--verbose"]);
    let log = "";
    server.process.stderr?.on("data", (data: Buffer) => (log += data.toString()));
    const home = homes.open(remoteEnv(server));
    const rows = Array.from({ length: 700 }, (_, at) => line(`o-${at % 500}`, `p-${at}`)).join("");
    const path = writeInto(home, "orders.csv", header + rows);
    const { import_id: id } = await importRun(home, ["orders", "import", path, "--rate", "0"]);
    expect((await verify(home, id, "--rate", "0")).data).toMatchObject({
      missing_count: 0,
      checked: { rows: 700, items: 500 },
      calls: 4,
    });
    change(far, deletePurchase("o-17", "p-517"), deletePurchase("o-499", "p-499"));
    const startedMs = performance.now();
    const found = await verify(home, id, "--rate", "5");
    expect(found.exitCode).toBe(7);
    expect(found.data.missing.map(({ line: at }) => at).toSorted((a, b) => a - b)).toEqual([501, 519]);
    expect(performance.now() - startedMs).toBeGreaterThan(((found.data.calls - 1) * 1_000) / 5 - 50);
    log = "";
    const slow = home.start(["imports", "verify", id, "--rate", "1", "--json"]);
    while (!log.includes('"status":200')) await sleep(20);
    slow.kill("SIGINT");
    const ended = await slow;
    expect(ended.exitCode).toBe(130);
    expect(JSON.parse(String(ended.stdout))).toMatchObject({ state: "interrupted", missing: [] });
    const emails = writeInto(home, "u.csv", "email\na@example.com\nb@example.com\n");
    const added = await importRun(home, ["unsubscribers", "import", emails, "--type", "2", "--rate", "0"]);
    change(far, "delete from unsubscribers where email = 'b@example.com'");
    expect((await verify(home, added.import_id, "--rate", "0")).data.missing).toMatchObject([{ line: 3 }]);
    await server.stop();
    const gone = await home.run(["imports", "verify", id, "--json", "--rate", "0"]);
    expect(gone.exitCode).toBe(5);
    expect(existsSync(join(home.folder, "imports", id, "missing.csv"))).toBe(true);
  });
});

test("a resume verifies on request, and a run without accepted rows has nothing to verify", async () => {
  const home = homes.open();
  const file = join(home.folder, "some.csv");
  writeFileSync(file, "product_id,name,url\ncup,Cup,https://shop.example/cup\n");
  const { data } = await home.json<{ import_id: string }>(["products", "import", file]);
  const resumed = await home.json<{ verified: unknown }>(["imports", "resume", data.import_id, "--verify"]);
  expect([resumed.exitCode, resumed.data.verified]).toMatchObject([0, { checked: { rows: 1 }, missing_count: 0 }]);
  writeFileSync(file, "product_id,name,url\n");
  const empty = await home.run(["products", "import", file, "--verify"]);
  expect([empty.exitCode, empty.stderr]).toEqual([0, expect.stringContaining("Nothing to verify")]);
  const { data: runs } = await home.json<{ import_id: string }[]>(["imports", "list"]);
  const again = await home.run(["imports", "verify", runs[0]?.import_id ?? ""]);
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("Nothing to verify")]);
});
