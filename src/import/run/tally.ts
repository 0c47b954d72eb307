import { shorten } from "../mapping/names.ts";
import { describePlace, type RecordUnit } from "../csv/file-format.ts";
import type { FixedId } from "../check/valid-id.ts";
import type { FixedIdFile } from "./fixed-id-file.ts";
import type { RejectFile } from "./reject-file.ts";
import type { Totals } from "./journal.ts";
import type { Item, RowError, SourceRow } from "../item.ts";
import type { ItemName } from "../kind.ts";
import { type ChunkOutcomes, outcomeCodes } from "../outcome.ts";
import { describeIncomplete, type RejectCode, rejectCodes, sharpenReason } from "../check/reject-codes.ts";
import type { ImportEvent, RejectReason } from "../events.ts";
import type { RejectGroup } from "../plan/plan-types.ts";
import type { ItemCounts } from "../summary.ts";

/** A file of the run, for messages and rejects. */
export interface TallyFile {
  readonly given: string;
  /** The header of the column that holds a field; the field's own name if no column holds it. */
  readonly columnName: (field: string) => string;
  readonly column: (field: string) => number | undefined;
  readonly unit?: RecordUnit;
}

type Group = Omit<RejectGroup & RejectReason, "count" | "items"> & {
  count: number;
  /** How many of the rows belong to an item that an earlier row has counted. */
  further: number;
};

/** Maximum number of errors distinguished by their text instead of only by their code. */
const maxGroups = 200;

/** Counts the outcome of every row exactly once: `read = accepted + rejected + failed`. */
export class RunTally {
  readonly #files: readonly TallyFile[];
  readonly #rejects: RejectFile | undefined;
  readonly #fixedIds: FixedIdFile | undefined;
  readonly #codes: Readonly<Record<string, RejectCode>>;
  readonly #problems = new Map<string, Group>();
  readonly #dropped = new Map<string, Group>();
  readonly #erased = new Map<string, Group>();
  readonly #doubted = new Map<string, Group>();
  readonly #rows = { accepted: 0, rejected: 0, failed: 0 };
  readonly #items = { sent: 0, accepted: 0, rejected: 0 };
  readonly #outcomes = new OutcomeTally();
  readonly #filled = new Map<string, number>();
  readonly calls = { sent: 0, retried: 0, throttled: 0 };

  /** @param codes the reject codes of the run's kind */
  constructor(
    files: readonly TallyFile[],
    rejects: RejectFile | undefined,
    fixedIds?: FixedIdFile,
    codes: Readonly<Record<string, RejectCode>> = {},
  ) {
    this.#codes = { ...rejectCodes, ...codes };
    this.#files = files;
    this.#rejects = rejects;
    this.#fixedIds = fixedIds;
  }

  get totals(): Totals {
    const { accepted, rejected, failed } = this.#rows;
    return {
      rows: { read: accepted + rejected + failed, accepted, rejected, failed },
      items: {
        ...this.#items,
        ...this.#outcomes.counts,
        ...(this.#filled.size > 0 && { filled: Object.fromEntries(this.#filled) }),
      },
      calls: { ...this.calls },
    };
  }

  /** Rows that were not accepted, for any reason. */
  get errors(): number {
    return this.#rows.rejected + this.#rows.failed;
  }

  /**
   * Counts a row that was not sent.
   * @param isFurther whether an earlier row of the same item has the same first error
   */
  reject(row: SourceRow, problems: readonly RowError[], isFurther = false): void {
    this.#rows.rejected++;
    this.#write(row, problems, isFurther);
  }

  /**
   * Counts the items of an answered call.
   * @param one what an item is called
   * @param outcomes what the service did with the accepted items; undefined if it is unknown
   */
  settle(
    items: readonly Item[],
    problems: ReadonlyMap<number, RowError>,
    one = "order",
    outcomes?: ChunkOutcomes,
  ): void {
    this.#items.sent += items.length;
    this.#outcomes.addFields(outcomes?.fields);
    for (const [at, item] of items.entries()) {
      const problem = problems.get(at);
      if (!problem) {
        this.#items.accepted++;
        this.#outcomes.addItem(outcomes?.codes[at]);
        this.#rows.accepted += item.rows.length;
        for (const field of item.filled ?? []) this.#filled.set(field, (this.#filled.get(field) ?? 0) + 1);
        continue;
      }
      this.#items.rejected++;
      this.#rows.rejected += item.rows.length;
      this.#writeItem(item, problem, one);
    }
  }

  /** Counts the rows of a call that was rejected as a whole; the rows themselves may be valid. */
  fail(items: readonly Item[], reason: string): void {
    this.#items.sent += items.length;
    for (const row of items.flatMap((item) => item.rows)) {
      this.#rows.failed++;
      this.#write(row, [{ field: "", code: "call_refused", reason }]);
    }
  }

  /** Counts a cell that was dropped although its row was sent. */
  dropValue(row: SourceRow, field: string, reason: string): void {
    this.#count(this.#dropped, row, { field, code: `dropped ${reason}`, reason });
  }

  /** Counts a value that is sent although it is probably wrong. */
  doubtValue(row: SourceRow, field: string, reason: string): void {
    this.#count(this.#doubted, row, { field, code: `doubted ${reason}`, reason });
  }

  /** Counts an empty cell that was to erase a value but was not sent, since the service would erase nothing. */
  keep(row: SourceRow, field: string, reason: string): void {
    this.#count(this.#dropped, row, { field, code: "kept", reason });
  }

  /** Counts an empty cell that erases the stored value. */
  erase(row: SourceRow, field: string): void {
    this.#count(this.#erased, row, { field, code: "erased", reason: "" });
  }

  /** Counts an ID that was rewritten. */
  fixId(row: SourceRow, pair: FixedId): void {
    this.#fixedIds?.add(pair, row);
  }

  /** The rejected rows by error, most frequent first. */
  get rejects(): readonly RejectGroup[] {
    return [...this.#problems.values()]
      .toSorted((a, b) => b.count - a.count)
      .map(({ code, column, reason, first, count }) => ({ code, column, reason, first, count }));
  }

  /** Empty cells that erase the stored value, by column. */
  get erased(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#erased.values()].map(({ column, count }) => [column, count]));
  }

  /** Notices for the end of the run, grouped by cause, with a count and the first position. */
  *notices(itemName: ItemName): Generator<ImportEvent> {
    yield* this.#outcomes.notices(itemName);
    for (const { column, reason, first, count } of this.#dropped.values()) {
      const cells = count === 1 ? "1 cell was" : `${count} cells were`;
      yield { type: "notice", message: `${cells} dropped: ${column}: ${reason}; first at ${first}` };
    }
    for (const { column, first, count } of this.#erased.values()) {
      const cells = count === 1 ? "1 empty cell erases" : `${count} empty cells erase`;
      yield { type: "notice", message: `${cells} the stored value: ${column}; first at ${first}` };
    }
    // Notices are kept with the run, so they contain no address.
    for (const { column, reason, place, count } of this.#doubted.values()) {
      const values = count === 1 ? "1 accepted value" : `${count} accepted values`;
      yield { type: "notice", message: `${values} may be wrong: ${column}: ${reason}; first at ${place}` };
    }
    const fixed = this.#fixedIds?.describe();
    if (fixed !== undefined) yield { type: "notice", message: fixed };
    const reasons = [...this.#problems.values()]
      .toSorted((a, b) => b.count - a.count)
      .map(({ code, count, further, column, reason, hint, file, line, place, value }) => {
        const one = count - further === 1 ? itemName.one : itemName.many;
        const items = further === 0 ? undefined : `${format(count - further)} ${one}`;
        return { code, count, items, column, reason, hint, file, line, place, value };
      });
    if (reasons.length > 0) yield { type: "rejects", reasons };
  }

  /** If one row of an item is invalid, its error is reported there, and the other rows refer to it. */
  #writeItem({ rows, isIndivisible = false }: Item, problem: RowError, one: string): void {
    // For rows that only make sense together, the row that holds the value.
    const holder = isIndivisible ? rows.find((row) => this.#valueOf(row, problem.field) !== "") : undefined;
    const invalidRow = problem.row === undefined ? holder : rows[problem.row];
    const incomplete = describeIncomplete(one, invalidRow?.line, invalidRow && this.unitOf(invalidRow));
    for (const row of rows) {
      const isInvalid = invalidRow === undefined || row === invalidRow;
      this.#write(row, [isInvalid ? problem : incomplete]);
    }
  }

  #write(row: SourceRow, problems: readonly RowError[], isFurther = false): void {
    const [first] = problems;
    if (!first) throw new Error("a row was rejected without a problem");
    const group = this.#count(this.#problems, row, first);
    if (isFurther) group.further++;
    const file = this.#files[row.file];
    const reasons = problems.map((problem) => this.#describe(row, problem));
    const hints = new Set(problems.flatMap(({ code, hint }) => hint ?? this.#codes[code]?.hint ?? []));
    const reason = [...reasons, ...hints].join("; ");
    this.#rejects?.add(row, {
      column: this.#columnOf(row, first.field),
      code: first.code,
      reason: this.#files.length > 1 ? `${file?.given}: ${reason}` : reason,
    });
  }

  /** What the number of a row counts. */
  unitOf({ file }: SourceRow): RecordUnit {
    return this.#files[file]?.unit ?? "line";
  }

  /** The header of the column that holds a field; empty if the error concerns the entire row. */
  #columnOf(row: SourceRow, field: string): string {
    return field === "" ? "" : (this.#files[row.file]?.columnName(field) ?? field);
  }

  #describe(row: SourceRow, { field, code, reason }: RowError): string {
    if (field === "") return reason;
    return `${this.#columnOf(row, field)} ${sharpenReason(code, reason, this.#valueOf(row, field))}`;
  }

  /** The cell that holds a field; empty if no column holds it. */
  #valueOf(row: SourceRow, field: string): string {
    const at = this.#files[row.file]?.column(field);
    return at === undefined ? "" : (row.cells[at] ?? "");
  }

  #count(groups: Map<string, Group>, row: SourceRow, { field, code, reason, hint }: RowError): Group {
    const file = this.#files[row.file];
    const value = this.#valueOf(row, field);
    const sharp = sharpenReason(code, reason, value);
    // The service's own message is more specific than its code, but may be different each time.
    const isOwnWords = (code === "refused" || code === "call_refused") && groups.size < maxGroups;
    const key = `${code} ${field} ${isOwnWords || sharp !== reason ? sharp : ""}`;
    const known = groups.get(key);
    if (known) {
      known.count++;
      return known;
    }
    const column = this.#columnOf(row, field);
    const unit = this.unitOf(row);
    const place = describePlace(file?.given ?? "", row.line, unit);
    const cell = column === "" ? place : `${place}${unit === "line" ? ":" : ", "}${column}`;
    const shown = shorten(value, 60);
    const first = shown === "" ? cell : `${cell} (${JSON.stringify(shown)})`;
    const example = { file: file?.given ?? "", line: row.line, place, value: shown };
    const fix = hint ?? this.#codes[code]?.hint;
    const group = { code, column, reason: sharp, first, hint: fix, ...example, count: 1, further: 0 };
    groups.set(key, group);
    return group;
  }
}

type OutcomeCounts = Pick<ItemCounts, "created" | "changed" | "unchanged" | "unchanged_on_repeat">;

/** Counts what the service did with the accepted items of a run. */
export class OutcomeTally {
  readonly #counts = new Map<string, number>();
  readonly #fields = new Map<string, number>();

  addItem(code: string = outcomeCodes.unknown): void {
    this.#counts.set(code, this.#countOf(code) + 1);
  }

  addFields(fields: ChunkOutcomes["fields"] = {}): void {
    for (const [field, count] of Object.entries(fields)) {
      this.#fields.set(field, (this.#fields.get(field) ?? 0) + count);
    }
  }

  /** All null if the outcome of a single item is unknown, since the sum must be the number of accepted items. */
  get counts(): OutcomeCounts {
    if (this.#countOf(outcomeCodes.unknown) > 0) return { created: null, changed: null, unchanged: null };
    const repeated = this.#countOf(outcomeCodes.unchangedOnRepeat);
    return {
      created: this.#countOf(outcomeCodes.created),
      changed: this.#countOf(outcomeCodes.changed),
      unchanged: this.#countOf(outcomeCodes.unchanged) + repeated,
      ...(repeated > 0 && { unchanged_on_repeat: repeated }),
    };
  }

  *notices({ one, many }: ItemName): Generator<ImportEvent> {
    const changed = this.#countOf(outcomeCodes.changed);
    if (changed > 0 && this.#fields.size > 0) {
      const fields = [...this.#fields]
        .toSorted(([, a], [, b]) => b - a)
        .map(([field, count]) => `${field} (${format(count)})`);
      const message = `${format(changed)} ${changed === 1 ? one : many} changed: ${fields.join(", ")}`;
      yield { type: "notice", message };
    }
    const repeated = this.#countOf(outcomeCodes.unchangedOnRepeat);
    if (repeated > 0) {
      const items = `${format(repeated)} ${repeated === 1 ? one : many} ${repeated === 1 ? "counts" : "count"}`;
      const message = `${items} as unchanged, but this import may have stored ${repeated === 1 ? "it" : "them"}: a request was repeated because it got no response`;
      yield { type: "notice", message };
    }
  }

  #countOf(code: string): number {
    return this.#counts.get(code) ?? 0;
  }
}

function format(count: number): string {
  return count.toLocaleString("en-US");
}
