import type { RunTally } from "../run/tally.ts";
import { describeIncomplete } from "../check/reject-codes.ts";
import type { CellRules } from "../check/cell-rules.ts";
import type { ImportBehavior } from "../kind.ts";
import { isItem, type Item, type RowError, type RowView, type SourceRow } from "../item.ts";
import type { RowGroups } from "./layout.ts";
import type { RowCells, RowFields } from "./row-fields.ts";
import { isZero } from "./values.ts";

interface GroupDeps {
  readonly groups: RowGroups;
  readonly fields: RowFields;
  readonly behavior: ImportBehavior;
  readonly rules: CellRules;
  readonly tally: RunTally;
}

type Problems = Map<SourceRow, RowError[]>;

/** Turns rows that belong together into one item, or one item each; if one row is invalid, all are rejected. */
export class GroupReader {
  readonly #deps: GroupDeps;
  readonly #shared: ReadonlySet<string>;
  /** What to report about the group's rows if they are accepted. */
  readonly #later: (() => void)[] = [];

  constructor(deps: GroupDeps) {
    this.#deps = deps;
    this.#shared = new Set(deps.groups.shared ?? deps.behavior.sharedFields);
  }

  /** @returns an empty array if the rows were rejected */
  read(group: CollectedGroup): readonly Item[] {
    const sources = group.rows.map(({ source }) => source);
    if (group.isTooLarge) {
      const reason = `a group has at most ${maxGroup.rows} rows and ${maxGroup.size / 1024 / 1024} MiB`;
      for (const source of sources) this.#deps.tally.reject(source, [{ field: "", code: "order_too_large", reason }]);
      return [];
    }
    const problems: Problems = new Map();
    for (const { source, problem } of group.rows) if (problem) problems.set(source, [problem]);
    const sound = group.rows.filter(({ problem }) => !problem);
    const { makes } = this.#deps.groups;
    this.#later.length = 0;
    const items = makes === "one" ? this.#readRecord(sound, problems) : this.#readLines(sound, problems);
    if (problems.size > 0) {
      this.#reject(sources, problems);
      return [];
    }
    for (const report of this.#later) report();
    for (const item of items) item.isIndivisible = true;
    return items;
  }

  #readLines(rows: readonly CollectedRow[], problems: Problems): readonly Item[] {
    const { fields, groups, behavior } = this.#deps;
    const all = rows.map(({ source }) => cellsOf(source));
    const others: SourceRow[] = [];
    const items: Item[] = [];
    for (const { source } of rows) {
      const parts = fields.partsOf(source.cells);
      const isNoLine = groups.isNoLine?.(fields.cellView(cellsOf(source))) ?? false;
      const lines: RowCells[] = (parts ?? [undefined]).map((part) => ({ cells: source.cells, part }));
      const bought = isNoLine ? [] : lines.filter((line) => this.#isBought(line, source));
      if (bought.length === 0) others.push(source);
      for (const [at, line] of bought.entries()) {
        const read = this.#readLine(line, source, all);
        if (!isItem(read)) {
          problems.set(source, [...(problems.get(source) ?? []), ...read]);
          continue;
        }
        // A row with several lines is still one row.
        if (at > 0) read.rows.length = 0;
        const [first] = groups.makes === "lines" ? items : [];
        const problem = first && behavior.join?.(first, read, this.#deps.tally.unitOf(source));
        if (problem) problems.set(source, [problem]);
        if (!first) items.push(read);
      }
    }
    this.#blameGivers(rows, problems);
    if (items[0]) items[0].rows.push(...others);
    else if (problems.size === 0 && others[0]) {
      const reason = `the ${behavior.itemName.one} has no purchased line item`;
      problems.set(others[0], [{ field: "", code: "no_lines", reason }]);
    }
    return items;
  }

  /** Whether a line has any units; shops export 0 for returned or unshipped line items. */
  #isBought(line: RowCells, source: SourceRow): boolean {
    const units = this.#deps.fields.given("quantity", line, () => "");
    if (units === "" || !isZero(units)) return true;
    const { tally } = this.#deps;
    this.#later.push(() => tally.dropValue(source, "quantity", "a line item with 0 units was not purchased"));
    return false;
  }

  #readLine(row: RowCells, source: SourceRow, all: readonly RowCells[]): Item | readonly RowError[] {
    const { fields, rules } = this.#deps;
    return rules.read(viewLine(fields, row, all, this.#shared), source, this.#later);
  }

  /**
   * Reports an invalid shared field once: at the row that gives it, or at the first if none does. Every line that uses
   * it has the same error.
   */
  #blameGivers(rows: readonly CollectedRow[], problems: Problems): void {
    const { fields } = this.#deps;
    const first = rows[0]?.source;
    for (const [source, found] of problems) {
      const own = found.filter(
        ({ field }) =>
          !this.#shared.has(field) || source === first || fields.given(field, cellsOf(source), () => "") !== "",
      );
      const isReportedElsewhere = own.length === 0 && [...problems].some(([other]) => other !== source);
      if (isReportedElsewhere) problems.delete(source);
      else if (own.length > 0) problems.set(source, own);
    }
  }

  #readRecord(rows: readonly CollectedRow[], problems: Problems): readonly Item[] {
    const { fields, groups, rules } = this.#deps;
    const [first] = rows;
    if (!first) return [];
    const lead = groups.lead && rows.find(({ source }) => groups.lead?.is(fields.cellView(cellsOf(source))));
    if (!lead && groups.lead?.missing) {
      const { column, reason } = groups.lead.missing;
      for (const { source } of rows) problems.set(source, [{ field: column, code: "no_parent", reason }]);
      return [];
    }
    const ordered = lead ? [lead, ...rows.filter((row) => row !== lead)] : rows;
    const sources = ordered.map(({ source }) => source);
    const main = sources[0] ?? first.source;
    const read = rules.read(this.#viewRecord(sources, main), main, this.#later);
    if (isItem(read)) {
      read.rows.splice(0, read.rows.length, ...rows.map(({ source }) => source));
      return [read];
    }
    for (const problem of read) {
      const isOfReply = groups.replies?.fields.includes(problem.field);
      const givers = groups.replies ? sources.filter((source) => (source === main) !== isOfReply) : sources;
      const giver = givers.find((source) => fields.given(problem.field, cellsOf(source), () => "") !== "") ?? main;
      problems.set(giver, [...(problems.get(giver) ?? []), problem]);
    }
    return [];
  }

  #viewRecord(sources: readonly SourceRow[], main: SourceRow): RowView {
    const { fields, groups, tally } = this.#deps;
    const { replies } = groups;
    if (!replies) return viewRecord(fields, sources.map(cellsOf), groups);
    const lead = fields.cellView(cellsOf(main));
    const others = sources.filter((source) => source !== main);
    const reply = others.find((source) => replies.is(fields.cellView(cellsOf(source)), lead));
    for (const source of others) {
      if (source !== reply) this.#later.push(() => tally.dropValue(source, replies.fields[0] ?? "", replies.otherwise));
    }
    const ofLead = viewRecord(fields, [cellsOf(main)], groups);
    const ofReply = viewRecord(fields, reply ? [cellsOf(reply)] : [], groups);
    return (field) => (replies.fields.includes(field) ? ofReply : ofLead)(field);
  }

  #reject(sources: readonly SourceRow[], problems: Problems): void {
    const { tally, behavior } = this.#deps;
    const fault = sources.find((source) => problems.has(source));
    const incomplete = describeIncomplete(behavior.itemName.one, fault?.line, fault && tally.unitOf(fault));
    const lacked = [...problems.values()].flat().find((problem) => this.#isLacked(problem));
    if (!lacked) {
      for (const source of sources) tally.reject(source, problems.get(source) ?? [incomplete]);
      return;
    }
    for (const [at, source] of sources.entries()) {
      const own = (problems.get(source) ?? []).filter((problem) => problem !== lacked);
      tally.reject(source, [lacked, ...own], at > 0);
    }
  }

  /** Whether the group lacks a shared field, so that all of its rows have the same error. */
  #isLacked({ field, code }: RowError): boolean {
    return code === "missing" && this.#shared.has(field);
  }
}

function cellsOf({ cells }: SourceRow): RowCells {
  return { cells };
}

/**
 * The fields of one line of a group: its own, and shared fields from other rows of the group if the line leaves them
 * empty.
 * @param shared the fields of the record, which any of its rows may give
 */
export function viewLine(
  fields: RowFields,
  row: RowCells,
  rows: readonly RowCells[],
  shared: ReadonlySet<string>,
): RowView {
  const view: RowView = (field) => {
    const own = fields.given(field, row, view);
    if (own !== "") return own;
    const other = shared.has(field) ? findGiven(fields, field, rows, view) : "";
    return other === "" ? fields.supplied(field, row, view) : other;
  };
  return view;
}

/** The fields of a record that all rows of a group describe; the first row with a value counts. */
function viewRecord(fields: RowFields, rows: readonly RowCells[], { together = [] }: RowGroups): RowView {
  const [lead] = rows;
  if (!lead) return () => "";
  const view: RowView = (field) => {
    const found = findGiven(fields, field, together.includes(field) ? oneOf : rows, view);
    return found === "" ? fields.supplied(field, lead, view) : found;
  };
  const oneOf = rows.filter((row) => together.some((field) => fields.given(field, row, () => "") !== "")).slice(0, 1);
  return view;
}

function findGiven(fields: RowFields, field: string, rows: readonly RowCells[], view: RowView): string {
  for (const row of rows) {
    const value = fields.given(field, row, view);
    if (value !== "") return value;
  }
  return "";
}

/** A row of a group, with an error if it could not be parsed. */
export interface CollectedRow {
  readonly source: SourceRow;
  readonly problem?: RowError | undefined;
}

/** The limits of one group, in rows and characters. */
export const maxGroup = { rows: 5_000, size: 16 * 1024 * 1024 } as const;

/** Rows that belong together; if they exceed the limits, the rest follows in further groups. */
export interface CollectedGroup {
  readonly rows: readonly CollectedRow[];
  readonly isTooLarge: boolean;
}

/** Collects adjacent rows that belong together. */
export class RowCollector {
  readonly #groups: RowGroups;
  readonly #fields: RowFields;
  readonly #keyColumn: number;
  #key: string | undefined;
  #rows: CollectedRow[] = [];
  #size = 0;
  #started = 0;
  #isTooLarge = false;

  constructor(groups: RowGroups, fields: RowFields) {
    this.#groups = groups;
    this.#fields = fields;
    this.#keyColumn = fields.groupColumn ?? -1;
  }

  /** @param family the row's family, if the layout groups by family */
  *add(row: CollectedRow, family: string | undefined): Generator<CollectedGroup> {
    const key = this.#keyOf(row, family);
    if (key === undefined || key !== this.#key) yield* this.end();
    this.#key = key;
    this.#rows.push(row);
    for (const cell of row.source.cells) this.#size += cell.length;
    if (this.#rows.length <= maxGroup.rows && this.#size <= maxGroup.size && !this.#isTooLarge) return;
    this.#isTooLarge = true;
    yield this.#take();
  }

  *end(): Generator<CollectedGroup> {
    if (this.#rows.length > 0) yield this.#take();
    this.#key = undefined;
    this.#isTooLarge = false;
  }

  #take(): CollectedGroup {
    const group = { rows: this.#rows, isTooLarge: this.#isTooLarge };
    this.#rows = [];
    this.#size = 0;
    return group;
  }

  /** The key that the rows of one group share; undefined for a row that stands alone. */
  #keyOf({ source: { cells } }: CollectedRow, family: string | undefined): string | undefined {
    const { by } = this.#groups;
    if ("family" in by) return family;
    if ("start" in by) {
      if (by.start(this.#fields.cellView({ cells }))) this.#started++;
      return String(this.#started);
    }
    return readKey(cells[this.#keyColumn] ?? "");
  }
}

/** A key without surrounding whitespace, and without surrounding quotes in a row that could not be parsed. */
function readKey(cell: string): string | undefined {
  const key = cell
    .trim()
    .replace(/^"([^"]*)"?$/, "$1")
    .trim();
  return key === "" ? undefined : key;
}
