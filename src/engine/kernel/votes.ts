import { type RawBuilder, sql } from "kysely";
import { recordNotFound, type ServiceError, type VoteType } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { HandlerContext } from "./handler.ts";

/** What can be voted on, with its table. */
const tables = { review: "reviews", answer: "answers" } as const;
const names = { review: "Review", answer: "Answer" } as const;

type Target = keyof typeof tables;

/** A vote on a review or an answer, by ID. */
export interface NewVote {
  readonly row: number;
  readonly voteType: VoteType;
}

/** In the order in which the rows are passed to the statements. */
const voteColumns = { row: "integer", direction: "text" } as const;

const countColumns = { row: "integer", up: "integer", down: "integer" } as const;

type Slot<V> = (name: keyof V & string) => RawBuilder<unknown>;

interface VoteValues {
  accountId: number;
  nowMs: number;
  rows: string;
}

const insertVotes = (target: Target) => (slot: Slot<VoteValues>, dialect: StorageDialect) =>
  sql`
  insert into votes (account_id, target, target_row, direction, created_at)
  select cast(${slot("accountId")} as bigint), ${sql.lit(target)}, batch.row, batch.direction,
    cast(${slot("nowMs")} as bigint)
  from ${batchOf(voteColumns, slot("rows"), dialect)} cross join ${sql.table(tables[target])} as voted
  where voted.account_id = ${slot("accountId")} and voted.id = batch.row and voted.published = 1
  ${dialect.inBatchOrder}
  returning id, target_row`;

interface CountValues {
  accountId: number;
  rows: string;
}

/** Without its index on accounts, SQLite finds rows by ID instead of reading all rows of the account. */
const countVotes = (target: Target) => (slot: Slot<CountValues>, dialect: StorageDialect) => {
  const table = sql.table(tables[target]);
  return sql`
    update ${table} set votes_up = votes_up + batch.up, votes_down = votes_down + batch.down
    from ${batchOf(countColumns, slot("rows"), dialect)}
    where ${dialect.withoutIndex(sql.ref(`${tables[target]}.account_id`))} = ${slot("accountId")}
      and ${table}.id = batch.row and ${dialect.withoutIndex(sql.ref(`${tables[target]}.published`))} = 1`;
};

/** The response to a vote, with its ID. */
interface Voted {
  readonly vote: { readonly id: number };
}

type StoredVote = { readonly id: number; readonly target_row: number };

const statementsOf = (target: Target) => ({
  insert: createStatement<VoteValues, StoredVote>(insertVotes(target)),
  count: createStatement<CountValues>(countVotes(target)),
});

const statements = { review: statementsOf("review"), answer: statementsOf("answer") } as const;

/**
 * Stores and counts votes of calls, with a constant number of statements. A vote does not change the update time of its target.
 * Source: spec "Other": an incrementing index. Assumed: each call is a separate vote, because voters are anonymous.
 * @returns the response of each call, or the error for a row that does not exist or is not published
 */
export async function castVotes(
  target: Target,
  votes: readonly NewVote[],
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "ownerId">,
): Promise<readonly (Voted | ServiceError)[]> {
  const { transaction, dialect, nowMs, ownerId: accountId } = context;
  const reject = ({ row }: NewVote) => recordNotFound(names[target], "id", row);
  if (accountId === undefined) return votes.map(reject);
  const counts = new Map<number, { up: number; down: number }>();
  for (const { row, voteType } of votes) {
    const count = counts.get(row) ?? { up: 0, down: 0 };
    count[voteType] += 1;
    counts.set(row, count);
  }
  const rows = JSON.stringify(votes.map(({ row, voteType }) => [row, voteType]));
  const counted = JSON.stringify(Array.from(counts, ([row, { up, down }]) => [row, up, down]));
  const [{ rows: stored }] = await dialect.runAll([
    () => statements[target].insert(transaction, dialect, { accountId, nowMs, rows }),
    () => statements[target].count(transaction, dialect, { accountId, rows: counted }),
  ]);
  // IDs increase in the order of the batch; the order in which rows are returned is not defined.
  const ids = stored.map(({ id }) => id).toSorted((a, b) => a - b);
  const existing = new Set(stored.map(({ target_row }) => target_row));
  let next = 0;
  return votes.map((vote) => (existing.has(vote.row) ? { vote: { id: ids[next++] ?? 0 } } : reject(vote)));
}
