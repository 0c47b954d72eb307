import { sql } from "kysely";
import { createStatement } from "../../../storage/statement.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { isOfActiveAccount } from "./claims.ts";

const selectOldest = createStatement<{ nowMs: number }, { readonly due_at: number }>(
  (slot) => sql`
    select due_at from mails
    where state = 'queued' and due_at <= ${slot("nowMs")} and held_at is null and ${isOfActiveAccount}
    order by due_at limit 1`,
);

/**
 * Measures how long the oldest email of all accounts has been due, in milliseconds; 0 if none is due. Held emails and
 * those of disabled accounts do not count. An email whose attempt failed is due again at its next attempt.
 */
export async function measureEmailDelay({
  transaction,
  dialect,
  nowMs,
}: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">): Promise<number> {
  const { rows } = await selectOldest(transaction, dialect, { nowMs });
  return rows[0] ? nowMs - rows[0].due_at : 0;
}
