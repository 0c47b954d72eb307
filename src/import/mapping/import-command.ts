import type { RecordKind } from "../kind.ts";
import type { ImportOptions } from "../options.ts";
import type { HeaderFile } from "./names.ts";

/**
 * The command that imports a file as this kind.
 * @param file as written in a shell
 */
export function importCommandOf(
  { name, fields, importCommand }: Pick<RecordKind, "name" | "fields" | "importCommand">,
  file: string,
): string {
  const needed = new Set(fields.flatMap(({ required, flag }) => (required ? (flag ?? []) : [])));
  const required = Object.entries(importCommand.flags ?? {}).filter(([flag]) => needed.has(flag));
  const flags = required.map(([flag, { value }]) => ` --${flag} ${value ?? ""}`).join("");
  return `starpost ${name} import ${file}${flags}`;
}

/** The argument for a file, with the flag that its header needs. */
export function quoteFile(
  { argument }: Pick<HeaderFile, "argument">,
  { headerRow }: Pick<ImportOptions, "headerRow">,
): string {
  return `${quoteForShell(argument)}${headerRow === undefined ? "" : ` --header-row ${headerRow}`}`;
}

export function quoteForShell(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
