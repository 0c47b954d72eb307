import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import { spillPrefix } from "../csv/spill.ts";

/** The keys of the stored records with their counts, in a temporary file on disk. */
export class StoredKeys implements Disposable {
  readonly #folder: string;
  readonly #file: SqliteFile;

  constructor(parentFolder: string) {
    this.#folder = mkdtempSync(join(parentFolder, spillPrefix));
    this.#file = new SqliteFile(join(this.#folder, "held.db"));
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute(
      "create table held (key text primary key, units integer not null) without rowid; begin",
    );
  }

  /** Adds a page of keys; a repeated key is counted again. */
  add(keys: readonly string[]): void {
    this.#file.run(
      `insert into held select value, 1 from json_each(?) where true
       on conflict (key) do update set units = units + 1`,
      [JSON.stringify(keys)],
    );
  }

  unitsOf(key: string): number {
    return Number(this.#file.all("select units from held where key = ?", [key])[0]?.["units"] ?? 0);
  }

  clear(): void {
    this.#file.execute("delete from held");
  }

  [Symbol.dispose](): void {
    this.#file.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
