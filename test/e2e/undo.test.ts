import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";

interface Undone {
  readonly import_id: string;
  readonly kind: string;
  readonly state: string;
  readonly reversed: number;
  readonly kept: number;
  readonly impossible: number;
  readonly rows: { file: string; line: number; key: string; outcome: string; reason: string }[];
  readonly rows_file: string | null;
  readonly rows_not_taken: number;
  readonly calls: number;
}

const homes = new Homes();
afterAll(() => homes.remove());

function write(home: Home, name: string, content: string): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

/** Reads the database directly. */
function query(home: Home, sql: string): Record<string, unknown>[] {
  const file = new SqliteFile(join(home.folder, "starpost.db"));
  try {
    return file.all(sql).map((row) => Object.fromEntries(Object.entries(row)));
  } finally {
    file.close();
  }
}

async function importRun(home: Home, args: readonly string[], status = 0): Promise<string> {
  const { data, exitCode } = await home.json(args);
  expect(exitCode).toBe(status);
  return data.import_id;
}

const undo = (home: Home, id: string, ...more: string[]) => home.json<Undone>(["imports", "undo", id, ...more]);

const outcomes = ({ rows }: Undone) => rows.map(({ line, key, outcome, reason }) => [line, key, outcome, reason]);

describe("unsubscribers", () => {
  const unsubscribed = (home: Home) =>
    query(home, "select email from unsubscribers order by email").map(({ email }) => email);

  test("removes the addresses that the run added, row by row, after confirmation", async () => {
    const home = homes.open();
    const before = write(home, "before.csv", "email\nbefore@example.com\n");
    await importRun(home, ["unsubscribers", "import", before, "--type", "1"]);
    const path = write(
      home,
      "u.csv",
      "email\na@example.com\nBefore@example.com\nbad\nperson@example.com\ngone@example.com\nA@example.com\n",
    );
    const id = await importRun(home, ["unsubscribers", "import", path, "--type", "1"], 3);
    query(home, "update unsubscribers set by_name = 'USER' where email = 'person@example.com' returning id");
    query(home, "delete from unsubscribers where email = 'gone@example.com' returning id");
    const all = ["a@example.com", "before@example.com", "person@example.com"];

    const planned = await undo(home, id, "--plan");
    expect(planned.exitCode).toBe(3);
    expect(planned.data).toMatchObject({ state: "planned", reversed: 2, kept: 2, impossible: 1, rows: [] });
    const unconfirmed = await home.run(["imports", "undo", id]);
    expect(unconfirmed.exitCode).toBe(2);
    expect(unconfirmed.stderr).toMatch(/\b2 rows .*, 2 kept, 1 /);
    expect(unsubscribed(home)).toEqual(all);

    const done = await undo(home, id, "--yes");
    expect(done.exitCode).toBe(3);
    expect(done.data).toMatchObject({
      import_id: id,
      kind: "unsubscribers",
      state: "finished",
      reversed: 2,
      kept: 2,
      impossible: 1,
      rows_not_taken: 1,
    });
    const reversed = "is no longer unsubscribed";
    expect(outcomes(done.data)).toEqual([
      [2, "1:a@example.com", "reversed", reversed],
      [3, "1:before@example.com", "kept", "was unsubscribed before the run"],
      [5, "1:person@example.com", "impossible", expect.stringMatching(/the person/)],
      [6, "1:gone@example.com", "kept", `changed since: ${reversed}`],
      [7, "1:a@example.com", "reversed", reversed],
    ]);
    const file = done.data.rows_file ?? "";
    const listed = parse(readFileSync(file), { columns: true }) as Record<string, string>[];
    expect(listed).toEqual(done.data.rows.map((row) => Object.assign(row, { line: String(row.line) })));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(unsubscribed(home)).toEqual(["before@example.com", "person@example.com"]);

    await importRun(home, ["unsubscribers", "import", path, "--type", "1"], 3);
    const second = await undo(home, id, "--yes");
    expect(second.data).toMatchObject({ state: "earlier", reversed: 2, rows_file: file, calls: 0 });
    expect(second.stderr).toContain(id);
    expect(unsubscribed(home)).toEqual([...all, "gone@example.com"].toSorted());
    const shown = await home.run(["imports", "show", id]);
    expect(shown.stderr).toMatch(/undone at \d{4}-.*: 2 rows .*, 2 kept, 1 /);
  });

  test("unsubscribes the addresses that the run removed", async () => {
    const home = homes.open();
    const path = write(home, "u.csv", "email\na@example.com\nb@example.com\n");
    await importRun(home, ["unsubscribers", "import", path, "--type", "1"]);
    const taken = write(home, "r.csv", "email\na@example.com\nb@example.com\nnobody@example.com\n");
    const id = await importRun(home, ["unsubscribers", "import", taken, "--type", "1", "--remove"]);
    const b = write(home, "b.csv", "email\nb@example.com\n");
    await importRun(home, ["unsubscribers", "import", b, "--type", "1"]);
    const done = await undo(home, id, "--yes");
    expect(done.exitCode).toBe(0);
    expect(outcomes(done.data)).toEqual([
      [2, "1:a@example.com", "reversed", "is unsubscribed again"],
      [3, "1:b@example.com", "kept", "changed since: is unsubscribed again"],
      [4, "1:nobody@example.com", "kept", "was not unsubscribed before the run"],
    ]);
    expect(unsubscribed(home)).toEqual(["a@example.com", "b@example.com"]);
  });
});

/** Changes a run to one whose second call was sent without a response. */
function dropSecondResponse(home: Home, id: string): void {
  const journal = join(home.folder, "imports", id, "journal.ndjson");
  const entries = readFileSync(journal, "utf8").split("\n");
  writeFileSync(journal, entries.filter((entry) => !/"t":"done","n":1|"t":"totals"/.test(entry)).join("\n"));
}

test("undoes calls without a response as well, and does not verify them", async () => {
  const home = homes.open();
  const emails = Array.from({ length: 300 }, (_, at) => `n${at}@example.com\n`).join("");
  const path = write(home, "u.csv", `email\n${emails}`);
  const id = await importRun(home, ["unsubscribers", "import", path, "--type", "1", "--batch-size", "150"]);
  dropSecondResponse(home, id);
  query(home, "delete from unsubscribers where email = 'n299@example.com' returning id");
  const verified = await home.json<{ checked: { rows: number }; rows_not_looked_for: number }>([
    "imports",
    "verify",
    id,
  ]);
  expect(verified.data).toMatchObject({ checked: { rows: 150 }, rows_not_looked_for: 150 });
  const done = await undo(home, id, "--yes");
  expect(done.data).toMatchObject({ reversed: 299, kept: 1, impossible: 0, rows_not_taken: 0 });
  expect(done.data.rows[299]?.reason).toMatch(/never answered/);
  expect(query(home, "select email from unsubscribers")).toEqual([]);
});

test("shows what was not reversed, and the file with the rest", async () => {
  const home = homes.open();
  const emails = Array.from({ length: 40 }, (_, at) => `n${at}@example.com\n`).join("");
  const first = write(home, "first.csv", "email\nn30@example.com\n");
  await importRun(home, ["unsubscribers", "import", first, "--type", "1"]);
  const path = write(home, "u.csv", `email\n${emails}`);
  const id = await importRun(home, ["unsubscribers", "import", path, "--type", "1"]);
  const shown = await home.run(["imports", "undo", id, "--yes"]);
  expect(shown.exitCode).toBe(0);
  const lines = shown.stdout.trim().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/u\.csv +32 +n30@example\.com \(type 1\) +kept +was unsubscribed before the run/);
  expect(shown.stderr).toMatch(/\b39 rows .*, 1 kept, 0 /);
  expect(shown.stderr).toMatch(/\b39 more rows /);
  expect(shown.stderr).toMatch(/\S+undo\.csv/);
});

describe("coupons", () => {
  const codes = (home: Home) => query(home, "select code from coupons order by code").map(({ code }) => code);
  const importCodes = (home: Home, name: string, content: string, action: string, status?: number) =>
    importRun(home, ["coupons", "import", write(home, name, content), "--action", action], status);

  test("does not delete codes that may exist independently if the run's last response was lost", async () => {
    const home = homes.open();
    const codeLines = Array.from({ length: 1_200 }, (_, at) => `CODE-${at}\n`).join("");
    const id = await importCodes(home, "c.csv", `code\n${codeLines}`, "map_review");
    dropSecondResponse(home, id);
    const done = await undo(home, id, "--yes");
    expect(done.exitCode).toBe(3);
    expect(done.data).toMatchObject({ reversed: 0, impossible: 1_200 });
    expect(done.data.rows[0]?.reason).toMatch(/1200 codes.* 1000 to 1200/);
    expect(codes(home)).toHaveLength(1_200);
  });

  test("deletes the codes of an action if the run created all of them", async () => {
    const home = homes.open();
    await importCodes(home, "other.csv", "code\nOTHER\n", "map_review");
    const id = await importCodes(home, "codes.csv", "code\nAAA\nOTHER\nBBB\n", "map_share", 3);
    const done = await undo(home, id, "--yes");
    expect(done.exitCode).toBe(0);
    expect(outcomes(done.data)).toEqual([
      [2, "AAA", "reversed", "is deleted"],
      [4, "BBB", "reversed", "is deleted"],
    ]);
    expect(codes(home)).toEqual(["OTHER"]);
  });

  test("keeps the codes if the action contained others before or since", async () => {
    const home = homes.open();
    const first = await importCodes(home, "a.csv", "code\nAAA\nBBB\n", "map_share");
    const second = await importCodes(home, "b.csv", "code\nCCC\n", "map_share");
    const keptRun = await undo(home, second, "--yes");
    expect(keptRun.exitCode).toBe(0);
    expect(keptRun.data).toMatchObject({ reversed: 0, kept: 1, impossible: 0 });
    expect(keptRun.data.rows[0]?.reason).toMatch(/2 before/);
    const changed = await undo(home, first, "--yes");
    expect(changed.data).toMatchObject({ reversed: 0, kept: 2 });
    expect(changed.data.rows[0]?.reason).toMatch(/changed since: .*3 codes.*added 2/);
    expect(codes(home)).toEqual(["AAA", "BBB", "CCC"]);
  });
});

describe("products", () => {
  const columns = "product_id,name,url,price,description,product_tags,brand\n";
  const url = "https://shop.example/p";
  const stored = (home: Home) =>
    query(home, "select product_id, name, price, description, product_tags, brand from products order by id");

  test("restores former values that have not changed since the run", async () => {
    const home = homes.open();
    const old =
      `p-1,Old,${url},9.00,words,a,Acme\n` +
      `p-2,Two,${url},,,,\n` +
      `p-3,Three,${url},1,,,\n` +
      `p-4,Four,${url},2,,,\n`;
    await importRun(home, ["products", "import", write(home, "old.csv", columns + old)]);
    const before = stored(home);
    const path = write(
      home,
      "new.csv",
      `${columns}p-1,First,${url},9.50,other,b,Brand\np-1,New,${url},9.75,,,\np-2,Zwei,${url},5,said,,\n` +
        `p-3,Drei,${url},1.00,,,\np-4,Four,${url},2.0,,,\np-9,Nine,${url},1,,,\n`,
    );
    const id = await importRun(home, ["products", "import", path, "--undoable"]);
    const since = write(home, "since.csv", "product_id,name\np-3,Trois\n");
    await importRun(home, ["products", "import", since, "--update"]);
    const done = await undo(home, id, "--yes");
    expect(done.exitCode).toBe(3);
    expect(outcomes(done.data)).toEqual([
      [2, "p-1", "reversed", "has its previous values"],
      [3, "p-1", "reversed", "has its previous values"],
      [4, "p-2", "impossible", expect.stringMatching(/price/)],
      [5, "p-3", "kept", "changed since: name"],
      [6, "p-4", "kept", "has its previous values"],
      [7, "p-9", "impossible", expect.stringMatching(/created it/)],
    ]);
    const after = stored(home);
    expect(after[0]).toEqual(before[0]);
    expect(after[1]).toEqual({ ...before[1], price: "5" });
    expect(after[2]).toMatchObject({ name: "Trois", price: "1.00" });
    expect(after[4]).toMatchObject({ product_id: "p-9", name: "Nine" });
    expect(statSync(join(home.folder, "imports", id, "before.db")).mode & 0o777).toBe(0o600);
  });

  test("without recorded values, names --undoable and sends nothing", async () => {
    const home = homes.open();
    const path = write(home, "p.csv", `product_id,name,url\np-1,N,${url}\n`);
    const id = await importRun(home, ["products", "import", path]);
    const done = await undo(home, id);
    expect(done.exitCode).toBe(3);
    expect(done.data).toMatchObject({ reversed: 0, kept: 0, impossible: 1, calls: 0 });
    expect(done.data.rows[0]?.reason).toMatch(/--undoable/);
    expect(existsSync(join(home.folder, "imports", id, "undo.json"))).toBe(false);
  });
});

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
const line = (order: string, product: string) =>
  `${order},2026-01-02,N,n@example.com,${product},Name,https://shop.example/p\n`;

describe("orders", () => {
  const stopped = (home: Home) => query(home, "select order_id, product_id from mail_stops order by order_id");

  test("cancels the emails of the orders that the run created, and no others", async () => {
    const home = homes.open();
    await importRun(home, ["orders", "import", write(home, "old.csv", header + line("o-1", "p-1"))]);
    const path = write(home, "new.csv", header + line("o-1", "p-2") + line("o-2", "p-1") + line("o-2", "p-2"));
    const id = await importRun(home, ["orders", "import", path, "--undoable"]);
    await importRun(home, ["orders", "import", write(home, "later.csv", header + line("o-3", "p-1"))]);
    const done = await undo(home, id, "--yes");
    expect(done.exitCode).toBe(0);
    const message = expect.stringContaining("emails") as string;
    expect(outcomes(done.data)).toEqual([
      [2, "o-1", "kept", "was stored before the run; what the run changed in it stays"],
      [3, "o-2", "reversed", message],
      [4, "o-2", "reversed", message],
    ]);
    expect(stopped(home)).toEqual([{ order_id: "o-2", product_id: "" }]);
    expect(query(home, "select count(*) as orders from orders")).toEqual([{ orders: 3 }]);
  });

  test("uses the time of an order's first purchase if no ID was recorded", async () => {
    const home = homes.open();
    await importRun(home, ["orders", "import", write(home, "old.csv", header + line("o-1", "p-1"))]);
    const path = write(home, "new.csv", header + line("o-1", "p-2") + line("o-2", "p-1"));
    await sleep(1_100);
    const id = await importRun(home, ["orders", "import", path]);
    const { data } = await undo(home, id, "--yes");
    expect(data.rows.map(({ outcome }) => outcome)).toEqual(["kept", "reversed"]);
  });
});

/** Waits until a run of a file has sent a number of rows. */
async function waitUntilAccepted(home: Home, path: string, rows: number): Promise<string> {
  for (;;) {
    const { data, exitCode, stderr } = await home.json<Summary[]>(["imports", "list"]);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    const [latest] = data;
    if (latest?.files[0] === path && latest.rows.accepted >= rows) return latest.import_id;
    await sleep(50);
  }
}

describe("with a remote service", () => {
  test("continues a killed undo, and rejects a running or undone run", async () => {
    const far = homes.open();
    const server = await far.serve();
    const home = homes.open(remoteEnv(server));
    const before = write(home, "before.csv", "email\nn7@example.com\n");
    await importRun(home, ["unsubscribers", "import", before, "--type", "1", "--rate", "0"]);
    const emails = Array.from({ length: 3_000 }, (_, at) => `n${at}@example.com\n`).join("");
    const path = write(home, "u.csv", `email\n${emails}`);
    const run = home.start(["unsubscribers", "import", path, "--type", "1", "--rate", "2"]);
    const id = await waitUntilAccepted(home, path, 600);
    // So that it does not finish in the meantime.
    run.kill("SIGSTOP");
    const running = await undo(home, id, "--yes");
    expect(running.exitCode).toBe(2);
    expect(running.stderr).toMatch(/another process/);
    run.kill("SIGKILL");
    await run;
    const resumed = await home.json(["imports", "resume", id, "--rate", "0"]);
    expect(resumed.data.rows.accepted).toBe(3_000);

    const first = home.start(["imports", "undo", id, "--yes", "--rate", "3"]);
    const left = () => Number(query(far, "select count(*) as left from unsubscribers")[0]?.["left"]);
    while (left() > 2_600) await sleep(50);
    first.kill("SIGKILL");
    await first;
    expect(left()).toBeGreaterThan(1);
    const half = await home.run(["imports", "show", id]);
    expect(half.stderr).toMatch(/is partly undone/);
    const second = await undo(home, id, "--yes", "--rate", "0");
    expect(second.exitCode).toBe(0);
    expect(second.data).toMatchObject({ state: "finished", reversed: 2_999, kept: 1, impossible: 0 });
    expect(second.data.rows).toHaveLength(1_000);
    expect(parse(readFileSync(second.data.rows_file ?? ""), { columns: true })).toHaveLength(3_000);
    expect(query(far, "select email from unsubscribers")).toEqual([{ email: "n7@example.com" }]);
    await server.stop();
  });

  test("stops an undo between two calls on a signal; a partly undone run cannot be resumed", async () => {
    const far = homes.open();
    const server = await far.serve();
    const home = homes.open(remoteEnv(server));
    const rows = Array.from({ length: 2_000 }, (_, at) => line(`o-${at}`, "p-1")).join("");
    const path = write(home, "o.csv", header + rows);
    const run = home.start(["orders", "import", path, "--rate", "2", "--batch-size", "100"]);
    const id = await waitUntilAccepted(home, path, 600);
    run.kill("SIGINT");
    expect((await run).exitCode).toBe(130);
    const taken = Number(query(far, "select count(*) as n from orders")[0]?.["n"]);
    const first = home.start(["imports", "undo", id, "--yes", "--rate", "3", "--json"]);
    const stops = () => Number(query(far, "select count(*) as n from mail_stops")[0]?.["n"]);
    while (stops() < 200) await sleep(20);
    first.kill("SIGINT");
    const ended = await first;
    expect(ended.exitCode).toBe(130);
    const partly = JSON.parse(String(ended.stdout)) as Undone;
    expect(partly).toMatchObject({ state: "interrupted", reversed: stops() });
    expect(partly.reversed).toBeLessThan(taken);
    const resumed = await home.run(["imports", "resume", id]);
    expect(resumed.exitCode).toBe(2);
    expect(resumed.stderr).toMatch(/is being undone/);
    const second = await undo(home, id, "--yes", "--rate", "0");
    expect(second.data).toMatchObject({ state: "finished", reversed: taken, rows_not_taken: 2_000 - taken });
    expect(stops()).toBe(taken);
    await server.stop();
  });
});
