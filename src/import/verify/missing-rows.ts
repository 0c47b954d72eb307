import { join } from "node:path";
import { asRejectedInput, asTallyFile } from "../run/attempt.ts";
import type { TallyFile } from "../run/tally.ts";
import { type ExpectedRecord, joinKey, type StoredRecords } from "./stored-records.ts";
import type { Item, SourceRow } from "../item.ts";
import { RejectFile } from "../run/reject-file.ts";
import type { RecordedRun } from "../run/recorded-run.ts";
import type { DifferentValue, MissingRow, Verification } from "../summary.ts";
import { compareValues, type Difference } from "./comparable.ts";
import type { Held, StoredKeys } from "./stored-keys.ts";

export interface Found extends Pick<
  Verification,
  "checked" | "missing" | "missing_count" | "different" | "different_count"
> {
  /** The files with the rows; the first, and those with separate tables. */
  readonly files: readonly string[];
}

/**
 * Compares each row with the stored records and collects the missing and the different ones. Which rows are different is
 * known only after the last row, since a later row may have written the same field: a first pass marks the fields, and a
 * second one, with `isWritten`, collects them.
 */
export class Finding {
  readonly #files: readonly TallyFile[];
  readonly #maxListed: number;
  /** Where the missing rows are written; undefined if they are only counted. */
  readonly #file: RejectFile | undefined;
  /** For each file, whether the rows of an item can only be imported together. */
  readonly #areTogether: readonly boolean[];
  readonly #missing: MissingRow[] = [];
  readonly #different: DifferentValue[] = [];
  #count = 0;
  #differentCount = 0;
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
    const files = this.#count + this.#differentCount > 0 ? (this.#file?.written ?? []) : [];
    return {
      checked: this.#checked,
      missing: this.#missing,
      missing_count: this.#count,
      different: this.#different,
      different_count: this.#differentCount,
      files,
    };
  }

  abandon(): void {
    this.#file?.close(false);
  }

  checkItems(items: readonly Item[], storedRecords: StoredRecords, storedKeys: StoredKeys): void {
    const isRemoval = storedRecords.isRemoval ?? false;
    for (const item of items) {
      this.#checked.items++;
      this.#checked.rows += item.rows.length;
      const faults: Fault[] = [];
      for (const expected of storedRecords.expected(item)) {
        const held = storedKeys.find(expected.key);
        const isMissing = isRemoval ? held.units > 0 : held.units < expected.needs;
        if (!isMissing) faults.push(...this.#compare(expected, held, storedKeys));
        else
          faults.push(
            ...(this.#findChanged(expected, held, storedKeys) ?? [
              { expected, ...describe(expected, held.units, isRemoval) },
            ]),
          );
      }
      if (faults.length > 0) this.#keep(item, faults);
    }
  }

  /** The values of a record that is stored under its other key; undefined if it is not. */
  #findChanged(expected: ExpectedRecord, { units }: Held, storedKeys: StoredKeys): Fault[] | undefined {
    if (!expected.changed || units > 0) return undefined;
    const { key, values } = expected.changed;
    const held = storedKeys.find(key);
    return held.units === 1 ? [...this.#compare({ ...expected, key, values: [values] }, held, storedKeys)] : undefined;
  }

  *#compare(expected: ExpectedRecord, held: Held, storedKeys: StoredKeys): Generator<Fault> {
    const { key, values = [], firstUnit = 0 } = expected;
    const stored = held.values.slice(firstUnit, firstUnit + values.length);
    for (const { isSame, ...difference } of compareValues(values, stored)) {
      const row = expected.writtenIn?.get(difference.field) ?? expected.row;
      const place = expected.isEachCompared ? joinKey(key, String(row.file), String(row.line)) : key;
      const field = { key: place, field: difference.field };
      if (this.#file) {
        if (!isSame && storedKeys.isDifferent(field, row)) yield describeDifference({ ...expected, row }, difference);
      } else if (isSame) storedKeys.markSame(field);
      else storedKeys.markDifferent(field, row);
    }
  }

  #keep(item: Item, faults: readonly Fault[]): void {
    for (const { expected, reason, difference } of faults) {
      if (difference) this.#differentCount++;
      else this.#count++;
      if (this.#missing.length + this.#different.length >= this.#maxListed) continue;
      const { row, names } = expected;
      const place = {
        file: this.#files[row.file]?.given ?? "",
        line: row.line,
        column: this.#columnOf(expected),
        ...names,
      };
      if (!difference) this.#missing.push({ ...place, reason });
      else this.#different.push({ ...place, reason, expected: difference.expected, stored: difference.stored });
    }
    if (!this.#file) return;
    const faultOf = new Map(faults.toReversed().map((fault) => [fault.expected.row, fault]));
    const isTogether = this.#areTogether[item.rows[0]?.file ?? -1] ?? false;
    const rows = isTogether ? item.rows : rowsToSendAgain(item, faults);
    for (const row of rows) {
      const fault = faultOf.get(row);
      const { code = "is_there", reason = "is stored, but must be imported together with the missing row" } =
        fault ?? {};
      this.#file.add(row, { column: fault ? this.#columnOf(fault.expected) : "", code, reason });
    }
  }

  #columnOf({ row, field }: ExpectedRecord): string {
    return this.#files[row.file]?.columnName(field) ?? field;
  }
}

/** A row that is missing, or a value of a row that differs. */
interface Fault {
  readonly expected: ExpectedRecord;
  readonly code: string;
  readonly reason: string;
  readonly difference?: Difference;
}

function describe({ of }: ExpectedRecord, units: number, isRemoval: boolean): { code: string; reason: string } {
  if (isRemoval) return { code: "still_there", reason: "is still stored" };
  if (units === 0) return { code: "not_there", reason: "is not stored" };
  return { code: "too_few", reason: `${units} of ${of} stored` };
}

function describeDifference(expected: ExpectedRecord, difference: Difference): Fault {
  const show = (value: string | null) => (value === null ? "empty" : JSON.stringify(value));
  const reason = `is stored as ${show(difference.stored)} instead of ${show(difference.expected)}`;
  return { expected: { ...expected, field: difference.field }, code: "differs", reason, difference };
}

/**
 * The rows to import again so that the missing ones are stored: only those, but if a product of an order has too few
 * units, all rows of that product, since the service counts the units of one call.
 */
function rowsToSendAgain({ rows, parts = [], isIndivisible }: Item, missing: readonly Fault[]): readonly SourceRow[] {
  if (isIndivisible) return missing.length > 0 ? rows : [];
  const short = new Set(missing.filter(({ expected }) => expected.of > 1).map(({ expected }) => expected.part));
  const goingWith = parts.filter(({ id }) => short.has(id)).map(({ row }) => row);
  const chosen = new Set([...missing.map(({ expected }) => expected.row), ...goingWith]);
  return rows.filter((row) => chosen.has(row));
}
