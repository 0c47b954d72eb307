import { unmarkFormula } from "../../export/formula-mark.ts";
import { unitOf } from "../csv/file-format.ts";
import type { InputFile } from "../source/input-files.ts";
import type { RunTally } from "../run/tally.ts";
import { CellRules } from "./cell-rules.ts";
import type { RecordProblem } from "../csv/record-scanner.ts";
import type { RowBatch } from "../csv/row-batches.ts";
import { splitRecord } from "../csv/split-record.ts";
import type { ImportBehavior } from "../kind.ts";
import { isItem, type Item, type RowError, type RowView, type SourceRow } from "../item.ts";
import { GroupReader, viewLine, RowCollector, type CollectedGroup } from "../layouts/group-reader.ts";
import type { KeyStore } from "../run/key-store.ts";
import { rejectCodeColumn } from "../mapping/names.ts";
import type { ImportOptions } from "../options.ts";

const recordProblems: Readonly<Record<RecordProblem, string>> = {
  bad_quote: "a quoted cell is not closed correctly",
  nul_byte: "the row contains a NUL byte",
  record_too_long: "the row is longer than 16 MiB",
};

/** A row whose cells are split again when they are needed, because few are, and rows are kept until they are answered. */
class ReadRow implements SourceRow {
  readonly file: number;
  readonly line: number;
  #cells: readonly string[] | undefined;
  readonly #text: string | undefined;
  readonly #delimiter: string;

  /** @param text the record, if its cells may be forgotten */
  constructor(file: number, line: number, cells: readonly string[], text: string | undefined, delimiter: string) {
    this.file = file;
    this.line = line;
    this.#cells = cells;
    this.#text = text;
    this.#delimiter = delimiter;
  }

  get cells(): readonly string[] {
    return this.#cells ?? splitRecord(this.#text ?? "", this.#delimiter);
  }

  forgetCells(): void {
    if (this.#text !== undefined) this.#cells = undefined;
  }
}

/** A file of a run, and what its rows are read with. */
interface ItemSource {
  readonly behavior: ImportBehavior;
  readonly tally: RunTally;
  readonly keys: KeyStore | undefined;
  readonly file: InputFile;
  readonly fileIndex: number;
  readonly options: ImportOptions;
  /** When the run began. */
  readonly startedMs: number;
}

/** Turns the rows of one file into checked items; rows that cannot be sent are rejected in the tally. */
export class ItemReader {
  readonly #source: ItemSource;
  readonly #behavior: ImportBehavior;
  readonly #tally: RunTally;
  readonly #rules: CellRules;
  readonly #groups: { readonly collector: RowCollector; readonly reader: GroupReader } | undefined;
  readonly #view: RowView;
  /** The column with the reject code in a reject file; -1 in other files. */
  readonly #codeColumn: number;
  readonly #row: { cells: readonly string[] } = { cells: [] };
  #open: Item | undefined;
  /** Rows read, blank ones excluded. */
  rows = 0;
  blankRows = 0;
  /** The number of rows that were skipped, by reason. */
  readonly skipped = new Map<string, number>();

  constructor(source: ItemSource) {
    const { behavior, tally, file } = source;
    const { columnOf, fields, layout, exact } = file.columns;
    const rules = new CellRules(source, (field) => columnOf.has(field), file.columns);
    this.#source = source;
    this.#behavior = behavior;
    this.#tally = tally;
    this.#rules = rules;
    this.#codeColumn = file.head.header.indexOf(rejectCodeColumn);
    this.#groups = fields &&
      layout?.groups && {
        collector: new RowCollector(layout.groups, fields),
        reader: new GroupReader({ groups: layout.groups, fields, behavior, rules, tally }),
      };
    const viewCells = (field: string) => {
      const at = columnOf.get(field);
      if (at === undefined) return "";
      const cell = this.#row.cells[at] ?? "";
      return unmarkFormula(exact.has(field) ? cell : trimBlanks(cell));
    };
    this.#view = fields ? viewLine(fields, this.#row, [], noneShared) : viewCells;
  }

  /** Yields the items that a batch completes; a grouped item stays open until a row with another key follows. */
  *read({ rows, lines, problems, families, texts = [] }: RowBatch): Generator<Item> {
    const { file, fileIndex } = this.#source;
    const { delimiter } = file.head.format;
    for (const [at, cells] of rows.entries()) {
      if (cells.every((cell) => cell === "" || cell.trim() === "")) {
        this.blankRows++;
        continue;
      }
      if (this.#skip(cells, problems.get(at))) continue;
      this.rows++;
      const source = new ReadRow(fileIndex, lines[at] ?? 0, cells, texts[at], delimiter);
      const problem = this.#checkRecord(source, problems.get(at));
      if (this.#groups) {
        const { collector } = this.#groups;
        yield* this.#readGroups(collector.add(problem ?? { source }, families?.get(at)));
        continue;
      }
      if (problem) {
        this.#tally.reject(problem.source, [problem.problem]);
        continue;
      }
      const item = this.#readRow(source);
      const complete = item && this.#place(item, source);
      source.forgetCells();
      if (complete) yield complete;
    }
  }

  #skip(cells: readonly string[], problem: RecordProblem | undefined): boolean {
    if (!this.#behavior.skip || problem !== undefined) return false;
    this.#row.cells = cells;
    const reason = this.#behavior.skip(this.#view);
    if (reason !== undefined) this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
    return reason !== undefined;
  }

  *#readGroups(groups: Iterable<CollectedGroup>): Generator<Item> {
    for (const group of groups) if (this.#groups) yield* this.#groups.reader.read(group);
  }

  /** Yields the item that is still open at the end of the file. */
  *end(): Generator<Item> {
    if (this.#groups) yield* this.#readGroups(this.#groups.collector.end());
    if (this.#open) yield this.#open;
    this.#open = undefined;
  }

  /** Checks a record before its fields are read; returns its cells so that they can be corrected. */
  #checkRecord(
    source: SourceRow,
    problem: RecordProblem | undefined,
  ): { readonly source: SourceRow; readonly problem: RowError } | undefined {
    const { header, format } = this.#source.file.head;
    if (problem === undefined && source.cells[this.#codeColumn] === "bad_quote") {
      const own = source.cells.slice(0, this.#codeColumn);
      if (own.some((cell) => hasOpenQuote(cell, format.delimiter))) {
        const more = "; if the cells are correct, clear the cell '_code'";
        return { source, problem: { field: "", code: "bad_quote", reason: `${recordProblems.bad_quote}${more}` } };
      }
    }
    if (problem !== undefined) {
      // Each cell can then be corrected by itself.
      const cells =
        problem === "nul_byte" ? source.cells : source.cells.flatMap((cell) => cell.split(format.delimiter));
      return {
        source: { file: source.file, line: source.line, cells },
        problem: { field: "", code: problem, reason: recordProblems[problem] },
      };
    }
    const count = source.cells.length;
    const hasBlanks = () => source.cells.slice(header.length).every((cell) => cell === "");
    if (count === header.length || (count > header.length && hasBlanks())) return undefined;
    const reason = `the row has ${count} cells, but the header has ${header.length}`;
    return { source, problem: { field: "", code: "ragged_row", reason } };
  }

  #readRow(source: SourceRow): Item | undefined {
    this.#row.cells = source.cells;
    const read = this.#rules.read(this.#view, source);
    if (!isItem(read)) this.#tally.reject(source, read);
    return isItem(read) ? read : undefined;
  }

  /** Returns the item that a row completes: an earlier one if rows are joined, otherwise its own. */
  #place(item: Item, source: SourceRow): Item | undefined {
    if (this.#behavior.join) {
      if (this.#open?.key === item.key && this.#open.rows.length < (this.#behavior.maxRows ?? Infinity)) {
        const problem = this.#behavior.join(this.#open, item, unitOf(this.#source.file.head.format));
        if (problem) this.#tally.reject(source, [problem]);
        return undefined;
      }
      const complete = this.#open;
      this.#open = item;
      return complete;
    }
    const { keys } = this.#source;
    if (keys && this.#behavior.numberDouble) {
      const numbered = this.#behavior.numberDouble(item, (name) => keys.count(name));
      return { ...numbered.item, doubleKeys: numbered.keys };
    }
    const problem = keys && this.#findDouble(keys, item.key, source.line);
    if (problem) this.#tally.reject(source, [problem]);
    return problem ? undefined : item;
  }

  #findDouble(keys: KeyStore, key: string, line: number): RowError | undefined {
    const field = this.#behavior.fields[0]?.name ?? "";
    const before = keys.addKey(key, line);
    if (before !== undefined)
      return { field, code: "duplicate", reason: `repeats ${unitOf(this.#source.file.head.format)} ${before}` };
    return keys.isExisting(key) ? { field, code: "duplicate", reason: "is already stored on the service" } : undefined;
  }
}

const noneShared: ReadonlySet<string> = new Set();

/** Trims a cell; most cells need no trimming. */
function trimBlanks(cell: string): string {
  return cell.charCodeAt(0) <= 32 || cell.charCodeAt(cell.length - 1) <= 32 ? cell.trim() : cell;
}

/**
 * Whether a cell of a reject file, or a part of it, still begins with a quote that is not closed correctly.
 * A row with a broken quote is written cut at its delimiters, so the cell with the quote would now be valid.
 */
function hasOpenQuote(cell: string, delimiter: string): boolean {
  const isClosed = (part: string) => /^"(?:[^"]|"")*"$/.test(part);
  return cell.includes('"') && cell.split(delimiter).some((part) => part.startsWith('"') && !isClosed(part));
}
