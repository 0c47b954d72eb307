import { join } from "node:path";
import { SqliteFile, type SqlValue } from "../storage/sqlite/sqlite-file.ts";
import { TemporaryFolder } from "../storage/temporary-folder.ts";

/** A row's values in the order of its fields. */
export type RowValues = readonly (string | number | boolean | null)[];

/** Rows on disk, one per ID, returned in the order of their keys; memory use does not grow with them. */
export class SortedRows implements Disposable {
  readonly #folder = new TemporaryFolder("export");
  readonly #file: SqliteFile;
  readonly #order: string;
  readonly #slots: string;
  count = 0;

  constructor(sortKeys: number) {
    const keys = Array.from({ length: sortKeys }, (_, at) => `key_${at}`);
    this.#order = [...keys, "record"].join(", ");
    this.#slots = ["id", ...keys, "record"].map(() => "?").join(", ");
    this.#file = new SqliteFile(join(this.#folder.path, "rows.db"));
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    // Columns without a type sort numbers as numbers, and text by code point.
    this.#file.execute(`create table rows (id primary key, ${this.#order}) without rowid; begin`);
  }

  /**
   * Stores a row; replaces an earlier one with the same ID.
   * @returns whether its ID is new
   */
  add(id: string | number, sortKeys: readonly (string | number)[], values: RowValues): boolean {
    const record = JSON.stringify(values);
    const isNew = this.#file.all("select 1 from rows where id = ?", [id]).length === 0;
    const row: SqlValue[] = [id, ...sortKeys, record];
    this.#file.run(`insert or replace into rows values (${this.#slots})`, row);
    if (isNew) this.count++;
    return isNew;
  }

  *read(): Generator<RowValues> {
    this.#file.execute("commit");
    for (const { record } of this.#file.iterate(`select record from rows order by ${this.#order}`)) {
      yield JSON.parse(String(record)) as RowValues;
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
    this.#folder[Symbol.dispose]();
  }
}
