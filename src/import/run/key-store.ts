import { rmSync } from "node:fs";
import { DiskMap } from "../../storage/sqlite/disk-map.ts";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import type { Item } from "../item.ts";
import type { Values } from "../verify/comparable.ts";

/** A record that the service holds. Only one that can be changed has an ID. */
export interface ExistingRecord {
  readonly key: string;
  readonly id?: number;
  /** What it has in common with its later versions. */
  readonly versionKey?: string | undefined;
  readonly values?: Values;
}

type Pages = AsyncIterable<readonly ExistingRecord[]> | Iterable<readonly ExistingRecord[]>;

/** The record that an item repeats, or of which it is a later version. */
export interface FoundRecord {
  readonly id: number | undefined;
  /** Undefined for another version. */
  readonly values: Values | undefined;
}

/**
 * Keys on disk, for calls that cannot be repeated: those that the service held before the run, kept for its resumes,
 * and those that this attempt has seen.
 */
export class KeyStore implements Disposable {
  readonly #file: SqliteFile;
  /** A separate file, since it is temporary: damage from a power failure must not affect the other. */
  readonly #attempt: SqliteFile;
  /** Whether there are any keys of either kind, because most runs have none, and every row is looked up. */
  #hasExisting: boolean;
  #hasHeld = false;
  /** How often this attempt has seen names. */
  readonly #counted: DiskMap<number>;

  constructor(path: string) {
    this.#file = new SqliteFile(path);
    this.#counted = new DiskMap(`${path}-counted`);
    rmSync(`${path}-met`, { force: true });
    this.#attempt = new SqliteFile(`${path}-met`);
    this.#file.execute("create table if not exists existing (key text primary key) without rowid");
    this.#file.execute("create table if not exists loaded (at integer)");
    this.#file.execute(
      "create table if not exists records (key text primary key, id integer, version text, vals text) without rowid;" +
        "create index if not exists records_by_version on records (version) where version is not null",
    );
    this.#attempt.execute("pragma journal_mode = off; pragma synchronous = off");
    this.#attempt.execute("create table seen (key text primary key, line integer) without rowid; begin");
    this.#attempt.execute("create table held (key text primary key) without rowid");
    this.#attempt.execute("create table met (version text, key text); create index met_by_version on met (version)");
    this.#hasExisting = this.#file.all("select 1 from existing limit 1").length > 0;
  }

  get isLoaded(): boolean {
    return this.#file.all("select 1 from loaded").length > 0;
  }

  /** Stores what the service held before anything was sent; on disk on return. */
  async load(pages: Pages, nowMs: number): Promise<void> {
    this.#file.execute("pragma synchronous = full; begin");
    for await (const page of pages) {
      for (const { key, id, versionKey = null, values = {} } of page) {
        this.#file.run("insert or ignore into existing values (?)", [key]);
        if (id === undefined) continue;
        const record = [key, id, versionKey, JSON.stringify(values)];
        this.#file.run("insert or ignore into records values (?, ?, ?, ?)", record);
      }
      this.#hasExisting ||= page.length > 0;
    }
    this.#file.run("insert into loaded values (?)", [nowMs]);
    this.#file.execute("commit");
  }

  /** Stores what the service holds when this attempt resumes the run. */
  async loadHeld(pages: Pages): Promise<void> {
    for await (const page of pages) {
      this.#hasHeld ||= page.length > 0;
      for (const { key } of page) this.#attempt.run("insert or ignore into held values (?)", [key]);
    }
  }

  /** Whether the service held a key when this attempt resumed the run; false in the first attempt. */
  isHeld(key: string): boolean {
    return this.#hasHeld && this.#attempt.all("select 1 from held where key = ?", [key]).length > 0;
  }

  isExisting(key: string): boolean {
    return this.#hasExisting && this.#file.all("select 1 from existing where key = ?", [key]).length > 0;
  }

  /** Whether the service held records of which items may be later versions. */
  get hasVersions(): boolean {
    return this.#file.all("select 1 from records where version is not null limit 1").length > 0;
  }

  /** Notes an item of the files, so that `find` knows which stored records are in the files as they are. */
  meet(item: Item): void {
    const { versionKey = "" } = item;
    if (this.#file.all("select 1 from records where version = ? limit 1", [versionKey]).length === 0) return;
    this.#attempt.run("insert into met values (?, ?)", [versionKey, this.#findKey(item) ?? null]);
  }

  /**
   * Finds the record that the service held before the run and that an item repeats, or of which it is a later version.
   * Assumed: it is one if the files have no other new version, and the service has no other record that they lack.
   */
  find(item: Item): FoundRecord | undefined {
    if (!this.#hasExisting || item.doubleKeys === undefined) return undefined;
    const key = this.#findKey(item);
    if (key !== undefined) {
      const [found] = this.#file.all("select id, vals from records where key = ?", [key]);
      return { id: found && Number(found["id"]), values: found ? (JSON.parse(String(found["vals"])) as Values) : {} };
    }
    const met = this.#attempt.all("select key from met where version = ?", [item.versionKey ?? null]);
    const isOnly = met.filter((one) => one["key"] === null).length === 1;
    if (!isOnly) return undefined;
    const stored = this.#file.all("select key, id from records where version = ?", [item.versionKey ?? null]);
    const repeated = new Set(met.map((one) => one["key"]));
    const [other, ...more] = stored.filter((one) => !repeated.has(one["key"]));
    return other && more.length === 0 ? { id: Number(other["id"]), values: undefined } : undefined;
  }

  #findKey({ doubleKeys = [] }: Item): string | undefined {
    return doubleKeys.find((key) => this.isExisting(key));
  }

  /** @returns the line on which this attempt first saw the key, or undefined */
  addKey(key: string, line: number): number | undefined {
    const { changes } = this.#attempt.run("insert or ignore into seen values (?, ?)", [key, line]);
    if (changes > 0n) return undefined;
    return Number(this.#attempt.all("select line from seen where key = ?", [key])[0]?.["line"]);
  }

  /** @returns how often this attempt has seen the name, this time included */
  count(name: string): number {
    const times = (this.#counted.get(name) ?? 0) + 1;
    this.#counted.set(name, times);
    return times;
  }

  [Symbol.dispose](): void {
    this.#attempt.close();
    this.#counted[Symbol.dispose]();
    this.#file.close();
  }
}
