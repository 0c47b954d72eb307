import type { FieldSpec } from "../kind.ts";
import { normalizeName, suggest } from "./names.ts";
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
  for (const [field, column] of Object.entries(map)) {
    const known = fields.find(({ name }) => normalizeName(name) === normalizeName(field));
    if (!known) {
      throw usageError(
        `invalid value "${field}=${column}" for --map: unknown field "${field}"`,
        suggest(
          field,
          fields.map(({ name }) => name),
        ),
      );
    }
    const exact = header.indexOf(column);
    const at = exact >= 0 ? exact : header.findIndex((name) => normalizeName(name) === normalizeName(column));
    if (at < 0) {
      throw usageError(
        `invalid value "${field}=${column}" for --map: ${file} has no column '${column}'`,
        suggest(column, header),
      );
    }
    const before = byColumn.get(at);
    if (before !== undefined && before !== known.name) {
      throw usageError(
        `invalid value "${field}=${column}" for --map: ${before} already uses that column`,
        "a column can hold only one field; duplicate the column in the file, or remove one of the fields",
      );
    }
    byColumn.set(at, known.name);
  }
  return { byColumn, fields: new Set(byColumn.values()) };
}

/**
 * Field to the value for rows without one.
 * @throws ImportError `usage` if a field does not exist
 */
export function readSet(
  set: Readonly<Record<string, string>>,
  fields: readonly FieldSpec[],
): Map<string, string> {
  const names = fields.map(({ name }) => name);
  return new Map(
    Object.entries(set).map(([field, value]) => {
      const known = names.find((name) => normalizeName(name) === normalizeName(field));
      if (known !== undefined) return [known, value];
      throw usageError(
        `invalid value "${field}=${value}" for --set: unknown field "${field}"`,
        suggest(field, names),
      );
    }),
  );
}
