import { createHmac } from "node:crypto";
import { readSettings, saveSetting } from "../accounts/account-settings.ts";
import type { HandlerContext } from "../kernel/handler.ts";

/** The setting with the key of the account's hashes, sealed. Only accounts that have erased a customer have one. */
const keySetting = "erasure_key";
const keyBytes = 32;

/** The kind of suppression of an erased address. */
export const erasedKind = "erased";

/**
 * Returns a function that hashes addresses with the account's key, so that a suppression does not reveal whose address it
 * is; undefined if the account has not erased anybody.
 */
export async function readAddressHasher(
  accountId: number,
  { transaction, sealer }: Pick<HandlerContext, "transaction" | "sealer">,
): Promise<((email: string) => string) | undefined> {
  const { [keySetting]: sealed } = await readSettings([keySetting], { transaction }, accountId);
  return typeof sealed === "string" ? createHasher(sealer.open(sealed)) : undefined;
}

const createHasher = (key: string) => (email: string) =>
  `erased:${createHmac("sha256", key).update(email.toLowerCase()).digest("hex")}`;

/** Suppresses emails to an address without storing the address. */
export async function suppressErased(email: string, accountId: number, context: HandlerContext): Promise<void> {
  const { transaction, random, sealer, nowMs } = context;
  let hash = await readAddressHasher(accountId, context);
  if (!hash) {
    const key = random(keyBytes).toString("hex");
    await saveSetting({ name: keySetting, value: sealer.seal(key) }, context, accountId);
    hash = createHasher(key);
  }
  await transaction
    .insertInto("mail_suppressions")
    .values({ account_id: accountId, email_key: hash(email), kind: erasedKind, mail_row: 0, created_at: nowMs })
    .onConflict((conflict) => conflict.columns(["account_id", "email_key", "kind"]).doNothing())
    .execute();
}
