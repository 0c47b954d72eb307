import { type RawBuilder, sql } from "kysely";
import { batchRows } from "../../../storage/batch.ts";
import { runInSlices } from "../../../storage/loop-turn.ts";
import { createAccountWalk } from "../account-walk.ts";
import { accountIdOf, type EngineWork, type HandlerContext, type Preparation } from "../handler.ts";
import {
  blockSize,
  blocksPerSegment,
  bucketCount,
  type PostingsRow,
  removeSection,
  writeIds,
  writeSections,
} from "./postings.ts";

export type Context = Pick<HandlerContext, "transaction" | "dialect" | "account" | "ownerId">;

interface SearchedKind {
  /** The texts that are searched, by the account. */
  readonly texts: (accountId: number) => readonly RawBuilder<unknown>[];
  /** Which rows are searched (default: all). */
  readonly filter?: RawBuilder<unknown>;
  /**
   * Lists an account's IDs in a file, where the table has no index of them: a query with the column `id`, in which they may be
   * repeated.
   */
  readonly listInFile?: (accountId: number) => RawBuilder<unknown>;
}

function listColumns(table: string, ...columns: readonly string[]) {
  return () => columns.map((name) => sql.ref(`${table}.${name}`));
}

/** The records that are found by a part of their texts, by table. */
const searchedKinds = {
  orders: {
    texts: listColumns("orders", "order_id", "email", "customer_name"),
    // Each order has purchases.
    listInFile: (accountId) => sql`select order_row as id from purchases where account_id = ${accountId}`,
  },
  mails: {
    // Not a join, for which planners could read all orders.
    texts: (accountId) => [
      ...listColumns("mails", "email", "name")(),
      sql`(select order_id from orders where orders.account_id = ${accountId} and orders.id = mails.order_row)`,
    ],
  },
  unsubscribers: { texts: listColumns("unsubscribers", "email") },
  products: { texts: listColumns("products", "product_id", "name") },
  coupons: { texts: listColumns("coupons", "code") },
  users: { texts: listColumns("users", "email", "display_name"), filter: sql`and users.kind = 'shopper'` },
} as const satisfies Readonly<Record<string, SearchedKind>>;
export type SearchedTable = keyof typeof searchedKinds;

const kindOf = (table: SearchedTable): SearchedKind => searchedKinds[table];
const allKinds = Object.keys(searchedKinds) as readonly SearchedTable[];

export interface TextRow {
  readonly id: number;
  /** The texts of a record, one per line. */
  readonly text: string;
}

const columnsOf = ({ texts }: SearchedKind, accountId: number) => {
  const lines = texts(accountId).map((text) => sql`coalesce(${text}, '')`);
  return sql.join(lines, sql` || ${"\n"} || `);
};

/** Selects the texts of records. @param ids a table of them with the name `batch` */
export function selectTexts(table: SearchedTable, ids: RawBuilder<unknown>, accountId: number): RawBuilder<TextRow> {
  const kind = kindOf(table);
  return sql`select ${sql.ref(`${table}.id`)} as id, ${columnsOf(kind, accountId)} as text
    from ${ids} cross join ${sql.table(table)}
    where ${sql.ref(`${table}.account_id`)} = ${accountId} and ${sql.ref(`${table}.id`)} = batch.id`;
}

const listInFileOf = (table: SearchedTable, { keysHaveAccounts }: Context["dialect"]) =>
  keysHaveAccounts ? undefined : kindOf(table).listInFile;

/** A subquery of the IDs of an account's records, which can be compared and sorted with an index. An ID may be repeated. */
function listRepeatedIds(table: SearchedTable, accountId: number, dialect: Context["dialect"]) {
  const { filter = sql`` } = kindOf(table);
  const inFile = listInFileOf(table, dialect)?.(accountId);
  return sql`(${inFile ?? sql`select id from ${sql.table(table)} where account_id = ${accountId} ${filter}`}) as listed`;
}

/** Like {@link listRepeatedIds}, with each ID once. */
function listIds(table: SearchedTable, accountId: number, dialect: Context["dialect"]) {
  const listed = listRepeatedIds(table, accountId, dialect);
  return listInFileOf(table, dialect) ? sql`(select distinct id from ${listed}) as listed` : listed;
}

/** Selects the texts of the records in a range of IDs. */
export function selectRange(
  table: SearchedTable,
  { first, last }: { readonly first: number; readonly last: number },
  context: Context,
): RawBuilder<TextRow> {
  const accountId = accountIdOf(context);
  const kind = kindOf(table);
  // Planners expect other numbers of rows in a range, and would join them with a complete table.
  if (listInFileOf(table, context.dialect)) {
    const ids = sql`(select id from ${listIds(table, accountId, context.dialect)}
      where id between ${first} and ${last} ${context.dialect.optimizationFence}) as batch`;
    return selectTexts(table, ids, accountId);
  }
  return sql`select ${sql.ref(`${table}.id`)} as id, ${columnsOf(kind, accountId)} as text
    from ${sql.table(table)} where ${sql.ref(`${table}.account_id`)} = ${accountId}
      and ${sql.ref(`${table}.id`)} between ${first} and ${last} ${kind.filter ?? sql``}
    ${context.dialect.optimizationFence}`;
}

/** A block of records. */
export interface Block {
  readonly block: number;
  readonly first_row: number;
  readonly last_row: number;
  readonly is_current: number;
}

/** Reads the blocks of the index in their order. */
export async function readBlocks(table: SearchedTable, context: Context): Promise<readonly Block[]> {
  return context.transaction
    .selectFrom("search_blocks")
    .select(["block", "first_row", "last_row", "is_current"])
    .where("account_id", "=", accountIdOf(context))
    .where("kind", "=", table)
    .orderBy("block")
    .execute();
}

/**
 * Indexes records before a search of them, as far as they are enough for a block; the rest is searched without the index. They
 * are not indexed when they are stored, because that would slow imports.
 */
export function partIndex(tables: readonly SearchedTable[]): Preparation {
  return {
    isDue: async (context) => (await findDue(tables, context)) !== undefined,
    write: async (context) => {
      const table = await findDue(tables, context);
      if (table !== undefined) await indexBlock(table, context);
    },
  };
}

/**
 * Finds accounts with a block of orders to index, all of whose records are then indexed. A table with other records is indexed
 * with them, or before the first search.
 */
export const findAccountsToIndex = createAccountWalk(
  (accountId) => sql`
    select 1 from (
      select order_row from purchases where purchases.account_id = ${accountId} and purchases.order_row > (
        select coalesce(max(last_row), 0) from search_blocks
        where search_blocks.account_id = ${accountId} and search_blocks.kind = 'orders'
      ) order by purchases.order_row limit 1 offset ${sql.lit(blockSize - 1)}
    ) as added`,
);

/** Indexes the next block of an account's records. @returns the number of blocks */
export async function indexNextBlock(accountId: number, { read, write }: EngineWork): Promise<number> {
  const { isDue, write: index } = partIndex(allKinds);
  if (!(await read((context) => isDue({ ...context, ownerId: accountId })))) return 0;
  await write(accountId, (context) => index({ ...context, ownerId: accountId }));
  return 1;
}

/** IDs among which the records of a block are, unless accounts share a table. */
const nearIds = 16 * blockSize;

/**
 * The IDs that follow one in their order: the near ones, of which a planner that reads and sorts all reads few, or any number.
 */
const idsAfter = {
  near: (id: RawBuilder<unknown>) => sql`id > ${id} and id <= ${id} + ${sql.lit(nearIds)}`,
  all: (id: RawBuilder<unknown>) => sql`id > ${id}`,
};

/** How far the records of an account are indexed. */
interface IndexState {
  readonly kind: SearchedTable;
  /** The last record of the index. */
  readonly last: number;
  /** 0 if texts of the index have changed; null if it is empty. */
  readonly is_current: number | null;
  readonly newest: number | null;
}

/** Finds a table with records to index. */
async function findDue(tables: readonly SearchedTable[], context: HandlerContext): Promise<SearchedTable | undefined> {
  const accountId = context.account?.id ?? context.ownerId;
  // The handler rejects calls that concern no account.
  if (accountId === undefined) return undefined;
  const { dialect } = context;
  const selectState = (table: SearchedTable) => {
    const newest = sql`(select id from ${listRepeatedIds(table, accountId, dialect)} order by id desc limit 1)`;
    return sql`select cast(${table} as text) as kind, coalesce(max(last_row), 0) as last, min(is_current) as is_current,
      ${newest} as newest from search_blocks where account_id = ${accountId} and kind = ${table}`;
  };
  const states = sql<IndexState>`${sql.join(tables.map(selectState), sql` union all `)}`;
  const { rows } = await states.execute(context.transaction);
  const changed = rows.find(({ is_current }) => is_current === 0);
  if (changed) return changed.kind;
  // A block has many records, so they are counted only if there may be enough, and only as far as necessary.
  const added = rows.flatMap(({ kind, last, newest }) => {
    if ((newest ?? 0) < last + blockSize) return [];
    return Object.values(idsAfter).map(
      (follows) => sql`select * from (select cast(${kind} as text) as kind from ${listIds(kind, accountId, dialect)}
        where ${follows(sql`cast(${last} as bigint)`)} order by id limit 1 offset ${sql.lit(blockSize - 1)}) as due`,
    );
  });
  if (added.length === 0) return undefined;
  const due = sql<Pick<IndexState, "kind">>`${sql.join(added, sql` union all `)} limit 1`;
  return (await due.execute(context.transaction)).rows[0]?.kind;
}

/** Indexes the next block, or one whose texts have changed. */
async function indexBlock(table: SearchedTable, context: HandlerContext): Promise<void> {
  const accountId = accountIdOf(context);
  const { transaction } = context;
  const blocks = await readBlocks(table, context);
  const changed = blocks.find(({ is_current }) => is_current === 0);
  const last = blocks.at(-1);
  const block = changed?.block ?? (last?.block ?? -1) + 1;
  const sorted = await readTexts(table, changed ?? { after: last?.last_row ?? 0 }, context);
  const sections = await runInSlices(
    writeSections(
      block,
      sorted.map(({ text }) => text),
    ),
  );
  if (changed) await removeSections(table, [block], context);
  await appendSections({ table, block, sections }, context);
  const values = {
    rows: writeIds(sorted.map(({ id }) => id)),
    is_current: 1,
  };
  if (changed) {
    await transaction
      .updateTable("search_blocks")
      .set(values)
      .where("account_id", "=", accountId)
      .where("kind", "=", table)
      .where("block", "=", block)
      .execute();
    return;
  }
  const [first_row, last_row] = [sorted[0]?.id ?? 0, sorted.at(-1)?.id ?? 0];
  await transaction
    .insertInto("search_blocks")
    .values({ account_id: accountId, kind: table, block, first_row, last_row, ...values })
    .execute();
}

/** Reads the records of a block, or as many after an ID. */
async function readTexts(
  table: SearchedTable,
  range: Block | { readonly after: number },
  context: HandlerContext,
): Promise<readonly TextRow[]> {
  const accountId = accountIdOf(context);
  const conditions =
    "after" in range
      ? Object.values(idsAfter).map((follows) => follows(sql`cast(${range.after} as bigint)`))
      : [sql`id between ${range.first_row} and ${range.last_row}`];
  let texts: readonly TextRow[] = [];
  for (const condition of conditions) {
    const ids = sql`(select id from ${listIds(table, accountId, context.dialect)} where ${condition}
      order by id limit ${sql.lit(blockSize)}) as batch`;
    texts = (await selectTexts(table, ids, accountId).execute(context.transaction)).rows;
    if (texts.length === blockSize) break;
  }
  return texts.toSorted((a, b) => a.id - b.id);
}

interface BlockSections {
  readonly table: SearchedTable;
  readonly block: number;
  /** By bucket. */
  readonly sections: readonly string[];
}

const segmentOf = (block: number) => Math.floor(block / blocksPerSegment);

async function appendSections({ table, block, sections }: BlockSections, context: Context): Promise<void> {
  const rows = sections.flatMap((section, bucket) => (section === "" ? [] : [[bucket, section] as const]));
  const appended = sql`search_postings.postings || excluded.postings`;
  await savePostings({ table, segment: segmentOf(block), rows, merged: appended }, context);
}

interface SavedPostings {
  readonly table: SearchedTable;
  readonly segment: number;
  readonly rows: readonly (readonly [bucket: number, postings: string])[];
  /** The new postings of a row that exists. */
  readonly merged: RawBuilder<unknown>;
}

async function savePostings({ table, segment, rows, merged }: SavedPostings, context: Context): Promise<void> {
  await sql`insert into search_postings (account_id, kind, bucket, segment, postings)
    select cast(${accountIdOf(context)} as bigint), cast(${table} as text), batch.bucket, cast(${segment} as bigint),
      batch.postings
    from ${batchRows({ bucket: "integer", postings: "text" }, rows, context.dialect)} where true
    on conflict (account_id, kind, bucket, segment) do update set postings = ${merged}`.execute(context.transaction);
}

/** Reads rows of the index. */
export async function readPostings(
  table: SearchedTable,
  { buckets, segments }: { readonly buckets: Iterable<number>; readonly segments: Iterable<number> },
  context: Context,
): Promise<readonly PostingsRow[]> {
  const pairs = [...buckets].flatMap((bucket) => Array.from(segments, (segment) => [bucket, segment]));
  // One lookup per row: a planner whose statistics are old could read all rows of the account for a join.
  const { rows } = await sql<PostingsRow>`
    select batch.bucket, batch.segment, coalesce((select search_postings.postings from search_postings
      where search_postings.account_id = ${accountIdOf(context)} and search_postings.kind = ${table}
        and search_postings.bucket = batch.bucket and search_postings.segment = batch.segment), '') as postings
    from ${batchRows({ bucket: "integer", segment: "integer" }, pairs, context.dialect)}`.execute(context.transaction);
  return rows;
}

/** Removes what the index contains about the records of blocks. */
async function removeSections(table: SearchedTable, blocks: readonly number[], context: Context): Promise<void> {
  const segments = new Set(blocks.map(segmentOf));
  for (const segment of segments) {
    const buckets = Array.from({ length: bucketCount }, (_, bucket) => bucket);
    const rows = await readPostings(table, { buckets, segments: [segment] }, context);
    const kept = rows.flatMap(({ bucket, postings }) => {
      const left = blocks.reduce((text, block) => removeSection(text, segment, block), postings);
      return left === postings ? [] : [[bucket, left] as const];
    });
    await savePostings({ table, segment, rows: kept, merged: sql`excluded.postings` }, context);
  }
}

/**
 * Notes that texts of records have changed: their blocks are searched without the index until they are indexed again.
 * @returns the blocks
 */
export async function noteChangedTexts(
  table: SearchedTable,
  ids: readonly number[],
  context: Context,
): Promise<readonly number[]> {
  if (ids.length === 0) return [];
  const blocks = await readBlocks(table, context);
  const changed = blocks
    .filter(({ first_row, last_row }) => ids.some((id) => id >= first_row && id <= last_row))
    .map(({ block }) => block);
  if (changed.length === 0) return [];
  await context.transaction
    .updateTable("search_blocks")
    .set({ is_current: 0 })
    .where("account_id", "=", accountIdOf(context))
    .where("kind", "=", table)
    .where("block", "in", changed)
    .execute();
  return changed;
}

/** Removes records from the index that must not be found any more, together with the others of their blocks. */
export async function removeFromIndex(table: SearchedTable, ids: readonly number[], context: Context): Promise<void> {
  const blocks = await noteChangedTexts(table, ids, context);
  if (blocks.length > 0) await removeSections(table, blocks, context);
}
