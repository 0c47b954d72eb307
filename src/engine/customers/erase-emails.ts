import { sql } from "kysely";
import { type EmailCategory, type EmailRuleName, emailRuleNames, type EmailState } from "../../contract/index.ts";
import { updateAccountRows } from "../kernel/account-rows.ts";
import { recordEmailEvents } from "../kernel/email-log.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { deleteRows } from "./erase-texts.ts";
import type { Traces } from "./traces.ts";

/** States of emails that have not been sent. */
const unsent: readonly EmailState[] = ["queued", "leased", "sending"];

const canceled = "stopped_by_hand" satisfies EmailRuleName;

/**
 * Cancels the customer's queued emails, removes the content of all, and replaces the address. Removes the content of emails
 * that quote the customer to others, too.
 * @returns the number of canceled emails
 */
export async function eraseEmails(traces: Traces, pseudonym: string, context: HandlerContext): Promise<number> {
  const { person, mails, mailsToOthers } = traces;
  const { accountId } = person;
  const all = [...mails, ...mailsToOthers];
  if (all.length === 0) return 0;
  const canceledMails = await cancelEmails(all, accountId, context);
  const update = (ids: readonly number[]) =>
    updateAccountRows("mails", accountId, context.transaction).where("id", "in", [0, ...ids]);
  await update(mails).set({ email: pseudonym, email_key: pseudonym, name: "", provider_id: null }).execute();
  await update(all).set({ data: "{}" }).execute();
  // Responses of mail servers quote addresses.
  await update(all).set({ reason: null }).where("reason", "not in", emailRuleNames).execute();
  await updateAccountRows("mail_events", accountId, context.transaction)
    .set({ detail: null })
    .where("mail_row", "in", all)
    .where("detail", "is not", null)
    .where("detail", "not in", emailRuleNames)
    .execute();
  await deleteRows("mail_messages", "mail_row", all, { accountId, ...context });
  return canceledMails;
}

/** Counts emails that have not been sent. */
export async function countUnsent(
  { person: { accountId }, mails, mailsToOthers }: Pick<Traces, "person" | "mails" | "mailsToOthers">,
  { transaction, dialect }: HandlerContext,
): Promise<number> {
  const found = await transaction
    .selectFrom("mails")
    .select("id")
    .where(dialect.withoutIndex(sql.ref<number>("account_id")), "=", accountId)
    .where("id", "in", [0, ...mails, ...mailsToOthers])
    .where("state", "in", unsent)
    .execute();
  return found.length;
}

async function cancelEmails(ids: readonly number[], accountId: number, context: HandlerContext): Promise<number> {
  const { transaction, dialect } = context;
  const changed = await transaction
    .updateTable("mails")
    .set({ state: "not_sent", reason: canceled, worker: null, leased_until: null })
    .where(dialect.withoutIndex(sql.ref<number>("account_id")), "=", accountId)
    .where("id", "in", ids)
    .where("state", "in", unsent)
    .returning(["id", "category"])
    .execute();
  const events = changed.map(({ id: mailId, category }) => {
    return { accountId, mailId, category: category as EmailCategory, event: "not_sent", detail: canceled } as const;
  });
  await recordEmailEvents(events, context);
  return changed.length;
}
