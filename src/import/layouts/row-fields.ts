import { unmarkFormula } from "../../export/formula-mark.ts";
import type { RowView } from "../item.ts";
import type { CellView, Family, FieldSource, Layout, ValueContext } from "./layout.ts";
import { isErrorValue } from "../check/damaged-values.ts";
import { normalizeName } from "../mapping/names.ts";
import { asDay } from "./values.ts";

/** Longer values are not converted, in characters: the checks reject them. HTML may be much longer than its text. */
const maxConverted = 1024 * 1024;

/** One line of a row that holds several, by column name. */
export type RowPart = ReadonlyMap<string, string>;

/** What the fields of a row are read from. */
export interface RowCells {
  readonly cells: readonly string[];
  readonly part?: RowPart | undefined;
}

/** The sources of a file's fields apart from its cells. */
export interface FieldSupply {
  readonly layout: Layout | undefined;
  /** Field to column from `--map`; takes precedence over the layout. */
  readonly mapped: ReadonlyMap<string, number>;
  /** Field to column by native names; the layout takes precedence. */
  readonly named: ReadonlyMap<string, number>;
  /** The columns of `--product-id-from`; they take precedence over all others. */
  readonly productId?: FieldSource | undefined;
  /** Field to the value for rows without one. */
  readonly set: ReadonlyMap<string, string>;
  /** The field with a product URL, and how to build it for rows without one. */
  readonly url?: { readonly field: string; readonly make: UrlMaker } | undefined;
  /** Field to the value that a kind's own flags give; takes precedence over the layout's constants. */
  readonly supplied: Readonly<Record<string, string>>;
  /** The field whose dates are converted if the file shows their order, whatever the layout. */
  readonly dateField?: string | undefined;
  readonly dateOrder: ValueContext["dateOrder"];
}

export type UrlMaker = (field: RowView, cell: CellView) => string;

/** A column by its index, or its name in a line within a cell. */
interface Place {
  readonly at: number;
  readonly name: string;
}

interface Source extends Omit<FieldSource, "from"> {
  readonly from: readonly (readonly Place[])[];
}

/** Reads the fields of one file's rows from all sources. */
export class RowFields {
  readonly #columns: ReadonlyMap<string, number>;
  readonly #sources = new Map<string, Source>();
  readonly #supply: FieldSupply;
  readonly #lineColumn: string | undefined;
  readonly #header: readonly string[];

  constructor(header: readonly string[], supply: FieldSupply) {
    this.#header = header;
    this.#supply = supply;
    this.#columns = indexColumns(header);
    const { layout, mapped, named, productId } = supply;
    this.#lineColumn = layout?.lines?.column(header);
    for (const [field, source] of Object.entries(layout?.fields ?? {})) {
      const found = this.#findColumns(source);
      if (found.from.length > 0) this.#sources.set(field, found);
    }
    for (const [field, at] of named)
      if (!this.#sources.has(field)) this.#sources.set(field, this.#fromColumn(field, at));
    for (const [field, at] of mapped) this.#sources.set(field, this.#fromColumn(field, at));
    if (productId) this.#sources.set("product_id", this.#findColumns(productId));
  }

  /** The field's value in the row itself; empty if the row has no value. */
  given(field: string, row: RowCells, view: RowView): string {
    const source = this.#sources.get(field);
    if (!source) return "";
    for (const places of source.from) {
      const value = readPlaces(places, row);
      if (value.length > maxConverted || isErrorValue(value)) return value;
      if (value === "" || source.countsAsEmpty?.(value)) continue;
      return source.as ? source.as(value, { field: view, dateOrder: this.#supply.dateOrder }) : value;
    }
    return "";
  }

  /** The value for a field that neither the row nor its group gives. */
  supplied(field: string, row: RowCells, view: RowView): string {
    const { set, url, layout, supplied } = this.#supply;
    const value = set.get(field) ?? supplied[field] ?? layout?.constants?.[field];
    if (value !== undefined) return value;
    return url?.field === field ? url.make(view, this.cellView(row)) : "";
  }

  cellView({ cells, part }: RowCells): CellView {
    return (column) => {
      const name = normalizeName(column);
      const at = this.#columns.get(name);
      return part?.get(name) ?? (at === undefined ? "" : unmarkFormula((cells[at] ?? "").trim()));
    };
  }

  /** Returns a function that determines the family of a row. */
  familyOf(of: (cell: CellView) => Family | undefined): (cells: readonly string[]) => Family | undefined {
    return (cells) => of(this.cellView({ cells }));
  }

  /** The lines of a row that holds several; undefined if each row is a line. */
  partsOf(cells: readonly string[]): readonly RowPart[] | undefined {
    const { layout } = this.#supply;
    if (this.#lineColumn === undefined || !layout?.lines) return undefined;
    const lines = layout.lines.read(this.cellView({ cells }), this.#header);
    return lines.map((line) => new Map(Object.entries(line).map(([name, value]) => [normalizeName(name), value])));
  }

  /** The column that groups rows; always the layout's own, whatever is mapped. */
  get groupColumn(): number | undefined {
    const by = this.#supply.layout?.groups?.by;
    if (!by || !("columns" in by)) return undefined;
    const name = by.columns.find((column) => this.#columns.has(normalizeName(column)));
    return name === undefined ? undefined : this.#columns.get(normalizeName(name));
  }

  /** The column from which a row's value came, or the first that could have held it. */
  columnOf(field: string, cells: readonly string[] = []): number | undefined {
    const source = this.#sources.get(field);
    if (!source) return undefined;
    const places = source.from.find((some) => some.some(({ at }) => at >= 0 && (cells[at] ?? "").trim() !== ""));
    const at = (places ?? source.from.flat()).find((place) => place.at >= 0)?.at;
    return at ?? (this.#lineColumn === undefined ? undefined : this.#header.indexOf(this.#lineColumn));
  }

  #findColumns({ from, ...source }: FieldSource): Source {
    const hasLines = this.#lineColumn !== undefined;
    const places = from
      .map((names) => (typeof names === "string" ? [names] : names).map((name) => this.#place(name)))
      .filter((some) => hasLines || some.some(({ at }) => at >= 0));
    const there = places.filter((some) => some.some(({ at }) => at >= 0));
    return { ...source, from: source.isOneColumn && there.length > 0 ? there.slice(0, 1) : places };
  }

  /** A field from a chosen column, converted as the layout or the order of the dates requires. */
  #fromColumn(field: string, at: number): Source {
    const { layout, dateField, dateOrder } = this.#supply;
    const { as = field === dateField && dateOrder ? asDay : undefined } = layout?.fields[field] ?? {};
    return { from: [[{ at, name: "" }]], ...(as ? { as } : {}) };
  }

  #place(column: string): Place {
    const name = normalizeName(column);
    return { at: this.#columns.get(name) ?? -1, name };
  }
}

function indexColumns(header: readonly string[]): Map<string, number> {
  const columns = new Map<string, number>();
  for (const [at, name] of header.entries()) {
    const known = normalizeName(name);
    if (!columns.has(known)) columns.set(known, at);
  }
  return columns;
}

function readPlaces(places: readonly Place[], { cells, part }: RowCells): string {
  const [first] = places;
  if (places.length === 1 && first) return readPlace(first, cells, part);
  return places
    .map((place) => readPlace(place, cells, part))
    .filter((value) => value !== "")
    .join(" ");
}

function readPlace({ at, name }: Place, cells: readonly string[], part: RowPart | undefined): string {
  return part?.get(name) ?? (at < 0 ? "" : unmarkFormula((cells[at] ?? "").trim()));
}
