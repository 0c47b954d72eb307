import { type RawBuilder, sql } from "kysely";
import { invalidField, searchPage, type SearchSort } from "../../../contract/index.ts";
import { batchRows } from "../../../storage/batch.ts";
import { listPhrases, rowColumns, toIndexed } from "../../../storage/search-index.ts";
import type { Phrases, TextMatch, TextTable } from "../../../storage/text-search.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { searchByTags } from "./tag-search.ts";
import { accountOf, type HandlerContext } from "../handler.ts";

export type Condition = RawBuilder<boolean>;

/** Records of an account that match filters, and how to find them. Columns have the name of the table in front. */
export interface FilteredList {
  readonly table: "reviews" | "questions";
  readonly words: TextTable;
  /**
   * Conditions, each of which an index answers, sorted by creation time unless the matches are `few`. A record that meets
   * one of them and all `conditions` matches.
   */
  readonly parts: readonly Condition[];
  readonly isFew: boolean;
  /** Conditions that are checked row by row. */
  readonly conditions: readonly Condition[];
  /** Whether there are filters that most records do not meet. */
  readonly isNarrow: boolean;
  /** Tags of the filters, one of each list, for a database that has them (`textSearch.hasTags`). */
  readonly tags: readonly (readonly string[])[];
}

interface PageQuery {
  readonly since_date?: string | undefined;
  readonly until_date?: string | undefined;
  readonly search?: string | undefined;
  readonly sort?: SearchSort | undefined;
  readonly limit?: number | undefined;
  readonly page_info?: string | undefined;
}

/** The page of a list: IDs in order, and the cursor of the next page. */
export interface FoundPage {
  readonly ids: readonly number[];
  readonly pagination: { readonly next_page_info: string | null };
}

interface Found {
  readonly id: number;
  readonly created_at: number;
}

/** With up to this many matches of other filters, their words are checked; otherwise, the words are looked up. */
const fewMatches = 2_000;

/** Ranges of time with more records do not limit the IDs that are searched. */
const shortRange = 20_000;

/** Lists the IDs of a page: by creation time and ID, or with `search` by ID. */
export async function findPage(list: FilteredList, query: PageQuery, context: HandlerContext): Promise<FoundPage> {
  const size = Math.min(query.limit ?? searchPage.default, searchPage.max);
  if (size === 0) throw invalidField("limit", "must be at least 1");
  const search = new ListSearch(list, query, context);
  // One more, to find out whether there is another page.
  const found = await search.find(size + 1);
  const [page, last] = [found.slice(0, size), found[size - 1]];
  const next_page_info = found.length > size && last ? writeCursor([last.created_at, last.id]) : null;
  return { ids: page.map(({ id }) => id), pagination: { next_page_info } };
}

class ListSearch {
  readonly #list: FilteredList;
  readonly #query: PageQuery;
  readonly #context: HandlerContext;
  readonly #accountId: number;
  readonly #after: readonly number[] | undefined;

  constructor(list: FilteredList, query: PageQuery, context: HandlerContext) {
    this.#list = list;
    this.#query = query;
    this.#context = context;
    this.#accountId = accountOf(context).id;
    this.#after = query.page_info === undefined ? undefined : readCursor(query.page_info, 2);
  }

  async find(limit: number): Promise<readonly Found[]> {
    const { search } = this.#query;
    if (search === undefined) return this.#findByTime(limit, "time");
    const phrases = listPhrases(search).map((words) => toIndexed(this.#accountId, words));
    if (phrases.length === 0) throw invalidField("search", "has no letters or digits");
    const matched = this.#match(phrases);
    if (matched ? this.#isNarrow : this.#list.isFew) {
      const candidates = await this.#findByTime(fewMatches + 1, "id");
      if (candidates.length <= fewMatches) return this.#check(candidates, phrases, limit);
    }
    return matched ? this.#lookUp(matched, limit) : this.#searchByTags(phrases, limit);
  }

  get #isNarrow(): boolean {
    const { since_date, until_date } = this.#query;
    return this.#list.isNarrow || since_date !== undefined || until_date !== undefined;
  }

  get #direction(): RawBuilder<unknown> {
    return this.#query.sort === "oldest" ? sql`asc` : sql`desc`;
  }

  #column(name: "id" | "created_at"): RawBuilder<number> {
    return sql.ref(`${this.#list.table}.${name}`);
  }

  /** The conditions of all statements: the account and the range of time, and the filters. */
  #conditions(): readonly Condition[] {
    return [...this.#range(), ...this.#list.conditions];
  }

  #range(): readonly Condition[] {
    const { since_date, until_date } = this.#query;
    const createdAt = this.#column("created_at");
    return [
      sql<boolean>`${sql.ref(`${this.#list.table}.account_id`)} = ${this.#accountId}`,
      ...(since_date === undefined ? [] : [sql<boolean>`${createdAt} >= ${Date.parse(since_date)}`]),
      ...(until_date === undefined ? [] : [sql<boolean>`${createdAt} < ${Date.parse(until_date)}`]),
    ];
  }

  #isAfter(position: "time" | "id", id = this.#column("id")): readonly Condition[] {
    const [createdAt, lastId] = this.#after ?? [];
    if (createdAt === undefined || lastId === undefined) return [];
    const follows = this.#query.sort === "oldest" ? sql`>` : sql`<`;
    if (position === "id") return [sql`${id} ${follows} ${lastId}`];
    return [sql`(${this.#column("created_at")}, ${id}) ${follows} (${createdAt}, ${lastId})`];
  }

  /** Lists the first matches by creation time, which follow the cursor by time or by ID. */
  async #findByTime(limit: number, position: "time" | "id"): Promise<readonly Found[]> {
    const { table, parts, isFew, conditions } = this.#list;
    const [id, createdAt] = [this.#column("id"), this.#column("created_at")];
    const tested = conditions.length > 0 ? [this.#context.dialect.testRows(all(conditions))] : [];
    const common = [...this.#range(), ...tested, ...this.#isAfter(position)];
    // An expression, so that no index is used for the order.
    const order = isFew ? sql`coalesce(${createdAt}, 0)` : createdAt;
    const selects = parts.map((part) => {
      return sql`select ${id}, ${createdAt} from ${sql.table(table)} where ${all([part, ...common])}
        order by ${order} ${this.#direction}, ${id} ${this.#direction} limit ${limit}`;
    });
    const [only] = selects;
    if (only && selects.length === 1) return this.#read(only);
    const merged = sql.join(
      selects.map((select) => sql`select id, created_at from (${select}) as part`),
      sql` union all `,
    );
    return this.#read(sql`select id, created_at from (${merged}) as merged
      order by created_at ${this.#direction}, id ${this.#direction} limit ${limit}`);
  }

  /** Keeps the candidates that contain the phrases, by ID. */
  async #check(candidates: readonly Found[], phrases: Phrases, limit: number): Promise<readonly Found[]> {
    if (candidates.length === 0) return [];
    const { words } = this.#list;
    const row = sql.ref<number>(rowColumns[words]);
    const { textSearch } = this.#context.dialect;
    const rows = candidates.map(({ id }) => [id]);
    const batch = batchRows<{ id: number }>({ id: "integer" }, rows, this.#context.dialect);
    const matching =
      await this.#read(sql`select ${row} as id, 0 as created_at from ${batch} cross join ${sql.table(words)}
      where account_id = ${this.#accountId} and ${row} = batch.id and ${textSearch.contains(sql.ref("words"), phrases)}`);
    const ids = new Set(matching.map(({ id }) => id));
    const sign = this.#query.sort === "oldest" ? 1 : -1;
    return candidates
      .filter(({ id }) => ids.has(id))
      .toSorted((a, b) => sign * (a.id - b.id))
      .slice(0, limit);
  }

  /** PostgreSQL reads all matches of words before it sorts them, so it searches for tags, too. */
  async #searchByTags(phrases: Phrases, limit: number): Promise<readonly Found[]> {
    const { table, words, parts, tags } = this.#list;
    const { since_date, until_date, sort } = this.#query;
    const search = {
      table,
      words,
      accountId: this.#accountId,
      phrases,
      tags,
      since: since_date === undefined ? undefined : Date.parse(since_date),
      until: until_date === undefined ? undefined : Date.parse(until_date),
      filters: all([any(parts), ...this.#conditions()]),
      direction: sort === "oldest" ? ("up" as const) : ("down" as const),
      afterId: this.#after?.[1],
      limit,
    };
    const ids = await searchByTags(search, this.#context);
    return ids.map((id) => ({ id, created_at: 0 }));
  }

  #match(phrases: Phrases): TextMatch | undefined {
    const { words } = this.#list;
    return this.#context.dialect.textSearch.match?.(words, rowColumns[words], { accountId: this.#accountId, phrases });
  }

  /** Finds the phrases in the index, and checks the filters of each match, by ID. */
  async #lookUp(matched: TextMatch, limit: number): Promise<readonly Found[]> {
    const { table, parts } = this.#list;
    const firstId = await this.#findFirstId();
    const filters = all([sql`${this.#column("id")} = ${matched.id}`, any(parts), ...this.#conditions()]);
    const conditions = all([
      matched.condition,
      ...this.#isAfter("id", matched.id),
      ...(firstId === undefined ? [] : [sql<boolean>`${matched.id} >= ${firstId}`]),
      sql`(select 1 from ${sql.table(table)} where ${filters}) is not null`,
    ]);
    return this.#read(sql`select ${matched.id} as id, 0 as created_at from ${matched.table} where ${conditions}
      order by ${matched.id} ${this.#direction} limit ${limit}`);
  }

  /** The lowest ID in a short range of time. */
  async #findFirstId(): Promise<number | undefined> {
    const { since_date } = this.#query;
    if (since_date === undefined) return undefined;
    const { rows } = await sql<{ first: number | null; found: number }>`
      select min(id) as first, count(*) as found from (
        select id from ${sql.table(this.#list.table)}
        where account_id = ${this.#accountId} and created_at >= ${Date.parse(since_date)}
        order by created_at limit ${shortRange + 1}) as listed`.execute(this.#context.transaction);
    const [{ first, found } = { first: null, found: 0 }] = rows;
    return found > shortRange ? undefined : (first ?? undefined);
  }

  async #read(select: RawBuilder<unknown>): Promise<readonly Found[]> {
    const { rows } = await sql<Found>`${select}`.execute(this.#context.transaction);
    return rows;
  }
}

function all(conditions: readonly Condition[]): RawBuilder<unknown> {
  return sql.join([...conditions], sql` and `);
}

function any(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join([...conditions], sql` or `)})`;
}
