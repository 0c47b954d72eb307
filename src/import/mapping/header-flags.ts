import type { FieldSpec } from "../kind.ts";
import { isSameName, suggest, type HeaderFile } from "./names.ts";
import { usageError } from "../import-error.ts";
import type { ImportKind } from "../kinds.ts";
import type { FieldSource, Layout } from "../layouts/layout.ts";
import type { ImportOptions } from "../options.ts";

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

interface ColumnsOfFile {
  readonly kind: Pick<ImportKind, "productIdColumns">;
  readonly layout: Layout | undefined;
  readonly mapped: MappedColumns;
}

/**
 * The columns that `--product-id-from` names, in order of preference.
 * @returns undefined without the flag
 * @throws ImportError `usage` if the file has no column for one of the names
 */
export function readProductIdSource(
  { given, header }: Pick<HeaderFile, "given" | "header">,
  file: ColumnsOfFile,
  { productIdFrom }: Pick<ImportOptions, "productIdFrom">,
): FieldSource | undefined {
  if (productIdFrom === undefined) return undefined;
  const known = Object.keys(file.kind.productIdColumns ?? {});
  const refuse = (why: string, hint: string) =>
    usageError(`invalid value "${productIdFrom.join()}" for --product-id-from: ${why}`, hint);
  if (file.mapped.fields.has("product_id")) {
    throw usageError("--product-id-from cannot be used with --map product_id", "remove one of them");
  }
  const from = productIdFrom.flatMap((name) => {
    if (!known.includes(name)) throw refuse(`unknown column "${name}"`, suggest(name, known));
    const columns = findProductIdColumns(name, header, file);
    if (columns.length > 0) return columns;
    const others = known.filter((other) => findProductIdColumns(other, header, file).length > 0);
    const hint = others.length === 0 ? `remove "${name}"` : `columns of this file: ${others.join(", ")}`;
    throw refuse(`${given} has no column for "${name}"`, hint);
  });
  return { from };
}

/** The hint for rows without a product ID: the flag that takes it from further columns of the file. */
export function suggestProductIdColumns(
  header: readonly string[],
  file: ColumnsOfFile,
  { productIdFrom }: Pick<ImportOptions, "productIdFrom">,
): { readonly product_id?: string } {
  const columnsOf = (name: string) => findProductIdColumns(name, header, file).flat();
  const known = Object.keys(file.kind.productIdColumns ?? {}).filter((name) => columnsOf(name).length > 0);
  const used = file.layout?.fields["product_id"]?.from.flat() ?? ["product_id"];
  const own = used.find((column) => header.some((name) => isSameName(name, column)));
  const current = productIdFrom ?? known.filter((name) => columnsOf(name)[0] === own).slice(0, 1);
  const others = known.filter((name) => ["sku", "name"].includes(name) && !current.includes(name));
  if (file.mapped.fields.has("product_id") || current.length === 0 || others.length === 0) return {};
  // A name is rarely a valid ID.
  const fix = others.includes("name") ? " --fix-ids" : "";
  const flag = `--product-id-from ${[...current, ...others].join()}${fix}`;
  return { product_id: `to use ${others.join(" or ")} where it is missing, pass ${flag}` };
}

/** The columns of a file that hold one type of product ID; those of the layout come first. */
export function findProductIdColumns(
  name: string,
  header: readonly string[],
  { kind, layout, mapped }: ColumnsOfFile,
): FieldSource["from"] {
  const names = kind.productIdColumns?.[name] ?? [];
  const chosen = [...mapped.byColumn].find(([, field]) => names.includes(field))?.[0];
  if (chosen !== undefined) return [header[chosen] ?? ""];
  const [field = ""] = names;
  const own = layout?.productIds?.[name] ?? layout?.fields[field]?.from ?? [];
  // Lines in cells have columns that the header lacks.
  const isThere = (column: string) => header.some((other) => isSameName(other, column));
  const found = layout?.lines?.column(header) === undefined ? own.filter((some) => [some].flat().some(isThere)) : own;
  return found.length > 0 ? found : header.filter((column) => names.some((other) => isSameName(other, column)));
}
