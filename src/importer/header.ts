import type { FieldSpec } from "./kinds/kind.ts";
import { kinds } from "./kinds/index.ts";
import { ImportError, kindNames, type ImportOptions, type KindName } from "./types.ts";

/** The columns that a reject file has beyond the file's own; given back as input they are passed over. */
export const rejectColumns = ["_line", "_column", "_code", "_reason"] as const;

/** Which column holds which field, and which columns hold none. */
export interface ColumnMap {
  readonly columnOf: ReadonlyMap<string, number>;
  readonly unknown: readonly string[];
}

/** Header names are compared without regard to case, spaces, `_` and `-`. */
function normalise(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/**
 * Finds the column of each field.
 * @throws ImportError `usage` when a column is missing or doubled, or `--map` names what is not there
 */
export function matchHeader(
  file: string,
  header: readonly string[],
  fields: readonly FieldSpec[],
  kind: KindName,
  map: Readonly<Record<string, string>>,
): ColumnMap {
  const fieldByName = new Map<string, string>();
  for (const { name, aliases = [] } of fields) {
    for (const known of [name, ...aliases]) fieldByName.set(normalise(known), name);
  }
  const mapped = readMap(file, header, fields, map);
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
  refuseMissing(file, header, fields, kind, columnOf, unknown);
  return { columnOf, unknown };
}

function readMap(
  file: string,
  header: readonly string[],
  fields: readonly FieldSpec[],
  map: Readonly<Record<string, string>>,
): { readonly byColumn: ReadonlyMap<number, string>; readonly fields: ReadonlySet<string> } {
  const byColumn = new Map<number, string>();
  for (const [field, column] of Object.entries(map)) {
    const known = fields.find(({ name }) => normalise(name) === normalise(field));
    if (!known) {
      throw new ImportError("usage", `--map ${field}=${column}: there is no field ${field}`, {
        hint: suggest(
          field,
          fields.map(({ name }) => name),
        ),
      });
    }
    const exact = header.indexOf(column);
    const at = exact >= 0 ? exact : header.findIndex((name) => normalise(name) === normalise(column));
    if (at < 0) {
      throw new ImportError("usage", `--map ${field}=${column}: ${file} has no column '${column}'`, {
        hint: suggest(column, header),
      });
    }
    byColumn.set(at, known.name);
  }
  return { byColumn, fields: new Set(byColumn.values()) };
}

function refuseMissing(
  file: string,
  header: readonly string[],
  fields: readonly FieldSpec[],
  kind: KindName,
  columnOf: ReadonlyMap<string, number>,
  unknown: readonly string[],
): void {
  const missing = fields
    .filter(({ name, required }) => required && !columnOf.has(name))
    .map(({ name }) => name);
  if (missing.length === 0) return;
  const other = columnOf.size < 2 ? findOtherKind(header, kind) : undefined;
  const nearest = unknown.length > 0 && missing[0] !== undefined ? nearestOf(missing[0], unknown) : undefined;
  const hint = other
    ? `the file looks like ${other}: starpost ${other} import`
    : nearest === undefined
      ? `the first row must name them; it has: ${header.slice(0, 20).join(", ")}`
      : `nearest to ${missing[0]} is '${nearest}': --map ${missing[0]}='${nearest}'`;
  throw new ImportError(
    "usage",
    `${file}: ${missing.length === 1 ? "the column" : "the columns"} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`,
    { hint },
  );
}

/** Another kind of import that has all its columns in this header. */
function findOtherKind(header: readonly string[], kind: KindName): KindName | undefined {
  const names = new Set(header.map(normalise));
  const options: ImportOptions = { dryRun: true, map: {}, action: "map_review" };
  return kindNames.find((name) => {
    if (name === kind) return false;
    const required = kinds[name].prepare(options).fields.filter((field) => field.required);
    return required.every((field) =>
      [field.name, ...(field.aliases ?? [])].some((known) => names.has(normalise(known))),
    );
  });
}

function suggest(wanted: string, among: readonly string[]): string {
  const nearest = nearestOf(wanted, among);
  return nearest === undefined ? `there are: ${among.slice(0, 20).join(", ")}` : `did you mean '${nearest}'?`;
}

/** The name that holds the wanted one, or else with the fewest changed letters, if not more than half of them. */
function nearestOf(wanted: string, among: readonly string[]): string | undefined {
  const target = normalise(wanted);
  const scored = among.map((name) => {
    const isHolding = normalise(name).includes(target);
    return { name, distance: isHolding ? 0 : countChanges(target, normalise(name)) };
  });
  scored.sort((a, b) => a.distance - b.distance);
  const [best] = scored;
  return best && best.distance <= Math.max(target.length, normalise(best.name).length) / 2
    ? best.name
    : undefined;
}

/** Levenshtein distance. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
