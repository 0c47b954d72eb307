import { actorNames } from "../../../contract/index.ts";
import { SqliteFile } from "../../../storage/sqlite/sqlite-file.ts";

/** How many of each there are. */
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
 * The addresses that a file wants on a list, and those that the service has there, on disk.
 * Assumed: addresses that differ in upper and lower case alone are one, as the service has it; so are those that differ
 * in what nobody sees (a zero-width space that came along with a copied cell, an accent that is written in two ways),
 * since the person is the same, and would get mails again.
 */
export class AddressBook implements Disposable {
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
    for (const email of emails) {
      this.#file.run("insert or ignore into wanted values (?, ?)", [keyOf(email), email]);
    }
  }

  hold(entries: readonly { readonly email: string; readonly by: string }[]): void {
    for (const { email, by } of entries) {
      this.#file.run("insert or ignore into held values (?, ?, ?)", [keyOf(email), email, by]);
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

  /** `added`: wanted and not held; `removed`: held and not wanted; `kept`: so, too, and unsubscribed by themselves. */
  *list(side: keyof typeof sides): Generator<string> {
    for (const { email } of this.#file.iterate(sides[side])) yield String(email);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

function keyOf(email: string): string {
  return email
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFC")
    .toLowerCase();
}
