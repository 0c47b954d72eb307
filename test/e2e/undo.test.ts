import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, test } from "vitest";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { type Home, Homes, remoteEnv, writeInto } from "../support/starpost.ts";

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

  const reversed = "is no longer unsubscribed";
  const expected = [
    [2, "1:a@example.com", "reversed", reversed],
    [3, "1:before@example.com", "kept", "was unsubscribed before the run"],
    [5, "1:person@example.com", "impossible", expect.stringMatching(/the person/)],
    [6, "1:gone@example.com", "kept", `changed since: ${reversed}`],
    [7, "1:a@example.com", "reversed", reversed],
  ];

  test("removes the addresses that the run added, row by row, after confirmation", async () => {
    const home = homes.open();
    const before = writeInto(home, "before.csv", "email\nbefore@example.com\n");
    await importRun(home, ["unsubscribers", "import", before, "--type", "1"]);
    const path = writeInto(
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
    expect(outcomes(done.data)).toEqual(expected);
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
  const path = writeInto(home, "u.csv", `email\n${emails}`);
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

describe("coupons", () => {
  const codes = (home: Home) => query(home, "select code from coupons order by code").map(({ code }) => code);
  const importCodes = (home: Home, name: string, content: string, action: string, status?: number) =>
    importRun(home, ["coupons", "import", writeInto(home, name, content), "--action", action], status);

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

describe("with a remote service", () => {
  test("continues a killed undo, and rejects a running or undone run", async () => {
    const far = homes.open();
    const server = await far.serve();
    const home = homes.open(remoteEnv(server));
    const before = writeInto(home, "before.csv", "email\nn7@example.com\n");
    await importRun(home, ["unsubscribers", "import", before, "--type", "1", "--rate", "0"]);
    const emails = Array.from({ length: 3_000 }, (_, at) => `n${at}@example.com\n`).join("");
    const path = writeInto(home, "u.csv", `email\n${emails}`);
    const run = home.start(["unsubscribers", "import", path, "--type", "1", "--rate", "2"]);
    const { import_id: id } = await home.waitForRows(600);
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
});
