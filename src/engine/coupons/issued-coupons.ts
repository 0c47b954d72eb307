import { type CouponAction, emailKeyOf, type SentEmailCategory } from "../../contract/index.ts";
import { hasFeature, readEmailSettings } from "../accounts/account-settings.ts";
import { evaluateEmails, toDueEmail } from "../emails/rules/evaluation.ts";
import { findRow, sameAccount, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";
import { queueEmail } from "../kernel/outbox.ts";

/**
 * Issues the next code of an action. The writes of an account run one after the other, so each code is issued once.
 * @param orderRow the order whose review it is for
 * @returns undefined if no code is left
 */
export async function issueCoupon(
  action: CouponAction,
  { email, orderRow }: { readonly email: string; readonly orderRow: number | null },
  context: HandlerContext,
): Promise<string | undefined> {
  const next = await selectAccountRows("coupons", accountIdOf(context), context.transaction)
    .select(["id", "code"])
    .where("action", "=", action)
    .where("issued_at", "is", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (!next) return undefined;
  const issued = { issued_at: context.nowMs, issued_to: email, email_key: emailKeyOf(email), order_row: orderRow };
  await updateRows("coupons", issued, { id: next.id }, context);
  return next.code;
}

const category = "coupon_notification" satisfies SentEmailCategory;

/**
 * Thanks for published reviews with a coupon code, if the account sends them: one per order, for the first review that is
 * published, whatever its rating. Nothing is sent without a code that is left, or if a rule prevents the email.
 * Source: spec "Unsubscriber": coupon notification. Assumed: the order is the one whose email led to the review.
 * @returns the reviews whose authors received a coupon
 */
export async function thankForReviews(ids: readonly number[], context: HandlerContext): Promise<ReadonlySet<number>> {
  const thanked = new Set<number>();
  if (ids.length === 0) return thanked;
  const accountId = accountIdOf(context);
  if (!(await readEmailSettings(context, accountId)).send_coupons) return thanked;
  if (!(await hasFeature(context, "dynamic_coupons"))) return thanked;
  const reviews = await selectAccountRows("reviews", accountId, context.transaction)
    .innerJoin("users", sameAccount("users.id", "reviews.user_row"))
    .leftJoin("orders", sameAccount("orders.id", "reviews.order_row"))
    .select(["reviews.id", "reviews.order_row", "users.email", "users.display_name", "orders.language"])
    .where("reviews.id", "in", ids)
    .where("reviews.published", "=", 1)
    .where("reviews.order_row", "is not", null)
    .orderBy("reviews.id")
    .execute();
  for (const { id, order_row: orderRow, email, display_name: name, language } of reviews) {
    // Codes and reviews can be deleted, so either is enough.
    if (await findRow("coupons", ["id"], { order_row: orderRow }, context)) continue;
    if (await findRow("reviews", ["id"], { order_row: orderRow, received_coupon: 1 }, context)) continue;
    const decisions = await evaluateEmails([toDueEmail(category, email, context)], context);
    if (decisions.get(0)?.rule !== undefined) continue;
    const coupon_code = await issueCoupon("map_review", { email, orderRow }, context);
    if (coupon_code === undefined) break;
    await updateRows("reviews", { received_coupon: 1 }, { id }, context);
    await queueEmail(
      { accountId, category, email, name, data: () => ({ coupon_code, order_language: language }) },
      context,
    );
    thanked.add(id);
  }
  return thanked;
}
