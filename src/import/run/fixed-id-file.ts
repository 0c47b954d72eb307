import { rmSync } from "node:fs";
import { stringify } from "csv-stringify/sync";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import type { FixedId } from "../check/valid-id.ts";
import type { SourceRow } from "../item.ts";
import { NewFile } from "./new-file.ts";

const columns = ["original", "fixed", "file", "line"] as const;

/** Pairs held in memory, so that a repeated ID is looked up only once; about 1 MB. */
const maxRemembered = 5_000;

/** Pairs written at a time. */
const pairsAtOnce = 1_000;

interface Pair extends FixedId {
  /** Its position among the files of the run, and its name. */
  readonly file: number;
  readonly given: string;
  readonly line: number;
}

/** The rewritten IDs, each with the ID that was sent and its first position. */
export class FixedIdFile implements Disposable {
  readonly #path: string | undefined;
  readonly #storePath: string;
  readonly #files: readonly string[];
  /** Pair to the line on which it was found. */
  readonly #recent = new Map<string, number>();
  #store: SqliteFile | undefined;
  #isWritten = false;

  /**
   * @param storePath where the pairs are stored while the files are read
   * @param path the final file; none in a dry run
   * @param files the files of the run, as given
   */
  constructor(storePath: string, path: string | undefined, files: readonly string[]) {
    this.#storePath = storePath;
    this.#path = path;
    this.#files = files;
    rmSync(storePath, { force: true });
  }

  /** Rows of one order are read together, so lines are out of order; the lowest one counts. */
  add({ original, fixed }: FixedId, { file, line }: SourceRow): void {
    const key = `${file} ${fixed}`;
    if (line >= (this.#recent.get(key) ?? Infinity)) return;
    if (this.#recent.size >= maxRemembered) this.#recent.clear();
    this.#recent.set(key, line);
    const store = (this.#store ??= createStore(this.#storePath));
    store.run(
      `insert into pairs values (?, ?, ?, ?) on conflict do update set file = excluded.file, line = excluded.line
       where excluded.file = file and excluded.line < line`,
      [original, fixed, file, line],
    );
  }

  /** Ends writing; the file takes effect unless `isKept` is false. */
  close(isKept: boolean): void {
    if (this.#path === undefined || !isKept) return;
    if (this.#store) this.#write(this.#store, this.#path);
    else rmSync(this.#path, { force: true });
  }

  /** Describes the rewritten IDs; returns undefined if no ID was rewritten. */
  describe(): string | undefined {
    const [first] = this.#read(undefined, 1);
    if (!first) return undefined;
    const count = Number(this.#store?.all("select count(*) as pairs from pairs")[0]?.["pairs"]);
    const verb = this.#path === undefined ? "would be" : count === 1 ? "was" : "were";
    const example = `'${first.original}' (${first.given}:${first.line}) is sent as '${first.fixed}'`;
    const where = this.#isWritten ? `; all of them are in ${this.#path}` : "";
    return `${count} ${count === 1 ? "ID" : "IDs"} ${verb} rewritten: ${example}${where}`;
  }

  [Symbol.dispose](): void {
    this.#store?.close();
    this.#store = undefined;
    rmSync(this.#storePath, { force: true });
  }

  #write(store: SqliteFile, path: string): void {
    const file = new NewFile(path);
    try {
      file.write(stringify([columns]));
      store.execute("create index if not exists by_place on pairs (file, line, original)");
      for (let pairs = this.#read(undefined, pairsAtOnce); pairs.length > 0;) {
        const rows = pairs.map(({ original, fixed, given, line }) => [original, fixed, given, line]);
        file.write(stringify(rows));
        pairs = this.#read(pairs.at(-1), pairsAtOnce);
      }
      this.#isWritten = true;
    } finally {
      file.close(this.#isWritten);
    }
  }

  /** Reads pairs in the order of their positions, after a given one. */
  #read(after: Pair | undefined, count: number): Pair[] {
    const found = this.#store?.all(
      `select original, fixed, file, line from pairs where (file, line, original) > (?, ?, ?)
       order by file, line, original limit ?`,
      [after?.file ?? -1, after?.line ?? 0, after?.original ?? "", count],
    );
    return (found ?? []).map(({ original, fixed, file, line }) => ({
      original: String(original),
      fixed: String(fixed),
      file: Number(file),
      given: this.#files[Number(file)] ?? "",
      line: Number(line),
    }));
  }
}

/** The file is temporary: if a crash damages it, the next attempt reads the files again. */
function createStore(path: string): SqliteFile {
  const store = new SqliteFile(path);
  store.execute("pragma journal_mode = off; pragma synchronous = off");
  store.execute(
    `create table pairs (original text, fixed text, file integer, line integer, primary key (original, fixed))
     without rowid; begin`,
  );
  return store;
}
