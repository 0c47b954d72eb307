import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";
import { normaliseId } from "./id-format.ts";

/** What an id names. Each is apart from the others. */
export type IdKind = "product" | "order" | "code" | "address";

/** Ids that differ only in how they are written. */
export interface Collision {
  readonly ids: readonly string[];
  /** `file:line`. */
  readonly first: string | null;
}

/** An id that goes by several names. */
export interface TwoNames {
  readonly id: string;
  readonly names: readonly string[];
  readonly first: string | null;
}

export interface Found<T> {
  readonly count: number;
  readonly examples: readonly T[];
}

/** Ids met lately, which need no second look; some 4 MB. */
const maxRemembered = 20_000;

/** Examples that a plan gives of one finding. */
const maxExamples = 20;

/** The names of one id that an example shows. */
const maxNames = 5;

/** Every id of a plan's files and of what is there, on disk, so that memory does not grow with them. */
export class PlanBook implements Disposable {
  readonly #file: SqliteFile;
  readonly #lately = new Set<string>();
  /** Counts what was met, which says what came first. */
  #met = 0;

  constructor(path: string) {
    this.#file = new SqliteFile(path);
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute("pragma cache_size = -16384");
    this.#file.execute(`
      create table ids (what text, spelling text, id text, norm text, place text, met integer, is_there integer,
        primary key (what, spelling)) without rowid;
      create table names (what text, id text, name text, place text, met integer, primary key (what, id, name)) without rowid;
      create table keys (key text primary key) without rowid;
      begin`);
  }

  /** Notes an id that the service has. */
  addThere(what: IdKind, id: string, name?: string): void {
    if (this.#isKnown(`there\0${what}\0${id}\0${name}`)) return;
    this.#addId({ what, spelling: id, id, place: null, isThere: true });
    if (name !== undefined) this.#addName(what, id, name, null);
  }

  /** Notes an id of a file, as it is taken and as it is written there. */
  meetId(
    what: IdKind,
    { id, spelling, name, place }: { id: string; spelling: string; name: string | undefined; place: string },
  ): void {
    if (this.#isKnown(`${what}\0${spelling}\0${name}`)) return;
    this.#addId({ what, spelling, id, place, isThere: false });
    if (name !== undefined && name !== "") this.#addName(what, id, name, place);
  }

  /** @returns whether the files gave the key before */
  meetKey(key: string): boolean {
    return this.#file.run("insert or ignore into keys values (?)", [key]).changes === 0n;
  }

  isThere(what: IdKind, id: string): boolean {
    const sql = "select 1 from ids where what = ? and spelling = ? and is_there = 1";
    return this.#file.all(sql, [what, id]).length > 0;
  }

  /** The ids of the files that the service has. */
  countThere(what: IdKind): number {
    return this.#count(
      `select count(distinct met.id) as count from ids as met join ids as there
         on there.what = met.what and there.spelling = met.id and there.is_there = 1
       where met.what = ? and met.place is not null`,
      [what],
    );
  }

  /** Ids, at least one of them in the files, that are written differently and have one form. */
  findCollisions(): Found<Collision> {
    this.#file.execute("create index if not exists ids_by_form on ids (what, norm) where norm <> spelling");
    const groups = `
      select what, norm, count(*) + exists (select 1 from ids as plain
          where plain.what = odd.what and plain.spelling = odd.norm and plain.norm = plain.spelling) as spellings
      from ids as odd where norm <> spelling group by what, norm having spellings > 1`;
    const members = `
      select spelling, place, met from ids where what = ?1 and norm = ?2 and norm <> spelling
      union all select spelling, place, met from ids where what = ?1 and spelling = ?2 and norm = spelling
      order by met`;
    let count = 0;
    const examples: Collision[] = [];
    for (const { what, norm } of this.#file.all(groups)) {
      const found = this.#file.all(members, [String(what), String(norm)]);
      const first = firstPlace(found);
      // What is on the service alone is no matter of the files.
      if (first === null) continue;
      count++;
      if (examples.length < maxExamples) {
        examples.push({
          ids: found.slice(0, maxNames).map(({ spelling }) => String(spelling)),
          first,
        });
      }
    }
    return { count, examples };
  }

  /** Ids of the files that have several names there, or another than on the service. */
  findNames(): Found<TwoNames> {
    const twice =
      "select what, id, max(place) as place from names group by what, id having count(*) > 1 and max(place) is not null";
    const count = this.#count(`select count(*) as count from (${twice})`, []);
    const examples = this.#file.all(`${twice} limit ${maxExamples}`).map(({ what, id }) => {
      const sql = `select name, place from names where what = ? and id = ? order by met limit ${maxNames}`;
      const found = this.#file.all(sql, [String(what), String(id)]);
      return {
        id: String(id),
        names: found.map(({ name }) => String(name)),
        first: firstPlace(found),
      };
    });
    return { count, examples };
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  #addId(row: { what: IdKind; spelling: string; id: string; place: string | null; isThere: boolean }): void {
    const { what, spelling, id, place, isThere } = row;
    this.#file.run(
      `insert into ids values (?, ?, ?, ?, ?, ?, ?) on conflict do update set
         met = iif(place is null, excluded.met, met), place = coalesce(place, excluded.place), is_there = max(is_there, excluded.is_there)`,
      [what, spelling, id, formOf(what, id), place, ++this.#met, Number(isThere)],
    );
  }

  #addName(what: IdKind, id: string, name: string, place: string | null): void {
    this.#file.run(
      `insert into names values (?, ?, ?, ?, ?) on conflict do update set
         met = iif(place is null, excluded.met, met), place = coalesce(place, excluded.place)`,
      [what, id, name, place, ++this.#met],
    );
  }

  #isKnown(seen: string): boolean {
    if (this.#lately.has(seen)) return true;
    if (this.#lately.size >= maxRemembered) this.#lately.clear();
    // Copied: a cell as it was read holds on to the whole piece of the file that it was cut from.
    this.#lately.add(Buffer.from(seen).toString());
    return false;
  }

  #count(sql: string, parameters: readonly string[]): number {
    return Number(this.#file.all(sql, parameters)[0]?.["count"]);
  }
}

/** The first place in a file, of what was met in order. */
function firstPlace(found: readonly Record<string, unknown>[]): string | null {
  const places = found.map(({ place }) => place);
  return places.find((place) => typeof place === "string") ?? null;
}

/** An address is one person's however it is written, and is known by its small letters already. */
function formOf(what: IdKind, id: string): string {
  return what === "address" ? id : normaliseId(id);
}
