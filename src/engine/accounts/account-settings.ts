import {
  mailSettingDefaults,
  type MailSettingName,
  mailSettingNames,
  type MailSettings,
  type MailSettingValue,
  readMailSetting,
} from "../../contract/index.ts";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** What an account has set of its mails itself, and nothing else. */
export async function readOwnMailSettings(
  { transaction }: Pick<Context, "transaction">,
  accountId: number,
): Promise<Partial<MailSettings>> {
  const rows = await transaction
    .selectFrom("account_settings")
    .select(["name", "value"])
    .where("account_id", "=", accountId)
    .where("name", "in", mailSettingNames)
    .execute();
  const read = rows.flatMap(({ name, value }) => {
    // What another version has stored may be out of this one's bounds.
    const found = readMailSetting(name as MailSettingName, JSON.parse(value));
    return "value" in found ? [[name, found.value] as const] : [];
  });
  return Object.fromEntries(read);
}

/** The settings of an account's mails: its own, and for the others what they are by themselves. */
export async function readMailSettings(
  context: Pick<Context, "transaction">,
  accountId: number,
): Promise<MailSettings> {
  return { ...mailSettingDefaults, ...(await readOwnMailSettings(context, accountId)) };
}

/** Keeps an account's own value of a setting; null takes it back to what it is by itself. */
export async function keepMailSetting(
  { name, value }: { readonly name: MailSettingName; readonly value: MailSettingValue | null },
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
