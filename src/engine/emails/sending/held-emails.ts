import type { MailCategory, MailEventName, MailObstacle } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { type MailEvent, noteMailEvents } from "../../kernel/email-log.ts";

type MailRow = Pick<Row<"mails">, "id" | "account_id" | "category">;

/** A mail that a rule keeps back. */
export interface KeptMail {
  readonly id: number;
  readonly category: MailCategory;
  readonly obstacle: MailObstacle;
}

/** What a rule that keeps a mail back counts as, beside being why it was not sent. */
const eventOf: Readonly<Partial<Record<MailObstacle, MailEventName>>> = {
  bad_address: "invalid_address",
  unsubscribed: "dropped_unsubscribed",
  bounced_before: "dropped_bounced",
  reported_spam: "dropped_spam_reported",
};

/** Writes down that rules keep mails back, and which. */
export async function keepBack(
  kept: readonly { readonly row: MailRow; readonly obstacle: MailObstacle }[],
  context: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<KeptMail[]> {
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
  const events = kept.flatMap(({ row, obstacle }): MailEvent[] => {
    const counted = eventOf[obstacle];
    const about = aboutMail(row);
    return [
      { ...about, event: "not_sent", detail: obstacle },
      ...(counted ? [{ ...about, event: counted }] : []),
    ];
  });
  await noteMailEvents(events, context);
  return kept.map(({ row, obstacle }) => ({ id: row.id, category: row.category as MailCategory, obstacle }));
}

/** A mail as its events name it. */
export function aboutMail({ id, account_id, category }: MailRow) {
  return { accountId: account_id, mailId: id, category: category as MailCategory };
}
