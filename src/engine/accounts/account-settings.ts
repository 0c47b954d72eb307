import {
  emailSettingDefaults,
  type EmailSettingName,
  emailSettingNames,
  type EmailSettings,
  type EmailSettingValue,
  parseEmailSetting,
} from "../../contract/index.ts";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** What an account has set of its mails itself, and nothing else. */
export async function readOwnEmailSettings(
  { transaction }: Pick<Context, "transaction">,
  accountId: number,
): Promise<Partial<EmailSettings>> {
  const rows = await transaction
    .selectFrom("account_settings")
    .select(["name", "value"])
    .where("account_id", "=", accountId)
    .where("name", "in", emailSettingNames)
    .execute();
  const read = rows.flatMap(({ name, value }) => {
    // What another version has stored may be out of this one's bounds.
    const found = parseEmailSetting(name as EmailSettingName, JSON.parse(value));
    return "value" in found ? [[name, found.value] as const] : [];
  });
  return Object.fromEntries(read);
}

/** The settings of an account's mails: its own, and for the others what they are by themselves. */
export async function readEmailSettings(
  context: Pick<Context, "transaction">,
  accountId: number,
): Promise<EmailSettings> {
  return { ...emailSettingDefaults, ...(await readOwnEmailSettings(context, accountId)) };
}

/** Keeps an account's own value of a setting; null takes it back to what it is by itself. */
export async function saveEmailSetting(
  { name, value }: { readonly name: EmailSettingName; readonly value: EmailSettingValue | null },
  { transaction, nowMs }: Context,
  account_id: number,
): Promise<void> {
  if (value === null) {
    await transaction
      .deleteFrom("account_settings")
      .where("account_id", "=", account_id)
      .where("name", "=", name)
      .execute();
    return;
  }
  const kept = { value: JSON.stringify(value), updated_at: nowMs };
  await transaction
    .insertInto("account_settings")
    .values({ account_id, name, ...kept })
    .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(kept))
    .execute();
}
