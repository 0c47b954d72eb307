import { rmSync } from "node:fs";
import { SqliteFile } from "./sqlite-file.ts";

/** The most entries in memory. */
const maxInMemory = 50_000;

/** How many entries are moved to disk at a time. */
const movedAtOnce = 5_000;

/**
 * A map with any number of entries, of which those that were added or read from disk last are in memory. It lasts as long
 * as its process. Values are JSON.
 */
export class DiskMap<V> implements Disposable {
  readonly #path: string;
  readonly #inMemory = new Map<string, V>();
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
    return this.#inMemory.get(key) ?? (this.#file && this.#restore(key, this.#file));
  }

  set(key: string, value: V): void {
    if (this.get(key) === undefined) this.#size++;
    this.#add(key, value);
  }

  #add(key: string, value: V): void {
    // A key is often part of a file's block, which would stay in memory.
    this.#inMemory.set(Buffer.from(key).toString(), value);
    if (this.#inMemory.size > maxInMemory) this.#moveOldest();
  }

  #restore(key: string, file: SqliteFile): V | undefined {
    const [row] = file.all("select value from entries where key = ?", [key]);
    if (!row) return undefined;
    const value = JSON.parse(String(row["value"])) as V;
    this.#add(key, value);
    return value;
  }

  #moveOldest(): void {
    this.#file ??= this.#create();
    let left = movedAtOnce;
    for (const [key, value] of this.#inMemory) {
      if (left-- === 0) break;
      this.#file.run("insert or replace into entries values (?, ?)", [key, JSON.stringify(value)]);
      this.#inMemory.delete(key);
    }
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
