import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import * as fc from "fast-check";
import iconv from "iconv-lite";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds } from "../support/record-kinds.ts";
import { startImport } from "../../src/import/import.ts";
import { ImportError } from "../../src/import/import-error.ts";
import type { ImportDeps } from "../../src/import/deps.ts";
import type { ImportSummary } from "../../src/import/summary.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { backends, type Harness } from "../support/backends.ts";
import { anyPlan, columns, faults, putFiles, type PutFiles, type PutRow } from "../support/random-files.ts";
import { Home } from "../support/starpost.ts";
import { chooseSize } from "../support/suite-size.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** `STARPOST_TEST_FILES_SEED` repeats the files of an earlier run. */
const runs = chooseSize(20, 1_000);
const seed = Number(process.env["STARPOST_TEST_FILES_SEED"] ?? 20_261_121);

/** The search for a smaller failing case ends in time to report it. */
const limits = { interruptAfterTimeLimit: chooseSize(45_000, 2_060_000), markInterruptAsFailure: true };

const folder = useTemporaryFolder();

type Summary = Pick<ImportSummary, "rows" | "state" | "rejects_file">;

/** A separate account to import into and inspect. */
interface Shop {
  load(given: readonly string[], options: PutFiles["options"], batchSize: number): Promise<Summary>;
  /** All line items with their order and product, unordered. */
  stored(): Promise<Record<string, unknown>[]>;
}

const storedRows = `
  select orders.order_id, orders.order_date, orders.customer_name, orders.email, orders.currency_iso,
    orders.user_reference, products.product_id, products.name as product_name, products.url as product_url,
    products.description as product_description, purchases.price as product_price
  from purchases join orders on orders.id = purchases.order_row join products on products.id = purchases.product_row`;

/** The stored form of a row: trimmed cells, and its date as a timestamp. */
function storedOf({ cells }: PutRow): Record<string, unknown> {
  const trimmed = Object.fromEntries(columns.map((column) => [column, cells[column].trim()]));
  return { ...trimmed, order_date: Date.parse(cells.order_date), product_price: Number(cells.product_price) };
}

function comparable(rows: readonly Record<string, unknown>[]): string[] {
  return rows
    .map((row) =>
      JSON.stringify(columns.map((column) => (column === "product_price" ? Number(row[column]) : row[column]))),
    )
    .toSorted();
}

function decodeRejects(path: string, { delimiter, encoding }: PutFiles["rejects"]): Record<string, string>[] {
  const text = iconv.decode(readFileSync(path), encoding, { stripBOM: true });
  return parse(text, { delimiter, columns: true });
}

const never = new AbortController().signal;

function depsOf(cwd: string, openService?: ImportDeps["openService"]): ImportDeps {
  return {
    kinds,
    openService: openService ?? (() => Promise.reject(new Error("a dry run opened the service"))),
    profileName: "test",
    target: "test",
    runsFolder: join(cwd, "runs"),
    clock: () => Date.now(),
    random: randomBytes,
    stdin: Readable.from([]),
    cwd,
    version: "0.0.0",
    stop: never,
    abort: never,
    report: () => {},
  };
}

interface Change {
  readonly kind: string;
  /** The row as CSV text. */
  readonly at: number;
  readonly byte: number;
}

function corrupt(bytes: Buffer, changes: readonly Change[]): Buffer {
  let corrupted = bytes;
  for (const { kind, at, byte } of changes) {
    const place = Math.floor(at * corrupted.length);
    const [before, after] = [corrupted.subarray(0, place), corrupted.subarray(place)];
    if (kind === "cut") corrupted = at < 0.5 ? corrupted : before;
    else if (kind === "insert") corrupted = Buffer.concat([before, Buffer.from([byte]), after]);
    else if (kind === "drop") corrupted = Buffer.concat([before, after.subarray(1)]);
    else corrupted = Buffer.concat([before, Buffer.from([byte]), after.subarray(1)]);
  }
  return corrupted;
}

/** Compares an import, and the import of its corrected rejects, with the content of the files. */
async function check(put: PutFiles, shop: Shop, batchSize: number): Promise<void> {
  const bad = put.rows.filter(({ fault }) => fault !== undefined);
  const good = put.rows.filter(({ fault }) => fault === undefined);
  const first = await shop.load(put.given, put.options, batchSize);
  expect(first.state).toBe("finished");
  expect(first.rows).toEqual({ read: put.rows.length, accepted: good.length, rejected: bad.length, failed: 0 });
  expect(comparable(await shop.stored())).toEqual(comparable(good.map(storedOf)));
  if (bad.length === 0) {
    expect(first.rejects_file).toBeNull();
    return;
  }
  const path = first.rejects_file ?? "";
  const rejects = decodeRejects(path, put.rejects);
  const placeOf = (file: string, line: number | string) => `${put.fileCount > 1 ? file : ""} ${line}`;
  const rowAt = new Map(bad.map((row) => [placeOf(row.file, row.line), row]));
  const found = rejects.map((reject) => {
    const [file = ""] = /^in\/[\w./]+(?=: )/.exec(reject["_reason"] ?? "") ?? [];
    return { reject, place: placeOf(file, reject["_line"] ?? "") };
  });
  const codes = (entries: (readonly [string, string])[]) => entries.map((entry) => entry.join(" ")).toSorted();
  expect(codes(found.map(({ reject, place }) => [place, reject["_code"] ?? ""]))).toEqual(
    codes(bad.map((row) => [placeOf(row.file, row.line), row.fault ? faults[row.fault].code : ""])),
  );
  for (const { reject, place } of found) correct(reject, rowAt.get(place));
  const text = stringify(rejects, { delimiter: put.rejects.delimiter, header: true });
  const isMarked = !("encoding" in put.options) || put.rejects.encoding.startsWith("utf-16");
  writeFileSync(path, iconv.encode(text, put.rejects.encoding, { addBOM: isMarked }));
  const second = await shop.load([path], put.options, batchSize);
  expect(second.rows).toEqual({ read: bad.length, accepted: bad.length, rejected: 0, failed: 0 });
  expect(comparable(await shop.stored())).toEqual(comparable(put.rows.map(storedOf)));
}

/** Corrects a row: only the invalid cell if the others are intact, otherwise the complete row. */
function correct(reject: Record<string, string>, row: PutRow | undefined): void {
  if (!row?.fault) throw new Error("a valid row was rejected");
  const fault = faults[row.fault];
  if (!("column" in fault)) {
    for (const column of columns) reject[column] = row.cells[column];
    return;
  }
  for (const column of columns) {
    if (column !== fault.column) expect(reject[column]).toBe(row.cells[column]);
  }
  reject[fault.column] = row.cells[fault.column];
}

describe("random files", () => {
  let harness: Harness;
  beforeAll(async () => {
    const [sqlite] = backends;
    if (!sqlite) throw new Error("no SQLite backend");
    harness = await sqlite.open();
    // These tests do not cover power loss.
    await sql`pragma synchronous = off`.execute(harness.database.db);
  });
  afterAll(() => harness.close());

  async function openShop(cwd: string): Promise<Shop> {
    const { service, caller } = await harness.newAccount();
    const opened = { service, concurrency: 3, keepsOrder: true, close: async () => {} };
    return {
      load: (files, flags, batchSize) =>
        startImport(
          { kind: "orders", files, options: { dryRun: false, map: {}, batchSize, ...flags } },
          depsOf(cwd, async () => opened),
        ),
      stored: async () => {
        const query = `${storedRows} join accounts on accounts.id = orders.account_id where accounts.app_key = '${caller.appKey}'`;
        const { rows } = await sql.raw<Record<string, unknown>>(query).execute(harness.database.db);
        return rows;
      },
    };
  }

  test(
    `store or reject every row, and accept corrected rejects (seed ${seed}, ${runs} runs)`,
    async () => {
      let at = 0;
      await fc.assert(
        fc.asyncProperty(anyPlan, async (plan) => {
          const cwd = join(folder, String(at++));
          mkdirSync(cwd);
          await check(putFiles(plan, cwd), await openShop(cwd), plan.batchSize);
          rmSync(cwd, { recursive: true });
        }),
        { seed, numRuns: runs, ...limits },
      );
    },
    limits.interruptAfterTimeLimit + 15_000,
  );

  test(
    "with changed, lost, or added bytes cause rejected rows or a rejected file, but never a crash",
    async () => {
      const change = fc.record({
        kind: fc.constantFrom("set", "cut", "insert", "drop"),
        at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        byte: fc.oneof(fc.constantFrom(0, 10, 13, 34, 44, 0xef, 0xff), fc.nat({ max: 255 })),
      });
      const changes = fc.array(change, { minLength: 1, maxLength: 6 });
      let at = 0;
      await fc.assert(
        fc.asyncProperty(anyPlan, changes, async (plan, corruptions) => {
          const cwd = join(folder, `corrupted-${at++}`);
          mkdirSync(cwd);
          const put = putFiles({ ...plan, isPattern: false }, cwd);
          for (const path of put.given) {
            const file = join(cwd, path);
            writeFileSync(file, corrupt(readFileSync(file), corruptions));
          }
          const files = [...put.given];
          const options = { dryRun: true, map: {}, ...put.options };
          const summary = await startImport({ kind: "orders", files, options }, depsOf(cwd)).catch(
            (error: unknown) => error,
          );
          if (summary instanceof ImportError) expect(summary.kind).toBe("usage");
          else {
            if (summary instanceof Error) throw summary;
            const { rows } = summary as ImportSummary;
            expect(rows.read).toBe(rows.accepted + rows.rejected);
          }
          rmSync(cwd, { recursive: true });
        }),
        { seed, numRuns: runs * 3, ...limits },
      );
    },
    limits.interruptAfterTimeLimit + 15_000,
  );

  test("are imported the same way by the program in a separate process", async () => {
    for (const [at, plan] of fc.sample(anyPlan, { seed, numRuns: 3 }).entries()) {
      const cwd = join(folder, `program-${at}`);
      mkdirSync(cwd);
      const home = new Home();
      const shop: Shop = {
        load: async (files, { encoding, delimiter }, batchSize) => {
          const flags = [
            ...(encoding === undefined ? [] : ["--encoding", encoding]),
            ...(delimiter === undefined ? [] : ["--delimiter", delimiter === "\t" ? "tab" : delimiter]),
          ];
          const args = ["orders", "import", ...files, ...flags, "--batch-size", String(batchSize)];
          const { data, stderr } = await home.json(args, { cwd });
          if (data === undefined) throw new Error(stderr);
          return data as unknown as Summary;
        },
        stored: async () => {
          const file = new SqliteFile(join(home.folder, "starpost.db"));
          const rows = file.all(storedRows);
          file.close();
          return rows;
        },
      };
      await check(putFiles(plan, cwd), shop, plan.batchSize);
      home.remove();
    }
  });
});
