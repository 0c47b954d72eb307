import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { dayMs, hourMs, minuteMs } from "../../../contract/time.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** How long a mail waits after its first, second… attempt that its server put off; after all further ones as long as the last. */
export const retryDelaysMs: readonly number[] = [
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  4 * hourMs,
  12 * hourMs,
];

/** Assumed: mail servers put off for a while, and who has not taken a mail in three days never will. */
export const giveUpAfterMs = 3 * dayMs;

/** When a mail that was put off is tried again, milliseconds; nothing where it is to be given up. */
export async function findNextAttempt(
  mail: Pick<Row<"mails">, "id" | "attempts">,
  context: Context,
): Promise<number | undefined> {
  const { nowMs } = context;
  const lastAtMs = (await readFirstAttempt(mail, context)) + giveUpAfterMs;
  if (nowMs >= lastAtMs) return undefined;
  const waitMs = retryDelaysMs[Math.min(mail.attempts, retryDelaysMs.length) - 1] ?? 0;
  return Math.min(nowMs + waitMs, lastAtMs);
}

/** When the first attempt was made that counted, milliseconds. */
async function readFirstAttempt(
  { id }: Pick<Row<"mails">, "id">,
  { transaction, nowMs }: Context,
): Promise<number> {
  const first = await transaction
    .selectFrom("mail_events")
    .select("occurred_at")
    .where("mail_row", "=", id)
    .where("event", "=", "begun")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return first?.occurred_at ?? nowMs;
}
