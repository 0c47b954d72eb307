import { sql } from "kysely";
import { emailSendingLimits } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { dayOf } from "../kernel/times.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** What an account may send through a mail server. */
export interface EmailPermission {
  readonly isEnabled: boolean;
  /** Emails per day (UTC). */
  readonly dailyQuota: number;
  /** Emails that count toward today's quota. */
  readonly usedToday: number;
}

const selectPermission = createStatement<{ accountId: number }, Omit<Row<"email_permissions">, "account_id">>(
  (slot) => sql`
    select enabled_at, daily_quota, quota_day, quota_used from email_permissions
    where account_id = ${slot("accountId")}`,
);

export async function readEmailPermission(
  accountId: number,
  context: Context & Pick<HandlerContext, "dialect">,
): Promise<EmailPermission> {
  const [row] = (await selectPermission(context.transaction, context.dialect, { accountId })).rows;
  return {
    isEnabled: row !== undefined && row.enabled_at !== null,
    dailyQuota: row?.daily_quota ?? emailSendingLimits.perDay.default,
    usedToday: row?.quota_day === dayOf(context.nowMs) ? row.quota_used : 0,
  };
}

/** Changes whether an account may send emails, or its quota; null restores the default quota. */
export async function saveEmailPermission(
  accountId: number,
  change: { readonly enabled_at?: number | null; readonly daily_quota?: number | null },
  { transaction }: Pick<Context, "transaction">,
): Promise<void> {
  await transaction
    .insertInto("email_permissions")
    .values({ account_id: accountId, enabled_at: null, ...change })
    .onConflict((conflict) => conflict.columns(["account_id"]).doUpdateSet(change))
    .execute();
}

/** Counts an email toward today's quota. The caller has checked the quota in the same write transaction. */
export async function takeFromQuota(accountId: number, { transaction, nowMs }: Context): Promise<void> {
  const quota_day = dayOf(nowMs);
  await transaction
    .insertInto("email_permissions")
    .values({ account_id: accountId, enabled_at: null, quota_day, quota_used: 1 })
    .onConflict((conflict) =>
      conflict.columns(["account_id"]).doUpdateSet((eb) => ({
        quota_day,
        quota_used: eb
          .case()
          .when("email_permissions.quota_day", "=", quota_day)
          .then(eb("email_permissions.quota_used", "+", 1))
          .else(1)
          .end(),
      })),
    )
    .execute();
}

/** Reverts `takeFromQuota` for an email that the mail server did not accept, unless the day has changed. */
export async function returnToQuota(accountId: number, { transaction, nowMs }: Context): Promise<void> {
  await updateAccountRows("email_permissions", accountId, transaction)
    .set((eb) => ({ quota_used: eb("quota_used", "-", 1) }))
    .where("quota_day", "=", dayOf(nowMs))
    .where("quota_used", ">", 0)
    .execute();
}

/** Returns the keys of the approved recipients of test emails. */
export async function listTestRecipients(
  accountId: number,
  { transaction }: Pick<Context, "transaction">,
): Promise<readonly string[]> {
  const rows = await selectAccountRows("test_recipients", accountId, transaction)
    .select("email_key")
    .orderBy("email_key")
    .execute();
  return rows.map(({ email_key }) => email_key);
}
