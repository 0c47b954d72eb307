import type { FieldSpec } from "../kind.ts";
import { isSameName, suggest } from "./names.ts";
import { usageError } from "../import-error.ts";

/** The effect of `--map` on one header. */
export interface MappedColumns {
  readonly byColumn: ReadonlyMap<number, string>;
  readonly fields: ReadonlySet<string>;
}

/** @throws ImportError `usage` if a field or column does not exist */
export function readMap(
  file: string,
  header: readonly string[],
  fields: readonly FieldSpec[],
  map: Readonly<Record<string, string>>,
): MappedColumns {
  const byColumn = new Map<number, string>();
  const names = fields.map(({ name }) => name);
  for (const [field, column] of Object.entries(map)) {
    const refuse = (why: string, hint: string) =>
      usageError(`invalid value "${field}=${column}" for --map: ${why}`, hint);
    const known = names.find((name) => isSameName(name, field));
    if (known === undefined) throw refuse(`unknown field "${field}"`, suggest(field, names));
    const exact = header.indexOf(column);
    const at = exact >= 0 ? exact : header.findIndex((name) => isSameName(name, column));
    if (at < 0) throw refuse(`${file} has no column '${column}'`, suggest(column, header));
    const before = byColumn.get(at);
    if (before !== undefined && before !== known) {
      const hint = "a column can hold only one field; duplicate the column in the file, or remove one of the fields";
      throw refuse(`${before} already uses that column`, hint);
    }
    byColumn.set(at, known);
  }
  return { byColumn, fields: new Set(byColumn.values()) };
}

/**
 * Field to the value for rows without one.
 * @throws ImportError `usage` if a field does not exist
 */
export function readSet(set: Readonly<Record<string, string>>, fields: readonly FieldSpec[]): Map<string, string> {
  const names = fields.map(({ name }) => name);
  return new Map(
    Object.entries(set).map(([field, value]) => {
      const known = names.find((name) => isSameName(name, field));
      if (known !== undefined) return [known, value];
      throw usageError(`invalid value "${field}=${value}" for --set: unknown field "${field}"`, suggest(field, names));
    }),
  );
}
