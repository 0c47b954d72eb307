import { type ImportError, usageError } from "../import-error.ts";
import { isRejectColumn, normalizeName } from "../mapping/names.ts";
import { dateOrders, ordersOf, readNumberedDate } from "./dates.ts";
import type { DateOrder, Layout } from "./layout.ts";

export interface KindLayouts {
  readonly name: string;
  readonly layouts: readonly Layout[];
}

/** The values of `--layout` that stand for the native columns. */
const nativeNames: ReadonlySet<string> = new Set(["none", "native"]);

/** Adds variants that state the order of day and month, for a layout whose dates may not show it. */
export function withDateOrders(layout: Layout): readonly Layout[] {
  if (layout.dateOrder !== "found") return [layout];
  return [
    layout,
    { ...layout, name: `${layout.name}-dmy`, signatures: [], dateOrder: "day-first" },
    { ...layout, name: `${layout.name}-mdy`, signatures: [], dateOrder: "month-first" },
  ];
}

/**
 * Chooses the layout of a file: the requested one, or else the one that the header matches.
 * Assumed: a header with all required native columns is native, whatever else it resembles, unless it has exactly the
 * columns of a layout, or the layout precedes them.
 * @returns undefined if the columns are native
 * @throws ImportError `usage` if the requested layout does not exist or belongs to another kind
 */
export function chooseLayout(
  header: readonly string[],
  kind: KindLayouts & { readonly fields: readonly { readonly name: string; readonly required?: boolean }[] },
  kinds: readonly KindLayouts[],
  requested: string | undefined,
): Layout | undefined {
  if (requested !== undefined) return findLayout(requested, kind, kinds);
  const names = new Set(header.filter((name) => !isRejectColumn(name)).map(normalizeName));
  const required = kind.fields.filter((field) => field.required === true);
  const isNative = required.every(({ name }) => names.has(normalizeName(name)));
  const isExact = ({ signatures }: Layout) =>
    signatures.some(
      (columns) => columns.length === names.size && columns.every((name) => names.has(normalizeName(name))),
    );
  const canApply = (layout: Layout) => layout.precedesNative === true || isExact(layout);
  return detectLayout(header, isNative ? kind.layouts.filter(canApply) : kind.layouts);
}

/** The layout that a header matches; of several, the one with the most columns. */
export function detectLayout(header: readonly string[], layouts: readonly Layout[]): Layout | undefined {
  const names = new Set(header.map(normalizeName));
  let best: { readonly layout: Layout; readonly columns: number } | undefined;
  for (const layout of layouts) {
    for (const signature of layout.signatures) {
      const isMatch = signature.every((column) => names.has(normalizeName(column)));
      if (isMatch && signature.length > (best?.columns ?? 0)) best = { layout, columns: signature.length };
    }
  }
  return best?.layout;
}

/**
 * The layout that provides the given fields from columns or constants although its signature is incomplete; of several,
 * the one that uses the most columns of the file. The header must have the distinctive columns of a signature: all of
 * them, or at least one with another distinctive column of the layout.
 */
export function findReadableLayout(
  header: readonly string[],
  kind: KindLayouts,
  fields: readonly string[],
  kinds: readonly LayoutOwner[],
): Layout | undefined {
  const names = new Set(header.map(normalizeName));
  const isDistinctive = findDistinctiveColumns(kinds);
  const hasDistinctive = (layout: Layout) => {
    const own = new Set(
      columnsOf(layout)
        .filter(isDistinctive)
        .map(normalizeName)
        .filter((name) => names.has(name)),
    );
    return layout.signatures.some((signature) => {
      const distinctive = signature.filter(isDistinctive).map(normalizeName);
      const found = distinctive.filter((name) => own.has(name));
      return found.length > 0 && (found.length === distinctive.length || own.size > 1);
    });
  };
  const found = kind.layouts
    .filter(hasDistinctive)
    .filter((layout) => fields.every((field) => provides(layout, field, header)))
    .map((layout) => ({ layout, columns: columnsUsed(layout).filter((column) => names.has(column)) }));
  return found.toSorted((a, b) => b.columns.length - a.columns.length)[0]?.layout;
}

type LayoutOwner = KindLayouts & {
  readonly fields: readonly { readonly name: string; readonly aliases?: readonly string[] }[];
};

/** The most layouts that share a distinctive column, as related shop systems do. */
const maxSharing = 2;

/**
 * Which columns distinguish a layout from any list.
 * Assumed: `Name` and `rating` do not, since a distinctive name has more than one word; nor do a field's own name, and a
 * column of several layouts, such as `Order Date`.
 */
function findDistinctiveColumns(kinds: readonly LayoutOwner[]): (column: string) => boolean {
  const own = new Set(
    kinds.flatMap(({ fields }) => fields.flatMap(({ name, aliases = [] }) => [name, ...aliases].map(normalizeName))),
  );
  const counts = new Map<string, number>();
  for (const layout of kinds.flatMap(({ layouts }) => layouts)) {
    // Variants of a layout have no signature.
    if (layout.signatures.length === 0) continue;
    for (const column of new Set(columnsOf(layout).map(normalizeName)))
      counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  const hasWords = (column: string) => /[^\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(column);
  return (column) => {
    const name = normalizeName(column);
    return hasWords(column) && !own.has(name) && (counts.get(name) ?? 0) <= maxSharing;
  };
}

function provides({ constants, fields, lines }: Layout, field: string, header: readonly string[]): boolean {
  const { from } = fields[field] ?? {};
  if (constants?.[field] !== undefined) return true;
  if (from === undefined) return false;
  const names = new Set(from.flat().map(normalizeName));
  return lines?.column(header) !== undefined || header.some((column) => names.has(normalizeName(column)));
}

/** The normalized names of the columns from which a layout reads fields. */
export function columnsUsed({ fields }: Layout): string[] {
  return [...new Set(Object.values(fields).flatMap(({ from }) => from.flat().map(normalizeName)))];
}

/** The names of the columns from which a layout reads fields, and by which it is recognized. */
export function columnsOf({ fields, signatures }: Layout): string[] {
  return [...new Set([...Object.values(fields).flatMap(({ from }) => from.flat()), ...signatures.flat()])];
}

/** The names of the columns of a file that its layout does not read. */
export function findIgnored(header: readonly string[], layout: Layout): string[] {
  const { groups, lines, reads = [] } = layout;
  const ofGroups = groups && "columns" in groups.by ? groups.by.columns : [];
  const read = new Set([...columnsOf(layout), ...ofGroups, ...reads].map(normalizeName));
  const isLine = (name: string) => lines?.column([name]) !== undefined;
  return header.filter(
    (name) => name !== "" && !isRejectColumn(name) && !read.has(normalizeName(name)) && !isLine(name),
  );
}

function findLayout(requested: string, kind: KindLayouts, kinds: readonly KindLayouts[]): Layout | undefined {
  const wanted = requested.toLowerCase();
  if (nativeNames.has(wanted)) return undefined;
  const found = kind.layouts.find(({ name }) => name === wanted || name === `${wanted}-${kind.name}`);
  if (found) return found;
  const owner = kinds.find(({ layouts }) => layouts.some(({ name }) => name === wanted));
  const suffix = `-${kind.name}`;
  const accepted = kind.layouts.map(({ name }) =>
    name.endsWith(suffix) ? `${name.slice(0, -suffix.length)} (or ${name})` : name,
  );
  const problem = owner ? `this is a layout for ${owner.name}, not for ${kind.name}` : "unknown layout";
  throw usageError(
    `invalid value "${requested}" for --layout: ${problem}`,
    `accepted values: ${["native (or none)", ...accepted].join(", ")}`,
    { misnamed: { given: requested, known: ["none", ...kind.layouts.map(({ name }) => name)] } },
  );
}

/** The number of values that show whether a column usually has dates of three numbers. */
const maxSampled = 1_000;

/**
 * Finds the order of day and month in a column: the only one that makes all of its dates of three numbers dates.
 * Assumed: in a column that mostly has other dates, they are mistakes, and their rows are rejected.
 * @returns undefined if no date depends on the order
 * @throws ImportError `usage` if several orders fit, or none: a guess would send emails on wrong days
 */
export function findDateOrder(file: string, column: string, values: Iterable<string>): DateOrder | undefined {
  const sample: string[] = [];
  for (const value of values) {
    if (value !== "") sample.push(value);
    if (sample.length === maxSampled) break;
  }
  const numbered = sample.filter((value) => ordersOf(value).length > 0).length;
  if (numbered === 0 || numbered * 2 < sample.length) return undefined;
  let fitting: readonly DateOrder[] | undefined;
  let ambiguous: string | undefined;
  for (const value of values) {
    const orders = ordersOf(value);
    if (orders.length === 0) continue;
    fitting = (fitting ?? orders).filter((order) => orders.includes(order));
    const problem = `the dates in '${column}' have different orders of day and month, for example ${value}`;
    if (fitting.length === 0) throw askForOrder(`${file}: ${problem}`, orders);
    if (new Set(orders.map((order) => readNumberedDate(value, order))).size > 1) ambiguous ??= value;
  }
  if (!fitting || fitting.length === 1 || ambiguous === undefined) return fitting?.[0];
  const problem = `the dates in '${column}', such as ${ambiguous}, may start with the day or the month`;
  throw askForOrder(`${file}: ${problem}`, fitting);
}

const orderTexts = { dmy: "day first", mdy: "month first", ymd: "year first" } as const;

function askForOrder(problem: string, fitting: readonly DateOrder[]): ImportError {
  const formats = (["dmy", "mdy", "ymd"] as const).filter(
    (format) => format !== "ymd" || fitting.includes(dateOrders[format]),
  );
  const flags = formats.map((format) => `--date-format ${format} for ${orderTexts[format]}`);
  return usageError(problem, `specify the order: ${flags.join(", ")}`);
}
