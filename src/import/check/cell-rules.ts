import { dayMs } from "../../contract/time.ts";
import type { RunTally } from "../run/tally.ts";
import type { ImportBehavior } from "../kind.ts";
import { isItem, type Item, type ReportDropped, type RowError, type RowView, type SourceRow } from "../item.ts";
import { doubtedFields, findDamage, findDoubt, maxValueLength } from "./damaged-values.ts";
import { readTime } from "./date.ts";
import { derivedIdField, type FixedId, fixId } from "./valid-id.ts";
import type { ColumnMap } from "../mapping/header.ts";
import type { ImportOptions } from "../options.ts";

const none: readonly string[] = [];

interface RulesOf {
  readonly behavior: ImportBehavior;
  readonly tally: RunTally;
  readonly options: Pick<ImportOptions, "empty" | "fixIds" | "productIdFrom">;
  /** When the run began; a resume must judge dates as the run did. */
  readonly startedMs: number;
}

/**
 * Applies what is the same for the cells of all kinds: the rejection of damaged values and of dates in the future, and
 * the options for rewriting invalid IDs and for empty cells. What was done is added to the tally once the row is an item,
 * since nothing of a rejected row is sent.
 */
export class CellRules {
  readonly #behavior: ImportBehavior;
  readonly #tally: RunTally;
  readonly #empty: ImportOptions["empty"];
  /** The optional fields for which the file has a column. */
  readonly #optional: readonly string[];
  readonly #doubted: readonly string[];
  readonly #missingHints: Readonly<Record<string, string>>;
  readonly #fixable: ReadonlySet<string>;
  /** Whether product IDs may be derived, and are then rewritten. */
  readonly #hasDerivedIds: boolean;
  readonly #ids: ReadonlySet<string>;
  /** The latest date that is accepted, as a timestamp. */
  readonly #latest: string;
  /** A day that has passed in every time zone. */
  readonly #past: string;
  #row: RowView = () => "";
  /** The values of the row that must not be used, by field. */
  readonly #damaged = new Map<string, RowError>();
  readonly #fixed = new Map<string, FixedId>();
  readonly #dropped: (readonly [field: string, reason: string])[] = [];
  readonly #reportDropped: ReportDropped = (field, reason) => this.#dropped.push([field, reason]);

  constructor(
    { behavior, tally, options, startedMs }: RulesOf,
    hasColumn: (field: string) => boolean,
    { missingHints = {}, fields }: Partial<Pick<ColumnMap, "missingHints" | "fields">> = {},
  ) {
    const { empty, fixIds, productIdFrom } = options;
    this.#missingHints = missingHints;
    this.#behavior = behavior;
    this.#tally = tally;
    this.#empty = empty;
    const optional = behavior.fields.filter(({ name, required }) => !required && hasColumn(name));
    this.#optional = empty === undefined || empty === "keep" ? [] : optional.map(({ name }) => name);
    this.#doubted = doubtedFields.filter(
      (field) => behavior.fields.some(({ name }) => name === field) && hasColumn(field),
    );
    this.#fixable = new Set(fixIds ? behavior.fixableFields : []);
    this.#hasDerivedIds = !fixIds && productIdFrom === undefined && fields?.columnOf(derivedIdField) !== undefined;
    this.#ids = new Set(behavior.idFields);
    this.#latest = new Date(startedMs + dayMs).toISOString();
    this.#past = new Date(startedMs - dayMs).toISOString().slice(0, 10);
  }

  /**
   * Reads a row as its kind does, with the rules applied.
   * @param later receives what to report once it is known whether the row's group is an item
   */
  read(row: RowView, source: SourceRow, later?: (() => void)[]): Item | readonly RowError[] {
    this.#row = row;
    // Clearing an empty map would allocate a new one.
    if (this.#fixed.size > 0) this.#fixed.clear();
    if (this.#damaged.size > 0) this.#damaged.clear();
    const view = this.#fixable.size > 0 || this.#hasDerivedIds ? this.#fixingView : this.#soundView;
    // Most rows have nothing to report; this avoids allocating for them.
    const empty = this.#optional.length === 0 ? none : this.#optional.filter((field) => view(field) === "");
    const erasable = this.#behavior.erasing?.fields ?? [];
    const erased = this.#empty === "clear" ? empty.filter((field) => erasable.includes(field)) : none;
    this.#dropped.length = 0;
    const read = this.#behavior.read(view, source, this.#reportDropped, erased);
    const problems = this.#findProblems(this.#empty === "error" ? empty : none);
    if (problems) return isItem(read) ? problems : this.#addHints(mergeProblems(problems, read));
    if (!isItem(read)) return this.#addHints(read);
    const isDoubted = this.#doubted.some((field) => findDoubt(field, view(field)) !== undefined);
    if (this.#dropped.length === 0 && empty.length === 0 && this.#fixed.size === 0 && !isDoubted) return read;
    const doubts = this.#doubted.map((field) => [field, findDoubt(field, view(field))] as const);
    const dropped = [...this.#dropped];
    const fixed = [...this.#fixed.values()];
    const report = () => {
      for (const [field, reason] of dropped) this.#tally.dropValue(source, field, reason);
      for (const field of empty) this.#countEmpty(source, field, erased.includes(field));
      for (const [field, doubt] of doubts) if (doubt !== undefined) this.#tally.doubtValue(source, field, doubt);
      for (const pair of fixed) this.#tally.fixId(source, pair);
    };
    if (later) later.push(report);
    else report();
    return read;
  }

  /** The row's values, with damaged ones hidden from the checks of the kind, and the end of long ones. */
  readonly #soundView: RowView = (field) => {
    const value = this.#row(field);
    if (value === "") return value;
    const damage = findDamage(field, value, this.#ids);
    if (!damage) return value;
    this.#damaged.set(field, damage);
    return damage.code === "too_long" ? value.slice(0, maxValueLength + 1) : "";
  };

  readonly #fixingView: RowView = (field) => {
    const value = this.#soundView(field);
    if (value === "" || !(this.#fixable.has(field) || this.#isDerived(field))) return value;
    const known = this.#fixed.get(field);
    if (known?.original === value) return known.fixed;
    const fixed = fixId(field, value);
    if (fixed !== undefined) this.#fixed.set(field, { original: value, fixed });
    return fixed ?? value;
  };

  #isDerived(field: string): boolean {
    return this.#hasDerivedIds && field === "product_id" && this.#row(derivedIdField) !== "";
  }

  /** The row's errors that do not depend on its kind; undefined if it has none. */
  #findProblems(empty: readonly string[]): RowError[] | undefined {
    const future = this.#findFutureDate();
    if (this.#damaged.size === 0 && empty.length === 0 && !future) return undefined;
    const reason = "is empty, which --empty error rejects";
    const sound = empty.filter((field) => !this.#damaged.has(field));
    const emptied = sound.map((field) => ({ field, code: "empty_cell", reason }));
    return [...this.#damaged.values(), ...(future ? [future] : []), ...emptied];
  }

  #addHints(problems: readonly RowError[]): readonly RowError[] {
    return problems.map((problem) => {
      const hint = problem.code === "missing" ? this.#missingHints[problem.field] : undefined;
      return hint === undefined ? problem : Object.assign({}, problem, { hint });
    });
  }

  #findFutureDate(): RowError | undefined {
    const { dateField: field } = this.#behavior;
    if (field === undefined) return undefined;
    const value = this.#soundView(field);
    // Most dates start with a day in the past, which compares as text.
    if (value[4] === "-" && value < this.#past) return undefined;
    const time = value === "" ? undefined : readTime(value);
    if (time === undefined || time <= this.#latest) return undefined;
    return { field, code: "future_date", reason: `'${value}' is more than a day in the future` };
  }

  #countEmpty(source: SourceRow, field: string, isErased: boolean): void {
    if (isErased) this.#tally.erase(source, field);
    else this.#tally.keep(source, field, this.#behavior.erasing?.otherwise ?? "there is no stored value to erase");
  }
}

/** The errors of a row, one per field; the kind knows the limits of its fields. */
function mergeProblems(general: readonly RowError[], own: readonly RowError[]): RowError[] {
  const isKnown = ({ field, code }: RowError) =>
    code === "too_long" && own.some((other) => other.field === field && other.code === code);
  const kept = general.filter((problem) => !isKnown(problem));
  return [...kept, ...own.filter(({ field }) => !kept.some((problem) => problem.field === field))];
}
