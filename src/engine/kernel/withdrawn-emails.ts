import { sql } from "kysely";
import type { EmailCategory, EmailRuleName } from "../../contract/index.ts";
import { recordEmailEvents } from "./email-log.ts";
import type { HandlerContext } from "./handler.ts";

/** Emails about a text that was hidden or deleted. */
interface Withdrawal {
  readonly accountId: number;
  /** Addresses that may have been notified. */
  readonly recipients: readonly string[];
  readonly categories: readonly EmailCategory[];
  /** The field of the email's data that identifies the record, and its value. */
  readonly record: readonly [field: string, id: number];
  /** The fields of the email's data that contain the text. */
  readonly texts: readonly string[];
}

const rule = "stopped_by_hand" satisfies EmailRuleName;

/**
 * Cancels queued emails about a text that was hidden or deleted, and removes the text from them.
 * @returns whether there were any
 */
export async function withdrawEmails(
  { accountId, recipients, categories, record: [field, id], texts }: Withdrawal,
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<boolean> {
  const { transaction, dialect } = context;
  const queued = await transaction
    .selectFrom("mails")
    .select(["id", "category", "data"])
    .where("account_id", "=", accountId)
    .where(
      "email_key",
      "in",
      recipients.map((address) => address.toLowerCase()),
    )
    .where("sent_at", "is", null)
    .where("category", "in", categories)
    .where(dialect.withoutIndex(sql.ref("state")), "=", "queued")
    // Otherwise, it may have been sent.
    .where("worker", "is", null)
    .execute();
  const withdrawn = queued.flatMap((email) => {
    const data = JSON.parse(email.data) as Record<string, unknown>;
    return data[field] === id ? [{ ...email, data }] : [];
  });
  for (const email of withdrawn) {
    for (const name of texts) if (Object.hasOwn(email.data, name)) email.data[name] = "";
    await transaction
      .updateTable("mails")
      .set({ state: "not_sent", reason: rule, data: JSON.stringify(email.data) })
      .where("account_id", "=", accountId)
      .where("id", "=", email.id)
      .execute();
  }
  const events = withdrawn.map((email) => {
    const subject = { accountId, mailId: email.id, category: email.category as EmailCategory };
    return { ...subject, event: "not_sent" as const, detail: rule };
  });
  await recordEmailEvents(events, context);
  return withdrawn.length > 0;
}
