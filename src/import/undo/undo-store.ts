import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import type { Decision, Reversal, UndoTarget, UndoOutcome } from "./undo-behavior.ts";
import { changeAtomically, type Entry, type Value } from "./previous-values.ts";

export type OutcomeCounts = Record<UndoOutcome, number>;

/** Targets read at a time. */
const aPage = 500;

/** The outcome of a row that wrote `things`, and perhaps also `parts`: what did not become as before comes first. */
const rowOutcome = `case when 'impossible' in (things.outcome, parts.outcome) then 'impossible'
  when 'kept' in (things.outcome, parts.outcome) then 'kept'
  when 'reversed' in (things.outcome, parts.outcome) then 'reversed' else 'kept' end`;

/** The targets of a run and what becomes of each when it is undone; on disk, so that an undo can be continued. */
export class UndoStore implements Disposable {
  readonly #file: SqliteFile;

  constructor(path: string) {
    this.#file = new SqliteFile(path);
    this.#file.execute(
      `create table if not exists things (key text primary key, rows integer not null, sure integer not null,
         written text not null,
         now text, outcome text, reason text, send text,
         sent integer not null default 0, done integer not null default 0) without rowid;
       create table if not exists links (key text, part text, rows integer not null, primary key (key, part))
         without rowid`,
    );
  }

  /** Clears the store and adds what `read` adds: all of it, or nothing. */
  async collect(read: () => Promise<unknown>): Promise<void> {
    await changeAtomically(this.#file, () => {
      this.#file.execute("delete from things; delete from links");
      return read();
    });
  }

  /** Adds rows that wrote a target, certainly or possibly; later writes override earlier ones. */
  add(key: string, written: Value, rows: number, isSure: boolean): void {
    this.#file.run(
      `insert into things (key, rows, sure, written) values (?, ?, ?, ?)
       on conflict (key) do update set rows = rows + excluded.rows, sure = sure + excluded.sure,
         written = json_patch(written, excluded.written)`,
      [key, rows, isSure ? rows : 0, JSON.stringify(written)],
    );
  }

  /** Adds a row that wrote two targets: its outcome is that of both. */
  link(key: string, part: string): void {
    this.#file.run("insert into links values (?, ?, 1) on conflict (key, part) do update set rows = rows + 1", [
      key,
      part,
    ]);
  }

  /**
   * Stores the service's current state; of duplicates, the first.
   * @param isInParts whether the fields of further entries with the same key are added
   */
  async storeCurrent(
    read: (add: (entries: readonly Entry[]) => void) => Promise<void>,
    isInParts = false,
  ): Promise<void> {
    const next = isInParts ? "json_patch(coalesce(now, '{}'), ?1)" : "coalesce(now, ?1)";
    const store = `update things set now = ${next} where key = ?2 and done = 0`;
    await changeAtomically(this.#file, () => {
      this.#file.execute("update things set now = null where done = 0");
      return read((entries) => {
        for (const [key, value] of entries) this.#file.run(store, [JSON.stringify(value), key]);
      });
    });
  }

  /** Decides for all targets that are not undone yet. */
  decide(decideFor: (thing: UndoTarget) => Decision): void {
    this.#file.execute("begin");
    for (let after: string | undefined = ""; after !== undefined;) {
      const found: Record<string, unknown>[] = this.#file.all(
        `select key, rows, sure, written, now, sent from things where done = 0 and key > ? order by key limit ${aPage}`,
        [after],
      );
      for (const row of found) {
        const key = String(row["key"]);
        const { outcome, reason, send } = decideFor({
          key,
          rows: Number(row["rows"]),
          sureRows: Number(row["sure"]),
          written: readValue(row["written"]) ?? {},
          now: readValue(row["now"]),
          wasSent: Number(row["sent"]) > 0,
        });
        this.#file.run("update things set outcome = ?, reason = ?, send = ? where key = ?", [
          outcome,
          reason,
          send === undefined ? null : JSON.stringify(send),
          key,
        ]);
      }
      after = found.length < aPage ? undefined : String(found.at(-1)?.["key"]);
    }
    this.#file.execute("commit");
  }

  /** Rows by their outcome once everything has been sent. */
  get counts(): OutcomeCounts {
    return this.#count(() => "true");
  }

  /** Rows by their outcome so far. */
  get settled(): OutcomeCounts {
    return this.#count((table) => `(${table}.done = 1 or ${table}.send is null)`);
  }

  /** The number of targets that must be sent. */
  get open(): number {
    const [row] = this.#file.all("select count(*) as things from things where send is not null and done = 0");
    return Number(row?.["things"]);
  }

  #count(which: (table: string) => string): OutcomeCounts {
    const counts: OutcomeCounts = { reversed: 0, kept: 0, impossible: 0 };
    const sql = `select ${rowOutcome} as outcome, sum(coalesce(links.rows, things.rows)) as rows
      from things left join links on links.key = things.key left join things as parts on parts.key = links.part
      where things.key not in (select part from links) and ${which("things")}
        and (parts.key is null or ${which("parts")})
      group by 1`;
    for (const { outcome, rows } of this.#file.all(sql)) counts[String(outcome) as UndoOutcome] = Number(rows);
    return counts;
  }

  /** The next targets to send; from now on, they may have been undone. */
  takeNext(most: number): Reversal[] {
    const found = this.#file.all(
      "select key, send from things where send is not null and done = 0 order by key limit ?",
      [most],
    );
    const keys = JSON.stringify(found.map(({ key }) => key));
    this.#file.run("update things set sent = 1 where key in (select value from json_each(?))", [keys]);
    return found.map(({ key, send }) => ({ key: String(key), send: readValue(send) ?? {} }));
  }

  /** Stores the outcome of a call: all targets are undone except those refused for the given reasons. */
  settle(things: readonly Reversal[], refused: ReadonlyMap<string, string>): void {
    this.#file.execute("begin");
    for (const { key } of things) {
      const reason = refused.get(key);
      if (reason === undefined) this.#file.run("update things set done = 1 where key = ?", [key]);
      else {
        this.#file.run("update things set done = 1, outcome = 'impossible', reason = ? where key = ?", [
          `the service: ${reason}`,
          key,
        ]);
      }
    }
    this.#file.execute("commit");
  }

  /** The outcome of a row. @param part the second target that it wrote */
  outcomeOf(key: string, part?: string): { readonly outcome: UndoOutcome; readonly reason: string } {
    const [row] = this.#file.all(
      `select ${rowOutcome} as outcome, things.reason || coalesce('; ' || parts.reason, '') as reason
       from things left join things as parts on parts.key = ? where things.key = ?`,
      [part ?? null, key],
    );
    if (!row) throw new Error(`${key} was not collected`);
    return { outcome: String(row["outcome"]) as UndoOutcome, reason: String(row["reason"]) };
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

function readValue(kept: unknown): Value | undefined {
  return typeof kept === "string" ? (JSON.parse(kept) as Value) : undefined;
}
