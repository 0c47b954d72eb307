import { readMap, readSet, type MappedColumns } from "./header-flags.ts";
import type { FieldSpec, Importing } from "../kind.ts";
import { kinds } from "../../records/index.ts";
import { chooseLayout } from "../layouts/choose-layout.ts";
import { findDateOrder } from "../layouts/date-order.ts";
import type { DateOrder, Layout } from "../layouts/layout.ts";
import { normaliseName as normalise } from "../../records/layouts.ts";
import { findExactColumns } from "./native-columns.ts";
import { RowFields } from "../layouts/row-fields.ts";
import { readUrlPattern } from "../layouts/url-pattern.ts";
import { refuseMissing } from "./missing-columns.ts";
import { ImportError, type ImportOptions, type KindName } from "../types.ts";

/** The columns that a reject file has beyond the file's own; given back as input they are passed over. */
export const rejectColumns = ["_line", "_column", "_code", "_reason"] as const;

/** Which column holds which field, and which columns hold none. */
export interface ColumnMap {
  readonly columnOf: ReadonlyMap<string, number>;
  readonly unknown: readonly string[];
  /** The layout that the file is of; nothing where its columns are ours. */
  readonly layout: Layout | undefined;
  /** What reads the fields where a look at a field's column is not enough. */
  readonly fields: RowFields | undefined;
  /** Fields whose blanks at both ends are part of the text. */
  readonly exact: ReadonlySet<string>;
  /** The order of day and month, where the layout asks for it and the file's dates tell. */
  readonly dateOrder: DateOrder | undefined;
}

/** A file's header, and what its rows may be asked for. */
export interface HeaderFile {
  readonly given: string;
  readonly header: readonly string[];
  /** Every value of a column, for what only the rows can tell. */
  readonly valuesOf: (column: number) => Iterable<string>;
}

type HeaderOptions = Pick<ImportOptions, "map" | "set" | "layout" | "productUrl" | "platform">;

/** What is known of a header by names alone. */
interface NamedColumns {
  readonly columnOf: ReadonlyMap<string, number>;
  readonly unknown: readonly string[];
}

/**
 * Finds the column of each field.
 * @throws ImportError `usage` when a column is missing or doubled, or a flag names what is not there
 */
export function matchHeader(
  file: HeaderFile,
  importing: Pick<Importing, "fields" | "urlField">,
  kind: KindName,
  options: HeaderOptions,
): ColumnMap {
  const { given, header } = file;
  const { fields, urlField } = importing;
  const layout = chooseLayout(header, kind, requiredOf(kind), options.layout);
  const mapped = readMap(given, header, fields, options.map);
  const set = readSet(options.set ?? {}, fields);
  const url = readUrl(file, importing, options);
  const turned = layout && Object.keys(layout.fields).length > 0 ? layout : undefined;
  const named = turned ? nameOwn(header, fields, turned, mapped) : nameColumns(given, header, fields, mapped);
  const dateOrder = turned && readDateOrder(file, turned, mapped);
  const rowFields =
    turned || set.size > 0 || url
      ? new RowFields(header, {
          layout: turned,
          mapped: new Map([...mapped.byColumn].map(([column, field]) => [field, column])),
          named: named.columnOf,
          set,
          platform: options.platform,
          url,
          dateOrder,
        })
      : undefined;
  const columnOf = turned && rowFields ? columnsOf(fields, rowFields) : named.columnOf;
  const supplied = new Set([...set.keys(), ...(url ? [url.field] : [])]);
  refuseMissing(file, { fields, urlField, kind, layout, columnOf, supplied, unknown: named.unknown });
  const own = header.filter((name) => !(rejectColumns as readonly string[]).includes(name));
  const exact = findExactColumns(kind, own);
  return { columnOf, unknown: turned ? [] : named.unknown, layout, fields: rowFields, exact, dateOrder };
}

/** The names without which a file of a kind is not of our own columns. */
function requiredOf(kind: KindName): string[] {
  const options: ImportOptions = { dryRun: true, map: {}, action: "map_review" };
  const { fields } = kinds[kind].prepare(options);
  return fields.filter(({ required }) => required).map(({ name }) => name);
}

function readUrl(
  { given, header }: HeaderFile,
  { fields, urlField }: Pick<Importing, "fields" | "urlField">,
  { productUrl }: HeaderOptions,
) {
  if (productUrl === undefined || urlField === undefined) return undefined;
  return { field: urlField, make: readUrlPattern(given, productUrl, urlField, fields, header) };
}

/** Columns by our own names and their aliases. */
function nameColumns(
  file: string,
  header: readonly string[],
  fields: readonly FieldSpec[],
  mapped: MappedColumns,
): NamedColumns {
  const fieldByName = new Map<string, string>();
  for (const { name, aliases = [], isMappedOnly } of fields) {
    if (isMappedOnly) continue;
    for (const known of [name, ...aliases]) fieldByName.set(normalise(known), name);
  }
  const columnOf = new Map<string, number>();
  const unknown: string[] = [];
  for (const [column, name] of header.entries()) {
    if ((rejectColumns as readonly string[]).includes(name)) continue;
    const field = mapped.byColumn.get(column) ?? fieldByName.get(normalise(name));
    if (field === undefined || (mapped.fields.has(field) && !mapped.byColumn.has(column))) {
      if (name !== "") unknown.push(name);
      continue;
    }
    const before = columnOf.get(field);
    if (before !== undefined) {
      throw new ImportError(
        "usage",
        `${file}: the columns '${header[before]}' and '${name}' are both ${field}`,
        {
          hint: `keep one of them, or say which: --map ${field}='${name}'`,
        },
      );
    }
    columnOf.set(field, column);
  }
  return { columnOf, unknown };
}

/** Columns that a person added to a shop's file under our own names. */
function nameOwn(
  header: readonly string[],
  fields: readonly FieldSpec[],
  layout: Layout,
  mapped: MappedColumns,
): NamedColumns {
  const columnOf = new Map<string, number>();
  for (const { name } of fields) {
    if (layout.fields[name] || mapped.fields.has(name)) continue;
    const at = header.findIndex((column) => normalise(column) === normalise(name));
    if (at >= 0) columnOf.set(name, at);
  }
  return { columnOf, unknown: header.filter((name) => name !== "") };
}

function columnsOf(fields: readonly FieldSpec[], rowFields: RowFields): Map<string, number> {
  const columnOf = new Map<string, number>();
  for (const { name } of fields) {
    const at = rowFields.columnOf(name);
    if (at !== undefined) columnOf.set(name, at);
  }
  return columnOf;
}

function readDateOrder(
  { given, header, valuesOf }: HeaderFile,
  layout: Layout,
  mapped: MappedColumns,
): DateOrder | undefined {
  if (layout.dateOrder !== "found") return layout.dateOrder;
  const field = "order_date";
  const mappedAt = [...mapped.byColumn].find(([, name]) => name === field)?.[0];
  const names = new Set((layout.fields[field]?.from ?? []).flat().map(normalise));
  const column = mappedAt ?? header.findIndex((name) => names.has(normalise(name)));
  return column < 0 ? undefined : findDateOrder(given, layout, header[column] ?? "", valuesOf(column));
}
