import { dayMs, hourMs, minuteMs } from "../../../contract/time.ts";
import type { Row } from "../../../storage/tables.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** Delay after each deferred attempt. The last one applies to all further attempts. */
export const retryDelaysMs: readonly number[] = [
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  4 * hourMs,
  12 * hourMs,
];

/** Assumed: a server that has not accepted an email within three days never will. */
export const giveUpAfterMs = 3 * dayMs;

/** Returns when to try a deferred email again, in milliseconds, or undefined to give it up. */
export async function findNextAttempt(
  email: Pick<Row<"mails">, "id" | "account_id" | "attempts">,
  context: Context,
): Promise<number | undefined> {
  const { nowMs } = context;
  const lastAtMs = (await findFirstAttempt(email, context)) + giveUpAfterMs;
  if (nowMs >= lastAtMs) return undefined;
  const delayMs = retryDelaysMs[Math.min(email.attempts, retryDelaysMs.length) - 1] ?? 0;
  return Math.min(nowMs + delayMs, lastAtMs);
}

/** Returns the time of the first attempt, in milliseconds. */
async function findFirstAttempt(
  { id, account_id }: Pick<Row<"mails">, "id" | "account_id">,
  { transaction, nowMs }: Context,
): Promise<number> {
  const first = await selectAccountRows("mail_events", account_id, transaction)
    .select("occurred_at")
    .where("mail_row", "=", id)
    .where("event", "=", "begun")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return first?.occurred_at ?? nowMs;
}
