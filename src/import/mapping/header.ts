import { readMap, readSet, type MappedColumns, readProductIdSource, suggestProductIdColumns } from "./header-flags.ts";
import { type ImportError, usageError } from "../import-error.ts";
import type { FieldSpec, ImportBehavior } from "../kind.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import { chooseLayout, findDateOrder, findIgnored } from "../layouts/choose-layout.ts";
import type { DateOrder, FieldSource, Layout } from "../layouts/layout.ts";
import { RowFields } from "../layouts/row-fields.ts";
import { namesInPattern, readUrlPattern, toStorePattern } from "../layouts/url-pattern.ts";
import { dateOrders } from "../layouts/dates.ts";
import type { DateFormat, ImportOptions } from "../options.ts";
import { type HeaderFile, normalizeName, isRejectColumn } from "./names.ts";
import { requireFields } from "./missing-columns.ts";
import { rejectOtherKind } from "./other-kind.ts";

/** Which column holds which field, and which columns hold none. */
export interface ColumnMap {
  readonly columnOf: ReadonlyMap<string, number>;
  /** The names of the columns that are not read. */
  readonly ignored: readonly string[];
  /** The layout of the file; undefined if its columns are native. */
  readonly layout: Layout | undefined;
  /** Reads the fields, if a field is more than a column. */
  readonly fields: RowFields | undefined;
  /** Fields whose leading and trailing whitespace is part of the value. */
  readonly exact: ReadonlySet<string>;
  /** The order of day, month, and year, if dates depend on it. */
  readonly dateOrder: DateOrder | undefined;
  /** The columns of `--product-id-from`, in order; empty without the flag. */
  readonly productIdColumns: readonly string[];
  /** The error for products without a stored URL, if nothing in the file provides one. */
  readonly withoutUrl: ImportError | undefined;
  /** What to do about rows without a value in a required field. */
  readonly missingHints: Readonly<Record<string, string>>;
}

type HeaderOptions = Pick<
  ImportOptions,
  | "map"
  | "mapping"
  | "force"
  | "set"
  | "layout"
  | "productUrl"
  | "storeUrl"
  | "productIdFrom"
  | "dateFormat"
  | "delimiter"
  | "headerRow"
  | "dryRun"
>;

/** What a header is matched against. */
export interface HeaderReading {
  readonly kind: ImportKind;
  readonly behavior: Pick<ImportBehavior, "fields" | "urlField" | "dateField" | "suppliedFields" | "impliedFields">;
  readonly options: HeaderOptions;
  /** Whether a file that looks like another kind is refused; the files of a recorded run have been checked. */
  readonly isNew?: boolean | undefined;
}

/** What names alone say about a header. */
interface NamedColumns {
  readonly columnOf: ReadonlyMap<string, number>;
  readonly unknown: readonly string[];
}

/**
 * Finds the column of each field.
 * @throws ImportError `usage` if a column is missing or duplicated, or a flag names an unknown field or column
 */
export function matchHeader(
  file: HeaderFile,
  { kind, behavior, options, isNew }: HeaderReading,
  kinds: ImportKinds,
): ColumnMap {
  const { given, header } = file;
  const { fields, suppliedFields } = behavior;
  const layout = chooseLayout(header, kind, kinds.all, options.layout);
  const mapped = readMap(given, header, fields, options.map);
  const set = readSet(options.set ?? {}, fields);
  const url = readUrl(file, behavior, options, layout);
  const translated = layout && Object.keys(layout.fields).length > 0 ? layout : undefined;
  const named = translated ? nameOwn(header, fields, translated, mapped) : nameColumns(given, header, fields, mapped);
  const { dateField } = behavior;
  const { dateFormat } = options;
  const dateOrder = readDateOrder(file, named, { layout: translated, mapped }, { dateField, dateFormat });
  const productId = readProductIdSource(file, { kind, layout: translated, mapped }, options);
  const createFields = (implied: Readonly<Record<string, string>>) =>
    new RowFields(header, {
      layout: translated,
      mapped: new Map([...mapped.byColumn].map(([column, field]) => [field, column])),
      named: named.columnOf,
      productId,
      set,
      supplied: { ...implied, ...suppliedFields },
      url,
      dateField,
      dateOrder,
    });
  const ownFields = translated || set.size > 0 || url || productId || dateOrder ? createFields({}) : undefined;
  const columnOf = (translated ?? productId) && ownFields ? columnsOf(fields, ownFields) : named.columnOf;
  const constants = Object.keys(translated?.constants ?? {});
  const supplied = new Set([...set.keys(), ...constants, ...(url ? [url.field] : [])]);
  const withoutUrl = requireFields(file, { behavior, kind, layout, options, columnOf, supplied }, kinds);
  rejectOtherKind(file, { kind, options, isNew }, kinds);
  const implied = readImpliedFields(file, behavior, columnOf);
  const productIdColumns = (productId?.from ?? []).map((some) => [some].flat().join(" "));
  return {
    columnOf,
    ignored: findIgnoredColumns(header, named, { layout: translated, mapped, productId, url }),
    layout,
    fields: implied ? createFields(implied) : ownFields,
    exact: findExactColumns(kind, header),
    dateOrder,
    productIdColumns,
    withoutUrl,
    missingHints: {
      ...kind.missingHints,
      ...suggestProductIdColumns(header, { kind, layout: translated, mapped }, options),
    },
  };
}

function readUrl(
  { given, header }: HeaderFile,
  { fields, urlField: field }: HeaderReading["behavior"],
  { productUrl, storeUrl }: HeaderOptions,
  layout: Layout | undefined,
) {
  const pattern = productUrl ?? (storeUrl === undefined ? undefined : toStorePattern(storeUrl, layout?.storePath));
  if (pattern === undefined || field === undefined) return undefined;
  return { field, make: readUrlPattern(given, pattern, field, fields, header), names: namesInPattern(pattern) };
}

/** Assumed: a file with exactly the columns of an export, in the same order, is an export. */
function findExactColumns({ columns, textColumns }: ImportKind, header: readonly string[]): ReadonlySet<string> {
  const own = header.filter((name) => !isRejectColumn(name));
  return new Set(columns.length === own.length && columns.every((name, at) => name === own[at]) ? textColumns : []);
}

/** What the columns of a file imply for all of its rows; undefined if nothing. */
function readImpliedFields(
  { given, header, valuesOf }: HeaderFile,
  { impliedFields }: HeaderReading["behavior"],
  columnOf: ReadonlyMap<string, number>,
): Readonly<Record<string, string>> | undefined {
  if (!impliedFields) return undefined;
  const columns = header.map((name, at) => ({
    name,
    values: { [Symbol.iterator]: () => valuesOf(at)[Symbol.iterator]() },
  }));
  const implied = impliedFields({ given, columns, columnOf: (field) => columns[columnOf.get(field) ?? -1] });
  return Object.keys(implied).length > 0 ? implied : undefined;
}

/** Columns by native names and their aliases. */
function nameColumns(
  file: string,
  header: readonly string[],
  fields: readonly FieldSpec[],
  mapped: MappedColumns,
): NamedColumns {
  const fieldByName = new Map<string, string>();
  for (const { name, aliases = [], isMappedOnly } of fields) {
    if (isMappedOnly) continue;
    for (const known of [name, ...aliases]) fieldByName.set(normalizeName(known), name);
  }
  const columnOf = new Map<string, number>();
  const unknown: string[] = [];
  for (const [column, name] of header.entries()) {
    if (isRejectColumn(name)) continue;
    const field = mapped.byColumn.get(column) ?? fieldByName.get(normalizeName(name));
    if (field === undefined || (mapped.fields.has(field) && !mapped.byColumn.has(column))) {
      if (name !== "") unknown.push(name);
      continue;
    }
    const before = columnOf.get(field);
    if (before !== undefined) {
      if (header[before] === name) {
        throw usageError(`${file}: two columns are named '${name}'`, "rename or remove one of them");
      }
      throw usageError(
        `${file}: both '${header[before]}' and '${name}' are columns for ${field}`,
        `remove one of them, or select one: --map ${field}='${header[before]}'`,
      );
    }
    columnOf.set(field, column);
  }
  return { columnOf, unknown };
}

/** What reads columns, apart from their names. */
interface ColumnReaders {
  readonly layout: Layout | undefined;
  readonly mapped: MappedColumns;
  readonly productId: FieldSource | undefined;
  readonly url: { readonly names: readonly string[] } | undefined;
}

/** The columns that nothing reads: neither a field, nor the layout, nor a flag. */
function findIgnoredColumns(
  header: readonly string[],
  { columnOf, unknown }: NamedColumns,
  { layout, mapped, productId, url }: ColumnReaders,
): string[] {
  const read = [...(productId?.from ?? []).flat(), ...(url?.names ?? [])];
  const held = [...columnOf.values(), ...mapped.byColumn.keys()].map((column) => header[column] ?? "");
  const used = new Set([...read, ...(layout ? held : [])].map(normalizeName));
  return (layout ? findIgnored(header, layout) : unknown).filter((name) => !used.has(normalizeName(name)));
}

/** Columns with native names that a person added to a file of another layout. */
function nameOwn(
  header: readonly string[],
  fields: readonly FieldSpec[],
  layout: Layout,
  mapped: MappedColumns,
): NamedColumns {
  const columnOf = new Map<string, number>();
  for (const { name } of fields) {
    if (layout.fields[name] || mapped.fields.has(name)) continue;
    const at = header.findIndex((column) => normalizeName(column) === normalizeName(name));
    if (at >= 0) columnOf.set(name, at);
  }
  return { columnOf, unknown: [] };
}

function columnsOf(fields: readonly FieldSpec[], rowFields: RowFields): Map<string, number> {
  const columnOf = new Map<string, number>();
  for (const { name } of fields) {
    const at = rowFields.columnOf(name);
    if (at !== undefined) columnOf.set(name, at);
  }
  return columnOf;
}

/** The order of day, month, and year: as a flag or the layout states it, or as the column's dates show it. */
function readDateOrder(
  { given, header, valuesOf }: HeaderFile,
  { columnOf }: Pick<NamedColumns, "columnOf">,
  { layout, mapped }: { readonly layout: Layout | undefined; readonly mapped: MappedColumns },
  { dateField, dateFormat }: { readonly dateField: string | undefined; readonly dateFormat: DateFormat | undefined },
): DateOrder | undefined {
  if (dateField === undefined) return undefined;
  if (dateFormat !== undefined) return dateOrders[dateFormat];
  if (layout?.dateOrder !== undefined && layout.dateOrder !== "found") return layout.dateOrder;
  const mappedAt = [...mapped.byColumn].find(([, name]) => name === dateField)?.[0];
  const names = new Set((layout?.fields[dateField]?.from ?? []).flat().map(normalizeName));
  const layoutAt = header.findIndex((name) => names.has(normalizeName(name)));
  const column = mappedAt ?? (layoutAt < 0 ? columnOf.get(dateField) : layoutAt);
  if (column === undefined) return undefined;
  const values = { [Symbol.iterator]: () => valuesOf(column)[Symbol.iterator]() };
  return findDateOrder(given, header[column] ?? "", values);
}
