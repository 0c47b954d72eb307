import { rmSync } from "node:fs";
import { DiskMap } from "../../storage/sqlite/disk-map.ts";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";

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
    this.#attempt.execute("pragma journal_mode = off; pragma synchronous = off");
    this.#attempt.execute("create table seen (key text primary key, line integer) without rowid; begin");
    this.#attempt.execute("create table held (key text primary key) without rowid");
    this.#hasExisting = this.#file.all("select 1 from existing limit 1").length > 0;
  }

  get isLoaded(): boolean {
    return this.#file.all("select 1 from loaded").length > 0;
  }

  /** Stores what the service held before anything was sent; on disk on return. */
  load(keys: readonly string[], nowMs: number): void {
    this.#file.execute("pragma synchronous = full; begin");
    for (const key of keys) this.#file.run("insert or ignore into existing values (?)", [key]);
    this.#file.run("insert into loaded values (?)", [nowMs]);
    this.#file.execute("commit");
    this.#hasExisting ||= keys.length > 0;
  }

  /** Stores what the service holds when this attempt resumes the run. */
  loadHeld(keys: readonly string[]): void {
    this.#hasHeld ||= keys.length > 0;
    for (const key of keys) this.#attempt.run("insert or ignore into held values (?)", [key]);
  }

  /** Whether the service held a key when this attempt resumed the run; false in the first attempt. */
  isHeld(key: string): boolean {
    return this.#hasHeld && this.#attempt.all("select 1 from held where key = ?", [key]).length > 0;
  }

  isExisting(key: string): boolean {
    return this.#hasExisting && this.#file.all("select 1 from existing where key = ?", [key]).length > 0;
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
