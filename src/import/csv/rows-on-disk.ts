import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import type { RecordProblem } from "./record-scanner.ts";

export interface RowOnDisk {
  readonly key: string;
  readonly line: number;
  readonly cells: string[];
  readonly problem: RecordProblem | undefined;
}

/** Begins the names of folders for temporary files of a run, which are left behind if the process is killed. */
export const workFolderPrefix = "starpost-spill-";

/** Maximum number of rows in memory: a group may have as many as the file. */
export const maxRowsInMemory = 5_000;

/** Rows on disk, returned key by key, in the order of each key's first line. */
export class RowsOnDisk implements Disposable {
  readonly #folder: string;
  readonly #file: SqliteFile;

  constructor(parentFolder: string) {
    this.#folder = mkdtempSync(join(parentFolder, workFolderPrefix));
    this.#file = new SqliteFile(join(this.#folder, "rows.db"));
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute("create table rows (key text, line integer, cells text, problem text)");
    this.#file.execute("create table aliases (alias text, key text); begin");
  }

  add({ key, line, cells, problem }: RowOnDisk): void {
    this.#file.run("insert into rows values (?, ?, ?, ?)", [key, line, JSON.stringify(cells), problem ?? null]);
  }

  /** Rows spilled under the alias belong to the key. */
  addAlias(alias: string, key: string): void {
    this.#file.run("insert into aliases values (?, ?)", [alias, key]);
  }

  /** Ends adding. An alias may refer to another alias, once. */
  seal(): void {
    this.#file.execute("commit; create index aliases_by_name on aliases (alias)");
    const named = "(select key from aliases where alias = rows.key order by rowid limit 1)";
    const resolve = `update rows set key = ${named} where key in (select alias from aliases)`;
    this.#file.execute(`${resolve}; ${resolve}; create index rows_by_key on rows (key, line)`);
  }

  /** Yields group by group; a large group comes in several consecutive pieces with the same first line. */
  *groups(): Generator<{ readonly firstLine: number; readonly rows: RowOnDisk[] }> {
    const found = this.#file.iterate(
      `select first_line, rows.key, line, cells, problem
       from rows join (select key, min(line) as first_line from rows group by key) as firsts on firsts.key = rows.key
       order by first_line, line`,
    );
    let group: { firstLine: number; rows: RowOnDisk[] } | undefined;
    for (const row of found) {
      const firstLine = Number(row["first_line"]);
      if (group && (group.firstLine !== firstLine || group.rows.length >= maxRowsInMemory)) {
        yield group;
        group = undefined;
      }
      group ??= { firstLine, rows: [] };
      group.rows.push({
        key: String(row["key"]),
        line: Number(row["line"]),
        cells: JSON.parse(String(row["cells"])) as string[],
        problem: (row["problem"] ?? undefined) as RecordProblem | undefined,
      });
    }
    if (group) yield group;
  }

  [Symbol.dispose](): void {
    this.#file.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
