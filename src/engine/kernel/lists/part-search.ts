import { sql } from "kysely";
import { invalidField, searchPage, type SearchSort } from "../../../contract/index.ts";
import { batchOfIds } from "../../../storage/batch.ts";
import { accountIdOf } from "../handler.ts";
import { readCursor, toPage } from "./cursor.ts";
import {
  type Block,
  type Context,
  readBlocks,
  readPostings,
  type SearchedTable,
  selectRange,
  selectTexts,
  type TextRow,
} from "./part-index.ts";
import {
  blocksPerSegment,
  bucketOf,
  countPositions,
  findWithParts,
  foldPart,
  idsAt,
  listParts,
  type Positions,
  type PostingsRow,
  rankParts,
} from "./postings.ts";

/** Parts of a long text that are looked up. They are enough, because the texts of what is found are compared. */
const maxParts = 8;

/** Records that are compared and returned at once, at most. */
const maxAtOnce = 500;

/** How many times as many segments are read each time: one, then 16, then 256. */
const growth = 16;

/** The text that a user searches for. */
export class SearchedText {
  readonly #folded: string;
  readonly parts: ReadonlySet<number>;

  /** @throws ServiceError `invalidParams` */
  constructor(text: string) {
    this.#folded = foldPart(text.trim());
    const parts = [...listParts(this.#folded)];
    if (parts.length === 0) {
      throw invalidField("search", "must have at least 3 characters, or 2 of Chinese, Japanese, or Korean");
    }
    const step = Math.max(1, parts.length / maxParts);
    this.parts = new Set(parts.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step)));
  }

  isIn(text: string): boolean {
    return foldPart(text).includes(this.#folded);
  }

  /** A condition on a column that is met if the text may be in it: databases do not fold other characters than ASCII. */
  mayBeIn(column: string) {
    const [pattern, text] = [this.#folded.replaceAll(/[\\%_]/g, String.raw`\$&`), sql.ref<string>(column)];
    return sql<boolean>`(lower(${text}) like ${`%${pattern}%`} escape ${"\\"} or octet_length(${text}) <> length(${text}))`;
  }
}

/** The order of a list by ID, the ID after which it begins, and the number of records that are probably enough. */
export interface Course {
  readonly direction: "up" | "down";
  readonly afterId?: number | undefined;
  readonly count: number;
}

/** Inclusive. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** Records in their order: those of blocks that are looked up, or of a range of IDs that are compared one by one. */
type Part = readonly Block[] | Range;

/** Finds the records of an account that contain a text: their IDs in order, some at a time. The index must have been prepared. */
export async function* findByPart(
  table: SearchedTable,
  searched: SearchedText,
  course: Course,
  context: Context,
): AsyncGenerator<readonly number[]> {
  const range = toRange(course);
  const parts = listPieces(await readBlocks(table, context), range);
  for (const part of course.direction === "up" ? parts : parts.toReversed()) {
    const search = { table, searched, range, direction: course.direction, batches: new Batches(course.count) };
    const found = "first" in part ? scan({ ...search, range: part }, context) : lookUp(search, part, context);
    const returned = new Batches(course.count);
    for await (const ids of found) yield* returned.split(ids);
  }
}

interface Search {
  readonly table: SearchedTable;
  readonly searched: SearchedText;
  readonly range: Range;
  readonly direction: "up" | "down";
  readonly batches: Batches;
}

/** Splits records so that few are read if the first are enough: each batch is twice as long as the one before. */
class Batches {
  /** Records of the next one. */
  size: number;

  constructor(size: number) {
    this.size = Math.min(size, maxAtOnce);
  }

  *split(ids: readonly number[]): Generator<readonly number[]> {
    for (let from = 0; from < ids.length;) {
      const batch = ids.slice(from, from + this.size);
      from += batch.length;
      this.size = Math.min(2 * this.size, maxAtOnce);
      yield batch;
    }
  }
}

function toRange({ direction, afterId }: Course): Range {
  const all = { first: 1, last: Number.MAX_SAFE_INTEGER };
  if (afterId === undefined) return all;
  return direction === "up" ? { ...all, first: afterId + 1 } : { ...all, last: afterId - 1 };
}

/** Lists what is to be searched, in ascending order. */
function listPieces(blocks: readonly Block[], range: Range): readonly Part[] {
  const parts: Part[] = [];
  let current: Block[] = [];
  const endBlocks = () => {
    if (current.length > 0) parts.push(current);
    current = [];
  };
  for (const block of blocks) {
    if (block.last_row < range.first || block.first_row > range.last) continue;
    if (block.is_current === 1) current.push(block);
    else {
      endBlocks();
      parts.push({ first: Math.max(block.first_row, range.first), last: Math.min(block.last_row, range.last) });
    }
  }
  endBlocks();
  const rest = { first: Math.max(range.first, (blocks.at(-1)?.last_row ?? 0) + 1), last: range.last };
  return rest.first <= rest.last ? [...parts, rest] : parts;
}

/** Compares the records of a range. */
async function* scan(
  { table, searched, range, direction }: Search,
  context: Context,
): AsyncGenerator<readonly number[]> {
  const order = direction === "up" ? sql`asc` : sql`desc`;
  for (let { first, last } = range; first <= last;) {
    const { rows } = await sql<TextRow>`select * from (${selectRange(table, { first, last }, context)}) as listed
      where ${searched.mayBeIn("listed.text")} order by id ${order} limit ${maxAtOnce}`.execute(context.transaction);
    const found = selectFound(rows, searched, direction);
    if (found.length > 0) yield found;
    const end = rows.at(-1)?.id;
    if (end === undefined || rows.length < maxAtOnce) return;
    if (direction === "up") first = end + 1;
    else last = end - 1;
  }
}

function selectFound(rows: readonly TextRow[], searched: SearchedText, direction: "up" | "down"): number[] {
  const sign = direction === "up" ? 1 : -1;
  const found = rows.filter(({ text }) => searched.isIn(text)).map(({ id }) => id);
  return found.toSorted((a, b) => sign * (a - b));
}

const segmentOf = ({ block }: Pick<Block, "block">) => Math.floor(block / blocksPerSegment);

/** Finds the records of blocks in the index, and compares them. */
async function* lookUp(search: Search, blocks: readonly Block[], context: Context): AsyncGenerator<readonly number[]> {
  const { table, searched, direction } = search;
  const ordered = direction === "up" ? blocks : blocks.toReversed();
  const segments = [...new Set(ordered.map(segmentOf))];
  let ranking: Ranking = { parts: [...searched.parts], atOnce: searched.parts.size, endsEarly: false };
  for (let [at, count] = [0, 1]; at < segments.length; at += count, count *= growth) {
    const read = new Set(segments.slice(at, at + count));
    const { found, rows } = await findPositions({ table, segments: read, ...ranking }, context);
    const inOrder = ordered.flatMap(({ block }) => {
      const positions = found.get(block);
      return positions ? [{ block, positions }] : [];
    });
    yield* compare(search, inOrder, context);
    if (at > 0 || segments.length === 1) continue;
    // The texts of the other segments are about the same.
    const { ranked, few, found: sampled } = rankParts(searched.parts, rows);
    ranking = { parts: ranked, atOnce: few, endsEarly: sampled > 0 };
  }
}

interface Ranking {
  readonly parts: readonly number[];
  /** The number of parts that are looked up at once. The others follow until comparing the records is less work. */
  readonly atOnce: number;
  /** Whether no more follow as soon as one excludes few records. */
  readonly endsEarly: boolean;
}

interface LookedUp extends Ranking {
  readonly table: SearchedTable;
  readonly segments: ReadonlySet<number>;
}

async function findPositions({ table, segments, parts, atOnce, endsEarly }: LookedUp, context: Context) {
  const rows: PostingsRow[] = [];
  let found: Positions | undefined;
  let [count, left] = [Infinity, segments];
  for (let [from, to] = [0, atOnce]; ; [from, to] = [to, to + 1]) {
    const added = parts.slice(from, to);
    rows.push(...(await readPostings(table, { buckets: new Set(added.map(bucketOf)), segments: left }, context)));
    found = findWithParts(added, rows, found);
    const before = count;
    count = countPositions(found);
    const isEnough = count <= segments.size || (endsEarly && before - count < segments.size);
    if (isEnough || to >= parts.length) return { found, rows };
    left = new Set(Array.from(found.keys(), (block) => segmentOf({ block })));
  }
}

interface FoundPositions {
  readonly block: number;
  readonly positions: readonly number[];
}

/** Compares the records that were found, some at a time. */
async function* compare(
  { table, searched, range, direction, batches }: Search,
  found: readonly FoundPositions[],
  context: Context,
): AsyncGenerator<readonly number[]> {
  let waiting: FoundPositions[] = [];
  for (const [at, block] of found.entries()) {
    waiting.push(block);
    const count = waiting.reduce((sum, { positions }) => sum + positions.length, 0);
    if (count < batches.size && at < found.length - 1) continue;
    const ids = (await readIds(table, waiting, context)).filter((id) => id >= range.first && id <= range.last);
    waiting = [];
    const ordered = ids.toSorted((a, b) => (direction === "up" ? a - b : b - a));
    for (const compared of batches.split(ordered)) {
      const batch = batchOfIds(compared, context.dialect);
      const { rows } = await selectTexts(table, sql`${batch}`, accountIdOf(context)).execute(context.transaction);
      const matches = selectFound(rows, searched, direction);
      if (matches.length > 0) yield matches;
    }
  }
}

async function readIds(table: SearchedTable, found: readonly FoundPositions[], context: Context): Promise<number[]> {
  const rows = await context.transaction
    .selectFrom("search_blocks")
    .select(["block", "rows"])
    .where("account_id", "=", accountIdOf(context))
    .where("kind", "=", table)
    .where(
      "block",
      "in",
      found.map(({ block }) => block),
    )
    .execute();
  const byBlock = new Map(rows.map((row) => [row.block, row.rows]));
  return found.flatMap(({ block, positions }) => idsAt(positions, byBlock.get(block) ?? ""));
}

interface PageQuery {
  readonly search: string;
  readonly sort?: SearchSort | undefined;
  readonly limit?: number | undefined;
  readonly page_info?: string | undefined;
}

/** A page of records by ID. @param read reads those of the records with these IDs that meet the other filters, in any order */
export async function findPageByPart<R extends { readonly id: number }>(
  table: SearchedTable,
  { search, sort, limit = searchPage.default, page_info }: PageQuery,
  context: Context,
  read: (ids: readonly number[]) => Promise<readonly R[]>,
) {
  const size = Math.min(limit, searchPage.max);
  if (size === 0) throw invalidField("limit", "must be at least 1");
  const [afterId] = page_info === undefined ? [] : readCursor(page_info, 1);
  const course = { direction: sort === "oldest" ? "up" : "down", afterId, count: size + 1 } as const;
  const found: R[] = [];
  for await (const ids of findByPart(table, new SearchedText(search), course, context)) {
    const rows = new Map((await read(ids)).map((row) => [row.id, row]));
    found.push(...ids.flatMap((id) => rows.get(id) ?? []));
    if (found.length > size) break;
  }
  return toPage(found, size, ({ id }) => [id]);
}
