import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import { workFolderPrefix } from "../csv/rows-on-disk.ts";
import type { SourceRow } from "../item.ts";
import type { Values } from "./comparable.ts";
import type { StoredRecord } from "./stored-records.ts";

/** What the service holds under a key. */
export interface Held {
  readonly units: number;
  /** The values of each unit, or of the record. */
  readonly values: readonly Values[];
}

/** The number of records to remember; about 5 MB. */
const maxRemembered = 5_000;

const nothing: Held = { units: 0, values: [] };

/** A field of a stored record. */
export interface StoredField {
  readonly key: string;
  readonly field: string;
}

/**
 * The stored records, counted by key, with their values, in a temporary file on disk; and the fields that differ from
 * the row that wrote them last.
 */
export class StoredKeys implements Disposable {
  readonly #folder: string;
  readonly #file: SqliteFile;
  /** Records without units that were added or found lately, because many rows name the same product. */
  readonly #recent = new Map<string, { readonly vals: string; readonly held: Held }>();
  #different = 0;

  constructor(parentFolder: string) {
    this.#folder = mkdtempSync(join(parentFolder, workFolderPrefix));
    this.#file = new SqliteFile(join(this.#folder, "held.db"));
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute(`
      create table held (key text primary key, units integer not null, vals text not null) without rowid;
      create table different (key text, field text, file integer, line integer,
        primary key (key, field)) without rowid;
      begin`);
  }

  /** Adds a page of records. A repeated key counts as a further unit, or replaces a record without units. */
  add(records: readonly StoredRecord[]): void {
    const rows: { readonly key: string; readonly units: number; readonly vals: string }[] = [];
    for (const { key, values = {}, isShared = false } of records) {
      const vals = JSON.stringify(values);
      if (isShared && this.#recent.get(key)?.vals === vals) continue;
      if (isShared) this.#remember(key, { vals, held: { units: 0, values: [values] } });
      rows.push({ key, units: isShared ? 0 : 1, vals });
    }
    this.#file.run(
      `insert into held select value ->> 'key', value ->> 'units', value ->> 'vals' from json_each(?) where true
       on conflict (key) do update set units = units + excluded.units,
         vals = iif(excluded.units = 0, excluded.vals, vals || char(10) || excluded.vals)`,
      [JSON.stringify(rows)],
    );
  }

  find(key: string): Held {
    const recent = this.#recent.get(key);
    if (recent) return recent.held;
    const [row] = this.#file.all("select units, vals from held where key = ?", [key]);
    if (!row) return nothing;
    const [vals, units] = [String(row["vals"]), Number(row["units"])];
    const held = { units, values: vals.split("\n").map((line) => JSON.parse(line) as Values) };
    if (units === 0) this.#remember(key, { vals, held });
    return held;
  }

  #remember(key: string, recent: { readonly vals: string; readonly held: Held }): void {
    if (this.#recent.size >= maxRemembered) this.#recent.clear();
    this.#recent.set(key, recent);
  }

  /** How many fields differ from the row that wrote them last. */
  get different(): number {
    return this.#different;
  }

  /** Records that the field differs from this row, which replaces earlier rows: the last one wins. */
  markDifferent({ key, field }: StoredField, { file, line }: SourceRow): void {
    this.markSame({ key, field });
    this.#file.run("insert into different values (?, ?, ?, ?)", [key, field, file, line]);
    this.#different++;
  }

  /** Records that the field has the value of a later row. */
  markSame({ key, field }: StoredField): void {
    if (this.#different === 0) return;
    this.#different -= Number(
      this.#file.run("delete from different where key = ? and field = ?", [key, field]).changes,
    );
  }

  /** Whether a field differs from this row, and no later row has written it. */
  isDifferent({ key, field }: StoredField, { file, line }: SourceRow): boolean {
    if (this.#different === 0) return false;
    const sql = "select 1 from different where key = ? and field = ? and file = ? and line = ?";
    return this.#file.all(sql, [key, field, file, line]).length > 0;
  }

  clear(): void {
    this.#file.execute("delete from held");
    this.#recent.clear();
    this.clearDifferences();
  }

  clearDifferences(): void {
    this.#file.execute("delete from different");
    this.#different = 0;
  }

  [Symbol.dispose](): void {
    this.#file.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
