import { type EmailCategory, type EmailSettings, emailTypeOf } from "../../../contract/index.ts";
import { dayMs } from "../../../contract/time.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { recordEmailEvent } from "../../kernel/email-log.ts";
import type { HandlerContext } from "../../kernel/handler.ts";

/** The reminders of review requests and coupons, and the settings that turn them on. */
const reminders: Readonly<Record<string, readonly [EmailCategory, keyof EmailSettings]>> = {
  map: ["reminder", "send_reminders"],
  resend_map: ["reminder", "send_reminders"],
  mail_after_invoice: ["site_reminder", "send_site_reminders"],
  coupon_notification: ["coupon_reminder", "send_coupon_reminders"],
};

/**
 * Queues the reminder of an email that was sent, if the account sends reminders. The rules are evaluated when it
 * is due.
 * Assumed: a review request has one reminder, about the same products, and a coupon code, too; a reminder has none.
 */
export async function queueReminder(
  sent: Row<"mails">,
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const reminder = reminders[sent.category];
  // Test emails have no order.
  const isOfOrder = sent.order_row !== null;
  if (!reminder || isOfOrder === (sent.category === "coupon_notification")) return;
  const [category, setting] = reminder;
  const settings = await readEmailSettings({ transaction, dialect }, sent.account_id);
  if (settings[setting] !== true) return;
  const { account_id, email, email_key, name, order_row, product_row, created_at } = sent;
  const queued = await transaction
    .insertInto("mails")
    .values({
      account_id,
      email,
      email_key,
      name,
      order_row,
      product_row,
      category,
      email_type_id: emailTypeOf[category],
      // The products of a review request are chosen when the reminder is due.
      data: isOfOrder ? "{}" : sent.data,
      state: "queued",
      due_at: nowMs + settings.remind_after_days * dayMs,
      // The time of the review request, which determines the products of an email about an entire order.
      created_at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "order_row", "product_row", "category", "resends"])
        .where("order_row", "is not", null)
        .doNothing(),
    )
    .returning("id")
    .executeTakeFirst();
  // Emails of orders are counted when they are sent.
  if (!queued || isOfOrder) return;
  await recordEmailEvent({ accountId: account_id, mailId: queued.id, category, event: "requested" }, context);
}
