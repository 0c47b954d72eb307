import type { EmailCategory, EmailEventName, EmailRuleName } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";

type EmailRow = Pick<Row<"mails">, "id" | "account_id" | "category">;

/** A mail that a rule keeps back. */
export interface UnsentEmail {
  readonly id: number;
  readonly category: EmailCategory;
  readonly obstacle: EmailRuleName;
}

/** What a rule that keeps a mail back counts as, beside being why it was not sent. */
const eventOf: Readonly<Partial<Record<EmailRuleName, EmailEventName>>> = {
  bad_address: "invalid_address",
  unsubscribed: "dropped_unsubscribed",
  bounced_before: "dropped_bounced",
  reported_spam: "dropped_spam_reported",
};

/** Writes down that rules keep mails back, and which. */
export async function markNotSent(
  kept: readonly { readonly row: EmailRow; readonly obstacle: EmailRuleName }[],
  context: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<UnsentEmail[]> {
  for (const obstacle of new Set(kept.map((mail) => mail.obstacle))) {
    const mails = kept.filter((mail) => mail.obstacle === obstacle);
    await context.transaction
      .updateTable("mails")
      .set({ state: "not_sent", reason: obstacle, worker: null, leased_until: null })
      .where(
        "id",
        "in",
        mails.map(({ row }) => row.id),
      )
      .execute();
  }
  const events = kept.flatMap(({ row, obstacle }): EmailEvent[] => {
    const counted = eventOf[obstacle];
    const about = toEventSubject(row);
    return [
      { ...about, event: "not_sent", detail: obstacle },
      ...(counted ? [{ ...about, event: counted }] : []),
    ];
  });
  await recordEmailEvents(events, context);
  return kept.map(({ row, obstacle }) => ({ id: row.id, category: row.category as EmailCategory, obstacle }));
}

/** A mail as its events name it. */
export function toEventSubject({ id, account_id, category }: EmailRow) {
  return { accountId: account_id, mailId: id, category: category as EmailCategory };
}
