import { type EmailCategory, emailTypeOf } from "../../../contract/index.ts";
import { dayMs } from "../../../contract/time.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import type { HandlerContext } from "../../kernel/handler.ts";

const requests: ReadonlySet<string> = new Set<EmailCategory>(["map", "resend_map"]);
const reminder = "reminder" satisfies EmailCategory;

/**
 * Queues the reminder of a review request that was sent, if the account sends reminders. The rules are evaluated when it
 * is due.
 * Assumed: a review request has one reminder, about the same products; a reminder has none.
 */
export async function queueReminder(
  sent: Row<"mails">,
  { transaction, dialect, nowMs }: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<void> {
  if (!requests.has(sent.category) || sent.order_row === null) return;
  const { send_reminders, remind_after_days } = await readEmailSettings({ transaction, dialect }, sent.account_id);
  if (!send_reminders) return;
  const { account_id, email, email_key, name, order_row, product_row, created_at } = sent;
  await transaction
    .insertInto("mails")
    .values({
      account_id,
      email,
      email_key,
      name,
      order_row,
      product_row,
      category: reminder,
      email_type_id: emailTypeOf[reminder],
      data: "{}",
      state: "queued",
      due_at: nowMs + remind_after_days * dayMs,
      // The time of the review request, which determines the products of an email about an entire order.
      created_at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "order_row", "product_row", "category", "resends"])
        .where("order_row", "is not", null)
        .doNothing(),
    )
    .execute();
}
