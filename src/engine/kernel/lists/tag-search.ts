import { type RawBuilder, sql } from "kysely";
import { rowColumns, toIndexedTags } from "../../../storage/search-index.ts";
import { listTimeTags, type Range, type TaggedRange, takeRange } from "./search-tags.ts";
import type { Phrases, Tags, TextTable } from "../../../storage/text-search.ts";
import type { HandlerContext } from "../handler.ts";

/** A search for words among the records of an account that meet filters, sorted by ID. */
export interface TagSearch {
  readonly table: "reviews" | "questions";
  readonly words: TextTable;
  readonly accountId: number;
  readonly phrases: Phrases;
  /** Tags that a record must have, one of each list. */
  readonly tags: Tags;
  /** A range of creation times in milliseconds; `until` is not part of it. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** Everything that a record must meet. The tags may stand for less. */
  readonly filters: RawBuilder<unknown>;
  readonly direction: "up" | "down";
  /** The ID after which the list begins. */
  readonly afterId: number | undefined;
  readonly limit: number;
}

/** IDs in the first range, at least. */
const firstRange = 1_024;

/** How many times as many IDs the next range has, at most, and how many times as many matches it should have as are missing. */
const maxGrowth = 32;
const margin = 3;

/**
 * Finds the first IDs. Each statement looks up the words together with the tags of the filters and of a range of IDs. Because
 * a lookup reads all matches of its range, ranges become larger only if there were few matches.
 */
export async function searchByTags(search: TagSearch, context: HandlerContext): Promise<readonly number[]> {
  const ids = await readIds(search, context);
  const timeTags = ids ? await readTimeTags(search, context) : undefined;
  if (!ids || !timeTags) return [];
  const tags = timeTags.length > 0 ? [...search.tags, timeTags] : search.tags;
  const found: number[] = [];
  for (let [left, wanted] = [ids, firstRange]; left.first <= left.last && found.length < search.limit;) {
    const range = takeRange(left, wanted, search.direction);
    const limit = search.limit - found.length;
    const { rows } = await selectMatches({ ...search, tags, limit }, range, context).execute(context.transaction);
    found.push(...rows.map(({ id }) => id));
    left = search.direction === "up" ? { ...left, first: range.last + 1 } : { ...left, last: range.first - 1 };
    const missing = search.limit - found.length;
    const growth = Math.min(maxGrowth, (margin * missing) / Math.max(1, rows.length));
    wanted = Math.max(firstRange, Math.ceil((range.last - range.first + 1) * growth));
  }
  return found;
}

/** The IDs among which to search: those of the account that follow the cursor. */
async function readIds(search: TagSearch, { transaction }: HandlerContext): Promise<Range | undefined> {
  const { words, accountId, direction, afterId } = search;
  const row = sql.ref<number>(rowColumns[words]);
  const ends = await readEnds(
    sql`select min(${row}) as first, max(${row}) as last
    from ${sql.table(words)} where account_id = ${accountId}`,
    transaction,
  );
  if (!ends) return undefined;
  const after = afterId ?? (direction === "up" ? ends.first - 1 : ends.last + 1);
  const first = direction === "up" ? Math.max(ends.first, after + 1) : ends.first;
  const last = direction === "up" ? ends.last : Math.min(ends.last, after - 1);
  return first <= last ? { first, last } : undefined;
}

/** Returns undefined if the account has no records of the time, and no tags if any time is searched. */
async function readTimeTags(
  search: TagSearch,
  { transaction }: HandlerContext,
): Promise<readonly string[] | undefined> {
  const { table, accountId, since = -Infinity, until = Infinity } = search;
  if (search.since === undefined && search.until === undefined) return [];
  const ends = await readEnds(
    sql`select min(created_at) as first, max(created_at) as last
    from ${sql.table(table)} where account_id = ${accountId}`,
    transaction,
  );
  if (!ends) return undefined;
  const range = { first: Math.max(ends.first, since), last: Math.min(ends.last, until - 1) };
  return range.first <= range.last ? listTimeTags(range) : undefined;
}

async function readEnds(
  select: RawBuilder<unknown>,
  transaction: HandlerContext["transaction"],
): Promise<Range | undefined> {
  const { rows } = await sql<{ first: number | null; last: number | null }>`${select}`.execute(transaction);
  const { first, last } = rows[0] ?? {};
  return typeof first === "number" && typeof last === "number" ? { first, last } : undefined;
}

/**
 * The first matches in a range of IDs. IDs are expressions where the index by ID must not be used. A record is looked up before its
 * filters are tested; otherwise, a planner could use an index of a filter, and read all of its records.
 */
function selectMatches(search: TagSearch, range: TaggedRange, { dialect }: HandlerContext): RawBuilder<{ id: number }> {
  const { table, words, accountId, phrases, filters, limit } = search;
  const row = sql`${sql.ref(rowColumns[words])} + 0`;
  const order = sql.raw(search.direction === "up" ? "asc" : "desc");
  const tags = [...search.tags, ...(range.tags.length > 0 ? [range.tags] : [])];
  const indexed = tags.map((choices) => toIndexedTags(accountId, choices));
  const contains = dialect.textSearch.contains(sql.ref("words"), phrases, indexed);
  const record = sql`select * from ${sql.table(table)} where account_id = ${accountId} and id = matches.id ${dialect.optimizationFence}`;
  return sql`select id from (select ${row} as id from ${sql.table(words)}
      where account_id = ${accountId} and ${contains} and ${row} between ${range.first} and ${range.last}
      order by 1 ${order} ${dialect.optimizationFence}) as matches
    where (select 1 from (${record}) as ${sql.ref(table)} where ${filters}) is not null
    order by id ${order} limit ${limit}`;
}
