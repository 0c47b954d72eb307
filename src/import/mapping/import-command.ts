import type { RecordKind } from "../kind.ts";

/**
 * The command that imports a file as this kind.
 * @param file as written in a shell
 */
export function importCommandOf(
  { name, importCommand }: Pick<RecordKind, "name" | "importCommand">,
  file: string,
): string {
  const required = Object.entries(importCommand.flags ?? {}).filter(([, flag]) => flag.isRequired);
  const flags = required.map(([flag, { value }]) => ` --${flag} ${value ?? ""}`).join("");
  return `starpost ${name} import ${file}${flags}`;
}

export function quoteForShell(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
