import { existsSync } from "node:fs";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";

export type Value = Readonly<Record<string, unknown>>;

/** Makes changes to a file: all of them, on disk on return, or none. */
export async function changeAtomically(file: SqliteFile, change: () => Promise<unknown>): Promise<void> {
  file.execute("begin");
  try {
    await change();
    file.execute("commit");
  } catch (error) {
    file.execute("rollback");
    throw error;
  }
}

export type Entry = readonly [key: string, value: Value];

/** The key of what is recorded about the service as a whole. */
export const noteKey = "";

/** What the service held before a run changed it; stored as long as the run. */
export class BeforeStore implements Disposable {
  readonly #file: SqliteFile;

  constructor(path: string) {
    this.#file = new SqliteFile(path);
    this.#file.execute("create table if not exists before (key text primary key, value text) without rowid");
    this.#file.execute("create table if not exists ended (why_not text)");
    this.#file.execute("create temporary table wanted (key text primary key) without rowid");
  }

  /** Opens the record of a run; returns undefined if the run has no record. */
  static find(path: string): BeforeStore | undefined {
    return existsSync(path) ? new BeforeStore(path) : undefined;
  }

  /** Whether recording finished, or why it failed; undefined if the run ended before that. */
  get ended(): { readonly whyNot: string | undefined } | undefined {
    const [row] = this.#file.all("select why_not from ended");
    return row && { whyNot: (row["why_not"] as string | null) ?? undefined };
  }

  /** Stores what `read` adds: all of it, on disk on return, or nothing. */
  async fill(read: () => Promise<void>): Promise<void> {
    await changeAtomically(this.#file, async () => {
      await read();
      this.#file.run("insert into ended values (null)");
    });
  }

  /** Records permanently that the previous state is unknown. */
  giveUp(whyNot: string): void {
    this.#file.run("insert into ended values (?)", [whyNot]);
  }

  /** Stores these keys, and the note, if only chosen ones are stored. */
  want(keys: readonly string[]): void {
    this.#file.run("insert or ignore into wanted select value from json_each(?)", [JSON.stringify([noteKey, ...keys])]);
  }

  /** @param isInParts whether the fields of further entries with the same key are added */
  add(entries: readonly Entry[], { isChosen = false, isInParts = false } = {}): void {
    const chosen = isChosen ? "key in (select key from wanted)" : "true";
    this.#file.run(
      `insert into before
       select entry.key, entry.value from (
         select value ->> 0 as key, value ->> 1 as value from json_each(?)) as entry where ${chosen}
       on conflict (key) do update
         set value = ${isInParts ? "json_patch(value, excluded.value)" : "excluded.value"}`,
      [JSON.stringify(entries)],
    );
  }

  get(key: string): Value | undefined {
    const [row] = this.#file.all("select value from before where key = ?", [key]);
    return row && (JSON.parse(String(row["value"])) as Value);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
