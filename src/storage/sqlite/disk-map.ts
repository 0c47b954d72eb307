import { rmSync } from "node:fs";
import { SqliteFile } from "./sqlite-file.ts";

/** How many entries are in memory: at most twice as many. */
const perGeneration = 25_000;

/**
 * A map with any number of entries, of which those not used recently are on disk. It lasts as long as its process.
 * Values are JSON.
 */
export class DiskMap<V> implements Disposable {
  readonly #path: string;
  #recent = new Map<string, V>();
  #older = new Map<string, V>();
  #file: SqliteFile | undefined;
  #size = 0;

  /** @param path the file, which replaces one that is left behind there */
  constructor(path: string) {
    this.#path = path;
  }

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const found = this.#older.get(key) ?? this.#read(key);
    if (found !== undefined) this.#add(key, found);
    return found;
  }

  set(key: string, value: V): void {
    if (this.get(key) === undefined) this.#size++;
    this.#add(key, value);
  }

  #add(key: string, value: V): void {
    // A key is often part of a file's block, which would stay in memory.
    this.#recent.set(Buffer.from(key).toString(), value);
    if (this.#recent.size >= perGeneration) this.#moveOlder();
  }

  #read(key: string): V | undefined {
    const [row] = this.#file?.all("select value from entries where key = ?", [key]) ?? [];
    return row && (JSON.parse(String(row["value"])) as V);
  }

  #moveOlder(): void {
    this.#file ??= this.#create();
    for (const [key, value] of this.#older) {
      if (this.#recent.has(key)) continue;
      this.#file.run("insert or replace into entries values (?, ?)", [key, JSON.stringify(value)]);
    }
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  #create(): SqliteFile {
    rmSync(this.#path, { force: true });
    const file = new SqliteFile(this.#path);
    file.execute("pragma journal_mode = off; pragma synchronous = off");
    file.execute("create table entries (key text primary key, value text) without rowid; begin");
    return file;
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    if (this.#file) rmSync(this.#path, { force: true });
  }
}
