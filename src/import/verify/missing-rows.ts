import { join } from "node:path";
import { asRejectedInput, asTallyFile } from "../run/attempt.ts";
import type { TallyFile } from "../run/tally.ts";
import type { ExpectedRecord, StoredRecords } from "./stored-records.ts";
import type { Item, SourceRow } from "../item.ts";
import { RejectFile } from "../run/reject-file.ts";
import type { RecordedRun } from "../run/recorded-run.ts";
import type { MissingRow, Verification } from "../summary.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import { spillPrefix } from "../csv/spill.ts";

export interface Found extends Pick<Verification, "checked" | "missing" | "missing_count"> {
  /** The files with the rows; the first, and those with separate tables. */
  readonly files: readonly string[];
}

/** Compares each row with the stored records and collects the missing ones. */
export class Finding {
  readonly #files: readonly TallyFile[];
  readonly #maxListed: number;
  /** Where the missing rows are written; undefined if they are only counted. */
  readonly #file: RejectFile | undefined;
  /** For each file, whether the rows of an item can only be imported together. */
  readonly #areTogether: readonly boolean[];
  readonly #missing: MissingRow[] = [];
  #count = 0;
  readonly #checked = { rows: 0, items: 0 };

  constructor(run: RecordedRun, maxListed: number, isWritten: boolean) {
    this.#files = run.files.map(asTallyFile);
    this.#maxListed = maxListed;
    const inputs = run.files.map((file) => asRejectedInput(file, run.options));
    this.#file = isWritten ? new RejectFile(join(run.folder, "missing.csv"), inputs, run.options) : undefined;
    this.#areTogether = run.files.map(({ columns }) => columns.layout?.groups !== undefined);
  }

  end(): Found {
    this.#file?.close(true);
    const files = this.#count > 0 ? (this.#file?.written ?? []) : [];
    return { checked: this.#checked, missing: this.#missing, missing_count: this.#count, files };
  }

  abandon(): void {
    this.#file?.close(false);
  }

  look(items: readonly Item[], storedRecords: StoredRecords, storedKeys: StoredKeys): void {
    for (const item of items) {
      this.#checked.items++;
      this.#checked.rows += item.rows.length;
      const missing: Absence[] = [];
      for (const expected of storedRecords.expected(item)) {
        const units = storedKeys.unitsOf(expected.key);
        const isMissing = storedRecords.isRemoval ? units > 0 : units < expected.needs;
        if (isMissing) missing.push({ expected, ...describe(expected, units, storedRecords) });
      }
      if (missing.length > 0) this.#keep(item, missing);
    }
  }

  #keep(item: Item, missing: readonly Absence[]): void {
    this.#count += missing.length;
    for (const { expected, reason } of missing.slice(0, Math.max(0, this.#maxListed - this.#missing.length))) {
      const { row, names } = expected;
      const file = this.#files[row.file]?.given ?? "";
      this.#missing.push({ file, line: row.line, column: this.#columnOf(expected), ...names, reason });
    }
    if (!this.#file) return;
    const absences = new Map(missing.toReversed().map((absence) => [absence.expected.row, absence]));
    const isTogether = this.#areTogether[item.rows[0]?.file ?? -1] ?? false;
    const rows = isTogether ? item.rows : rowsToSendAgain(item, missing);
    for (const row of rows) {
      const absence = absences.get(row);
      const { code = "is_there", reason = "is stored, but must be imported together with the missing row" } =
        absence ?? {};
      this.#file.add(row, { column: absence ? this.#columnOf(absence.expected) : "", code, reason });
    }
  }

  #columnOf({ row, field }: ExpectedRecord): string {
    return this.#files[row.file]?.columnName(field) ?? field;
  }
}

interface Absence {
  readonly expected: ExpectedRecord;
  readonly code: string;
  readonly reason: string;
}

function describe(
  { of }: ExpectedRecord,
  units: number,
  { isRemoval }: StoredRecords,
): { code: string; reason: string } {
  if (isRemoval) return { code: "still_there", reason: "is still stored" };
  if (units === 0) return { code: "not_there", reason: "is not stored" };
  return { code: "too_few", reason: `${units} of ${of} stored` };
}

/**
 * The rows to import again so that the missing ones are stored: only those, but if a product of an order has too few
 * units, all rows of that product, since the service counts the units of one call.
 */
function rowsToSendAgain({ rows, parts = [], isIndivisible }: Item, missing: readonly Absence[]): readonly SourceRow[] {
  if (isIndivisible) return missing.length > 0 ? rows : [];
  const short = new Set(missing.filter(({ expected }) => expected.of > 1).map(({ expected }) => expected.part));
  const goingWith = parts.filter(({ id }) => short.has(id)).map(({ row }) => row);
  const chosen = new Set([...missing.map(({ expected }) => expected.row), ...goingWith]);
  return rows.filter((row) => chosen.has(row));
}

/** The keys of the stored records with their counts, in a temporary file on disk. */
export class StoredKeys implements Disposable {
  readonly #folder: string;
  readonly #file: SqliteFile;

  constructor(parentFolder: string) {
    this.#folder = mkdtempSync(join(parentFolder, spillPrefix));
    this.#file = new SqliteFile(join(this.#folder, "held.db"));
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute("create table held (key text primary key, units integer not null) without rowid; begin");
  }

  /** Adds a page of keys; a repeated key is counted again. */
  add(keys: readonly string[]): void {
    this.#file.run(
      `insert into held select value, 1 from json_each(?) where true
       on conflict (key) do update set units = units + 1`,
      [JSON.stringify(keys)],
    );
  }

  unitsOf(key: string): number {
    return Number(this.#file.all("select units from held where key = ?", [key])[0]?.["units"] ?? 0);
  }

  clear(): void {
    this.#file.execute("delete from held");
  }

  [Symbol.dispose](): void {
    this.#file.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
