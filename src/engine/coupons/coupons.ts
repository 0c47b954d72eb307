import {
  type contract,
  type CouponAction,
  couponActions,
  couponCodeLength,
  couponErrorTexts,
  type ItemOutcome,
  outcomeOf,
  recordNotFound,
} from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import type { Row } from "../../storage/tables.ts";
import { deleteRows, selectAccountRows } from "../kernel/account-rows.ts";
import { bigintLiteral, textLiteral } from "../kernel/sql-literals.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { findPageByPart } from "../kernel/lists/part-search.ts";
import { partIndex } from "../kernel/lists/part-index.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { issueCoupon } from "./issued-coupons.ts";

export const couponHandlers: Handlers<typeof contract.coupons> = {
  /**
   * Stores coupon codes. Each code is either new or counted in one error category.
   * Assumed: codes are trimmed; `total_codes` counts all codes sent; a code is a duplicate if it is repeated in the list
   * or exists in the account under any action. As an outcome, a duplicate with the same action is unchanged, and one with
   * another action is dropped.
   */
  upload: async ({ coupon_action, codes, details }, context) => {
    await requireFeature(context, "dynamic_coupons");
    const trimmed = codes.map((code) => (code ?? "").trim());
    const filled = trimmed.filter((code) => code !== "");
    const fitting = filled.filter(isFitting);
    const stored = details === true ? await findActions(fitting, context) : undefined;
    const added = await insertCoupons(fitting, coupon_action, context);
    return {
      total_codes: codes.length,
      errors: {
        empty_cell: { error_text: couponErrorTexts.empty_cell, error_count: trimmed.length - filled.length },
        code_length: {
          error_text: couponErrorTexts.code_length,
          error_count: filled.length - fitting.length,
        },
        duplicate_code: { error_text: couponErrorTexts.duplicate_code, error_count: fitting.length - added },
      },
      "new-codes": added,
      ...(stored && { outcomes: listOutcomes(trimmed, coupon_action, stored) }),
    };
  },

  /** Assumed: codes are listed in upload order. */
  list: async ({ details = false }, context) => {
    await requireFeature(context, "dynamic_coupons");
    const found = await selectAccountRows("coupons", accountOf(context).id, context.transaction)
      .select(["code", "action", "issued_to", "issued_at"])
      .orderBy("id")
      .execute();
    return { coupons: details ? found.map(toDetailed) : found.map(({ code }) => ({ code })) };
  },

  search: operation("coupons.search", {
    before: () => partIndex(["coupons"]),
    run: async (query, context) => {
      await requireFeature(context, "dynamic_coupons");
      const { rows, pagination } = await findPageByPart("coupons", query, context, (ids) =>
        selectAccountRows("coupons", accountOf(context).id, context.transaction)
          .select(["id", "code", "action", "issued_to", "issued_at"])
          .where("id", "in", ids)
          .execute(),
      );
      return { coupons: rows.map(toDetailed), pagination };
    },
  }),

  /** Assumed: all actions are included, even those without codes. */
  stats: async ({ details = false }, context) => {
    await requireFeature(context, "dynamic_coupons");
    const counted = await selectAccountRows("coupons", accountOf(context).id, context.transaction)
      .select(({ fn }) => [
        "action",
        fn.countAll<number | bigint>().as("codes"),
        fn.count<number | bigint>("issued_at").as("issued"),
      ])
      .groupBy("action")
      .execute();
    const toStats = (count: (row: { readonly codes: number; readonly issued: number }) => number) => {
      const byAction = new Map(
        counted.map(({ action, codes, issued }) => [action, count({ codes: Number(codes), issued: Number(issued) })]),
      );
      return Object.fromEntries(couponActions.map((action) => [action, byAction.get(action) ?? 0]));
    };
    return {
      stats: toStats(({ codes }) => codes),
      ...(details && { left: toStats(({ codes, issued }) => codes - issued) }),
    };
  },

  /** Assumed: codes are issued in upload order. A customer may get several. */
  issue: async ({ coupon_action, email }, context) => {
    await requireFeature(context, "dynamic_coupons");
    const code = await issueCoupon(coupon_action, { email, orderRow: null }, context);
    if (code === undefined) throw recordNotFound("Coupon", "coupon_action", coupon_action, " that has not been issued");
    return { coupon: { code, coupon_action, email, issued_at: iso(context.nowMs) } };
  },

  delete: async ({ coupon_action }, context) => {
    await requireFeature(context, "dynamic_coupons");
    await deleteRows("coupons", { action: coupon_action }, context);
    return {};
  },
};

type ListedCoupon = Pick<Row<"coupons">, "code" | "action" | "issued_to" | "issued_at">;

function toDetailed({ code, action: coupon_action, issued_to, issued_at }: ListedCoupon) {
  return { code, coupon_action, issued_to, issued_at: issued_at === null ? null : iso(issued_at) };
}

/** Finds the actions of the codes that are already stored. */
async function findActions(codes: readonly string[], context: HandlerContext): Promise<Map<string, string>> {
  const rows = codes.map((code) => [code]);
  const found = await context.transaction
    .selectFrom(batchRows<{ code: string }>({ code: "text" }, rows, context.dialect))
    .crossJoin("coupons")
    .where("coupons.account_id", "=", accountOf(context).id)
    .whereRef("coupons.code", "=", "batch.code")
    .select(["coupons.code", "coupons.action"])
    .execute();
  return new Map(found.map(({ code, action }) => [code, action]));
}

/** @param stored the actions of the codes stored before the call */
function listOutcomes(
  codes: readonly string[],
  action: CouponAction,
  stored: ReadonlyMap<string, string>,
): ItemOutcome[] {
  const drop = (error: string) => outcomeOf("dropped", { dropped: [{ field: "code", error }] });
  const known = new Map(stored);
  return codes.map((code) => {
    if (code === "") return drop(couponErrorTexts.empty_cell);
    if (!isFitting(code)) return drop(couponErrorTexts.code_length);
    const before = known.get(code);
    known.set(code, before ?? action);
    if (before === undefined) return outcomeOf("created");
    return before === action ? outcomeOf("unchanged") : drop(couponErrorTexts.duplicate_code);
  });
}

function isFitting({ length }: string): boolean {
  return length >= couponCodeLength.min && length <= couponCodeLength.max;
}

/**
 * Stores the codes that the account does not have yet.
 * @returns the number of codes stored
 */
export async function insertCoupons(
  codes: readonly string[],
  action: CouponAction,
  context: HandlerContext,
): Promise<number> {
  const rows = codes.map((code) => [code]);
  const added = await context.transaction
    .insertInto("coupons")
    .columns(["account_id", "action", "code", "created_at"])
    .expression((eb) =>
      eb
        .selectFrom(batchRows<{ code: string }>({ code: "text" }, rows, context.dialect))
        .select([
          bigintLiteral(accountOf(context).id).as("account_id"),
          textLiteral(action).as("action"),
          "batch.code",
          bigintLiteral(context.nowMs).as("created_at"),
        ])
        .where(eb.lit(true)),
    )
    .onConflict((conflict) => conflict.columns(["account_id", "code"]).doNothing())
    // Citus includes the existing codes in its number of inserted rows.
    .returning("id")
    .execute();
  return added.length;
}
