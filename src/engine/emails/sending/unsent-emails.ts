import type { EmailCategory, EmailEventName, EmailRuleName } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { updateAccountRows } from "../../kernel/account-rows.ts";
import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";

type EmailRow = Pick<Row<"mails">, "id" | "account_id" | "category">;

/** An email that a rule prevented. */
export interface UnsentEmail {
  readonly id: number;
  readonly category: EmailCategory;
  readonly rule: EmailRuleName;
}

/** Events that are recorded, in addition to `not_sent`, if a rule prevents an email. */
const eventOfRule: Readonly<Partial<Record<EmailRuleName, EmailEventName>>> = {
  bad_address: "invalid_address",
  unsubscribed: "dropped_unsubscribed",
  bounced_before: "dropped_bounced",
  reported_spam: "dropped_spam_reported",
};

/** Stores that rules prevented emails of an account. */
export async function markNotSent(
  unsent: readonly { readonly row: EmailRow; readonly rule: EmailRuleName }[],
  context: Pick<HandlerContext, "transaction" | "nowMs" | "account" | "ownerId">,
): Promise<UnsentEmail[]> {
  for (const rule of new Set(unsent.map((email) => email.rule))) {
    const ids = unsent.filter((email) => email.rule === rule).map(({ row }) => row.id);
    await updateAccountRows("mails", accountIdOf(context), context.transaction)
      .set({ state: "not_sent", reason: rule, worker: null, leased_until: null })
      .where("id", "in", ids)
      .execute();
  }
  const events = unsent.flatMap(({ row, rule }): EmailEvent[] => {
    const event = eventOfRule[rule];
    const subject = toEventSubject(row);
    return [{ ...subject, event: "not_sent", detail: rule }, ...(event ? [{ ...subject, event }] : [])];
  });
  await recordEmailEvents(events, context);
  return unsent.map(({ row, rule }) => ({ id: row.id, category: row.category as EmailCategory, rule }));
}

/** Returns the fields that identify the email of an event. */
export function toEventSubject({ id, account_id, category }: EmailRow) {
  return { accountId: account_id, mailId: id, category: category as EmailCategory };
}
