import { actorNames, emailKeyOf } from "../../../contract/index.ts";
import { SqliteFile } from "../../../storage/sqlite/sqlite-file.ts";

/** The number of addresses on each side. */
export interface Differences {
  readonly added: number;
  readonly removed: number;
  readonly unchanged: number;
}

const sides = {
  added: "select email from wanted where key not in (select key from held) order by key",
  removed: `select email from held where by_name <> '${actorNames.user}' and key not in (select key from wanted) order by key`,
  kept: `select email from held where by_name = '${actorNames.user}' and key not in (select key from wanted) order by key`,
} as const;

/**
 * The addresses that the files list and those that the service has, on disk.
 * Addresses with the same key are equal, as for the service.
 */
export class AddressLists implements Disposable {
  readonly #file: SqliteFile;

  constructor(path: string) {
    this.#file = new SqliteFile(path);
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute(
      `create table wanted (key text primary key, email text not null) without rowid;
       create table held (key text, email text not null, by_name text not null, primary key (key, email)) without rowid;
       begin`,
    );
  }

  want(emails: readonly string[]): void {
    for (const email of emails)
      this.#file.run("insert or ignore into wanted values (?, ?)", [emailKeyOf(email), email]);
  }

  hold(entries: readonly { readonly email: string; readonly by: string }[]): void {
    for (const { email, by } of entries) {
      this.#file.run("insert or ignore into held values (?, ?, ?)", [emailKeyOf(email), email, by]);
    }
  }

  count(): Differences {
    const countOf = (sql: string) => Number(this.#file.all(`select count(*) as n from (${sql})`)[0]?.["n"]);
    return {
      added: countOf(sides.added),
      removed: countOf(sides.removed),
      unchanged: countOf("select key from wanted where key in (select key from held)"),
    };
  }

  /**
   * `added`: only in the files; `removed`: only on the service; `kept`: likewise, but unsubscribed by the person.
   * @param most how many are listed at most; -1 lists all
   */
  *list(side: keyof typeof sides, most = -1): Generator<string> {
    for (const { email } of this.#file.iterate(`${sides[side]} limit ${most}`)) yield String(email);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
