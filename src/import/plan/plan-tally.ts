import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";

/** IDs that differ only in spelling. */
export interface Collision {
  readonly ids: readonly string[];
  /** `file:line`. */
  readonly first: string | null;
}

export interface ConflictingNames {
  readonly id: string;
  readonly names: readonly string[];
  readonly first: string | null;
}

export interface Found<T> {
  readonly count: number;
  readonly examples: readonly T[];
}

/** Recently added IDs, which need no second look; about 4 MB. */
const maxRemembered = 20_000;

/** Examples that a plan shows of one finding. */
const maxExamples = 20;

/** The names that an example shows of one ID. */
const maxNames = 5;

/** All IDs in a plan's files and on the service; stored on disk, so memory use does not grow with them. */
export class PlanTally implements Disposable {
  readonly #file: SqliteFile;
  readonly #canonicalTypes: ReadonlySet<string>;
  readonly #recent = new Set<string>();
  /** Counts additions; it orders them. */
  #added = 0;

  /** @param canonicalTypes types of IDs that are never spellings of one another */
  constructor(path: string, canonicalTypes: ReadonlySet<string>) {
    this.#canonicalTypes = canonicalTypes;
    this.#file = new SqliteFile(path);
    this.#file.execute("pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file");
    this.#file.execute("pragma cache_size = -16384");
    this.#file.execute(`
      create table ids (type text, spelling text, id text, norm text, place text, added integer, is_stored integer,
        primary key (type, spelling)) without rowid;
      create table names (type text, id text, name text, place text, added integer,
        primary key (type, id, name)) without rowid;
      create table keys (key text primary key) without rowid;
      begin`);
  }

  addStored(type: string, id: string, name?: string): void {
    if (this.#isRecent(`stored\0${type}\0${id}\0${name}`)) return;
    this.#addId({ type, spelling: id, id, place: null, isStored: true });
    if (name !== undefined) this.#addName(type, id, name, null);
  }

  /** Adds an ID of a file: as it would be sent, and as the file spells it. */
  addFromFile(
    type: string,
    { id, spelling, name, place }: { id: string; spelling: string; name: string | undefined; place: string },
  ): void {
    if (this.#isRecent(`${type}\0${spelling}\0${name}`)) return;
    this.#addId({ type, spelling, id, place, isStored: false });
    if (name !== undefined && name !== "") this.#addName(type, id, name, place);
  }

  /** @returns whether the key was added before */
  addKey(key: string): boolean {
    return this.#file.run("insert or ignore into keys values (?)", [key]).changes === 0n;
  }

  isStored(type: string, id: string): boolean {
    const sql = "select 1 from ids where type = ? and spelling = ? and is_stored = 1";
    return this.#file.all(sql, [type, id]).length > 0;
  }

  /** The number of IDs in the files that the service has. */
  countStored(type: string): number {
    return this.#count(
      `select count(distinct found.id) as count from ids as found join ids as stored
         on stored.type = found.type and stored.spelling = found.id and stored.is_stored = 1
       where found.type = ? and found.place is not null`,
      [type],
    );
  }

  /**
   * Different spellings of one ID, of which at least one is in the files. The stored form of an ID that the import
   * rewrites, such as `1001` for `#1001`, is not another spelling.
   */
  findCollisions(): Found<Collision> {
    this.#file.execute("create index if not exists ids_by_norm on ids (type, norm) where norm <> spelling");
    this.#file.execute("create index if not exists rewritten_ids on ids (type, id) where id <> spelling");
    const isSpelling = (row: string) => `(${row}.place is not null or not exists (select 1 from ids as rewritten
      where rewritten.type = ${row}.type and rewritten.id = ${row}.spelling and rewritten.id <> rewritten.spelling))`;
    const groups = `
      select type, norm, count(*) + exists (select 1 from ids as plain
          where plain.type = odd.type and plain.spelling = odd.norm and plain.norm = plain.spelling
            and ${isSpelling("plain")}) as spellings
      from ids as odd where norm <> spelling and ${isSpelling("odd")} group by type, norm having spellings > 1`;
    const members = `
      select spelling, place, added from ids where type = ?1 and norm = ?2 and norm <> spelling and ${isSpelling("ids")}
      union all select spelling, place, added from ids where type = ?1 and spelling = ?2 and norm = spelling
        and ${isSpelling("ids")}
      order by added`;
    let count = 0;
    const examples: Collision[] = [];
    for (const { type, norm } of this.#file.all(groups)) {
      const found = this.#file.all(members, [String(type), String(norm)]);
      const first = firstPlace(found);
      // All of them are on the service: the files are not affected.
      if (first === null) continue;
      count++;
      if (examples.length < maxExamples) {
        examples.push({ ids: found.slice(0, maxNames).map(({ spelling }) => String(spelling)), first });
      }
    }
    return { count, examples };
  }

  /** IDs in the files with several names there, or with a different name on the service. */
  findConflictingNames(): Found<ConflictingNames> {
    const conflicts =
      "select type, id, max(place) as place from names group by type, id having count(*) > 1 and max(place) is not null";
    const count = this.#count(`select count(*) as count from (${conflicts})`, []);
    const examples = this.#file.all(`${conflicts} limit ${maxExamples}`).map(({ type, id }) => {
      const sql = `select name, place from names where type = ? and id = ? order by added limit ${maxNames}`;
      const found = this.#file.all(sql, [String(type), String(id)]);
      return { id: String(id), names: found.map(({ name }) => String(name)), first: firstPlace(found) };
    });
    return { count, examples };
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  #addId(row: { type: string; spelling: string; id: string; place: string | null; isStored: boolean }): void {
    const { type, spelling, id, place, isStored } = row;
    const norm = this.#canonicalTypes.has(type) ? id : normalizeId(id);
    this.#file.run(
      `insert into ids values (?, ?, ?, ?, ?, ?, ?) on conflict do update set
         added = iif(place is null, excluded.added, added), place = coalesce(place, excluded.place),
         is_stored = max(is_stored, excluded.is_stored)`,
      [type, spelling, id, norm, place, ++this.#added, Number(isStored)],
    );
  }

  #addName(type: string, id: string, name: string, place: string | null): void {
    this.#file.run(
      `insert into names values (?, ?, ?, ?, ?) on conflict do update set
         added = iif(place is null, excluded.added, added), place = coalesce(place, excluded.place)`,
      [type, id, name, place, ++this.#added],
    );
  }

  #isRecent(entry: string): boolean {
    if (this.#recent.has(entry)) return true;
    if (this.#recent.size >= maxRemembered) this.#recent.clear();
    // Copied: a cell retains the entire block of the file from which it was cut.
    this.#recent.add(Buffer.from(entry).toString());
    return false;
  }

  #count(sql: string, parameters: readonly string[]): number {
    return Number(this.#file.all(sql, parameters)[0]?.["count"]);
  }
}

/** The first of the places that is in a file. */
function firstPlace(found: readonly Record<string, unknown>[]): string | null {
  const places = found.map(({ place }) => place);
  return places.find((place) => typeof place === "string") ?? null;
}

/**
 * Normalizes an ID so that two spellings of the same one become equal: spreadsheets drop leading zeros, and people and
 * shops vary case and surrounding whitespace.
 * Assumed: full-width letters and the like are the same letters; the service itself distinguishes all of them.
 */
export function normalizeId(id: string): string {
  return id
    .normalize("NFKC")
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, "");
}
