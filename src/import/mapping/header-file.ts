/** The columns that a reject file adds; an import ignores them. */
export const rejectColumns = ["_line", "_column", "_code", "_reason"] as const;

/** A file's header, and access to its rows. */
export interface HeaderFile {
  readonly given: string;
  readonly header: readonly string[];
  /** All values of a column, for decisions that the header alone does not allow. */
  readonly valuesOf: (column: number) => Iterable<string>;
}
