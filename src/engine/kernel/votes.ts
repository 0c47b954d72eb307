import { sql } from "kysely";
import type { VoteType } from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";

/** What can be voted on, with its table. */
const tables = { review: "reviews", answer: "answers" } as const;

/** A vote on an existing, public row. */
interface NewVote {
  readonly target: keyof typeof tables;
  /** The row's ID. */
  readonly row: number;
  /** The row's account. */
  readonly accountId: number;
  readonly voteType: VoteType;
}

/**
 * Stores and counts a vote. A vote does not change the update time of its target.
 * Source: spec "Other": an incrementing index. Assumed: each call is a separate vote, because voters are anonymous.
 * @returns the vote's ID
 */
export async function castVote(
  { target, row, accountId, voteType }: NewVote,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<number> {
  const counter = sql.ref(`votes_${voteType}`);
  await sql`update ${sql.table(tables[target])} set ${counter} = ${counter} + 1 where id = ${row}`.execute(transaction);
  const { id } = await transaction
    .insertInto("votes")
    .values({ account_id: accountId, target, target_row: row, direction: voteType, created_at: nowMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}
