import type { contract, EmailEventName, SuppressionKind } from "../../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../../kernel/handler.ts";

export type { SuppressionKind };

/** What becomes of a mail to such an address: the rule that keeps it back, and the event that is counted. */
export const suppressed = {
  bounces: { obstacle: "bounced_before", event: "dropped_bounced" },
  spamreports: { obstacle: "reported_spam", event: "dropped_spam_reported" },
} as const satisfies Readonly<Record<SuppressionKind, { obstacle: string; event: EmailEventName }>>;

/** An address, and the mail that told that it gets nothing more. */
export interface NewSuppression {
  readonly accountId: number;
  /** However it is written. */
  readonly email: string;
  readonly kind: SuppressionKind;
  readonly mailId: number;
}

/**
 * Keeps further mails of the account from an address; the first mail that told stays the one that is named.
 * Assumed: it holds for mails of every category, since a mailbox that is gone, and a person who complained, are so for
 * all of them.
 */
export async function suppress(
  { accountId, email, kind, mailId }: NewSuppression,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<void> {
  await transaction
    .insertInto("mail_suppressions")
    .values({
      account_id: accountId,
      email_key: email.toLowerCase(),
      kind,
      mail_row: mailId,
      created_at: nowMs,
    })
    .onConflict((conflict) => conflict.columns(["account_id", "email_key", "kind"]).doNothing())
    .execute();
}

export const emailSuppressionHandlers: Handlers<typeof contract.emailSuppressions> = {
  /**
   * Lets an address have mails again.
   * Assumed: the store may do so also for an address that reported spam, since people do that by mistake and ask for
   * their mails; one from which nothing was kept is fine.
   */
  lift: async ({ email }, context) => {
    const lifted = await context.transaction
      .deleteFrom("mail_suppressions")
      .where("account_id", "=", accountOf(context).id)
      .where("email_key", "=", email.toLowerCase())
      .returning("kind")
      .execute();
    return { email, lifted: lifted.map(({ kind }) => kind as SuppressionKind).toSorted() };
  },
};
