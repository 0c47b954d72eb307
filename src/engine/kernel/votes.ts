import { sql } from "kysely";
import type { VoteType } from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";

/** What can be voted on, and the table that it is in. */
const tables = { review: "reviews", answer: "answers" } as const;

/** A vote on a row that is known to be there, and to be public. */
interface NewVote {
  readonly target: keyof typeof tables;
  /** The row's id. */
  readonly row: number;
  /** The account that the row is of. */
  readonly accountId: number;
  readonly voteType: VoteType;
}

/**
 * Counts a vote, and keeps it. A vote is no change of what is voted on: its time of change stays.
 * Source: spec "Other": an incrementing index. Assumed: each call is a vote of its own, since no call says who votes.
 * @returns the vote's id
 */
export async function castVote(
  { target, row, accountId, voteType }: NewVote,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<number> {
  const counter = sql.ref(`votes_${voteType}`);
  await sql`update ${sql.table(tables[target])} set ${counter} = ${counter} + 1 where id = ${row}`.execute(
    transaction,
  );
  const { id } = await transaction
    .insertInto("votes")
    .values({ account_id: accountId, target, target_row: row, direction: voteType, created_at: nowMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}
