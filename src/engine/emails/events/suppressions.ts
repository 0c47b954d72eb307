import { type contract, type CustomerSuppression, emailKeyOf, type SuppressionKind } from "../../../contract/index.ts";
import { deleteAccountRows } from "../../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../../kernel/handler.ts";
import { createHmac } from "node:crypto";
import { readSettings, saveSetting } from "../../accounts/account-settings.ts";

/** The rule that prevents emails to a suppressed address. */
export const ruleOfSuppression = {
  bounces: "bounced_before",
  spamreports: "reported_spam",
} as const satisfies Readonly<Record<SuppressionKind, string>>;

/** An address to suppress, and the email that caused it. */
interface NewSuppression {
  readonly accountId: number;
  /** In any spelling. */
  readonly email: string;
  readonly kind: SuppressionKind;
  readonly mailId: number;
}

/**
 * Suppresses further emails of an account to an address. If the address is already suppressed, keeps the first cause.
 * Assumed: a suppression applies to all categories, since a missing mailbox and a complaint concern all of them.
 */
export async function suppress(
  { accountId, email, kind, mailId }: NewSuppression,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<void> {
  await transaction
    .insertInto("mail_suppressions")
    .values({
      account_id: accountId,
      email_key: emailKeyOf(email),
      kind,
      mail_row: mailId,
      created_at: nowMs,
    })
    .onConflict((conflict) => conflict.columns(["account_id", "email_key", "kind"]).doNothing())
    .execute();
}

export const emailSuppressionHandlers: Handlers<typeof contract.emailSuppressions> = {
  /**
   * Removes all suppressions of an address.
   * Assumed: this is allowed after spam reports too, because people report spam by mistake and ask for their emails; an
   * address without suppressions is not an error.
   */
  lift: async ({ email }, context) => {
    const hashes = await readAddressHasher(accountOf(context).id, context);
    const lifted = await deleteAccountRows("mail_suppressions", accountOf(context).id, context.transaction)
      .where("email_key", "in", [emailKeyOf(email), ...(hashes?.(email) ?? [])])
      .returning("kind")
      .execute();
    return { email, lifted: lifted.map(({ kind }) => kind as CustomerSuppression).toSorted() };
  },
};

/** The setting with the key of the account's hashes, sealed. Only accounts that have erased a customer have one. */
const keySetting = "erasure_key";
const keyBytes = 32;

/** The kind of suppression of an erased address. */
export const erasedKind = "erased";

/**
 * Returns a function that hashes addresses with the account's key, so that a suppression does not reveal whose address it
 * is; undefined if the account has not erased anybody. Earlier versions stored hashes of addresses in lower case, so addresses
 * that are not plain have two.
 */
export async function readAddressHasher(
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "dialect" | "sealer">,
): Promise<AddressHasher | undefined> {
  const { [keySetting]: sealed } = await readSettings([keySetting], context, accountId);
  return typeof sealed === "string" ? createHasher(context.sealer.open(sealed)) : undefined;
}

type AddressHasher = (email: string) => readonly [string, ...string[]];

const createHasher = (key: string): AddressHasher => {
  const hash = (text: string) => `erased:${createHmac("sha256", key).update(text).digest("hex")}`;
  return (email) => {
    const [current, earlier] = [emailKeyOf(email), email.toLowerCase()];
    return current === earlier ? [hash(current)] : [hash(current), hash(earlier)];
  };
};

/** Suppresses emails to an address without storing the address. */
export async function suppressErased(email: string, accountId: number, context: HandlerContext): Promise<void> {
  const { transaction, random, sealer, nowMs } = context;
  let hashes = await readAddressHasher(accountId, context);
  if (!hashes) {
    const key = random(keyBytes).toString("hex");
    await saveSetting({ name: keySetting, value: sealer.seal(key) }, context, accountId);
    hashes = createHasher(key);
  }
  await transaction
    .insertInto("mail_suppressions")
    .values({ account_id: accountId, email_key: hashes(email)[0], kind: erasedKind, mail_row: 0, created_at: nowMs })
    .onConflict((conflict) => conflict.columns(["account_id", "email_key", "kind"]).doNothing())
    .execute();
}
