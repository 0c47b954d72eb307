import {
  type contract,
  type EmailCategory,
  type EmailEventName,
  type EmailRuleName,
  type EmailState,
  invalidField,
  recordNotFound,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { recordEmailEvent } from "../kernel/email-log.ts";
import { iso } from "../kernel/times.ts";
import { listEmails, type EmailRow, selectEmails, toRecord } from "./email-list.ts";
import { explainEmails } from "./rules/explanation.ts";
import { forecastEmails } from "./rules/forecast.ts";
import { renderEmailContent } from "./sending/email-content.ts";
import { readEmailStats } from "./statistics.ts";
import { sendTestEmail } from "./test-email.ts";

export const emailHandlers: Handlers<typeof contract.emails> = {
  /** Assumed: `since_id` is the lowest ID to list; a `count` above the maximum page size is reduced to it. */
  list: async (query, context) => ({ mails: (await listEmails(query, context)).map(toRecord) }),

  /** @throws ServiceError `recordNotFound` */
  get: async ({ mail_id }, context) => {
    const email = await findEmail(mail_id, context);
    const events = await context.transaction
      .selectFrom("mail_events")
      .select(["event", "occurred_at", "created_at", "detail"])
      .where("mail_row", "=", mail_id)
      .orderBy("occurred_at")
      .orderBy("id")
      .execute();
    return {
      mail: toRecord(email),
      message: (await renderEmailContent(mail_id, context)) ?? null,
      events: events.map(({ event, occurred_at, created_at, detail }) => ({
        event: event as EmailEventName,
        occurred_at: iso(occurred_at),
        noted_at: iso(created_at),
        detail,
      })),
    };
  },

  /**
   * Cancels an email. An email that is already canceled stays canceled.
   * @throws ServiceError `recordNotFound`; `invalidParams` if it is being sent or has ended
   * Assumed: a leased email can be canceled, because the worker checks again before sending it; an email in state
   * `sending` may already have left.
   */
  cancel: async ({ mail_id }, context) => {
    const email = await findEmail(mail_id, context);
    if (email.reason === canceled && email.state === "not_sent") return { mail: toRecord(email) };
    const refusal = refusals[email.state as EmailState];
    if (refusal !== undefined) throw invalidField("mail_id", `${mail_id} ${refusal}`);
    const change = { state: "not_sent", reason: canceled } as const;
    await context.transaction
      .updateTable("mails")
      .set({ ...change, worker: null, leased_until: null })
      .where("id", "=", mail_id)
      .execute();
    const event = {
      accountId: accountOf(context).id,
      mailId: mail_id,
      category: email.category as EmailCategory,
      event: "not_sent",
      detail: canceled,
    } as const;
    await recordEmailEvent(event, context);
    return { mail: toRecord({ ...email, ...change }) };
  },

  explain: explainEmails,
  forecast: forecastEmails,
  sendTest: sendTestEmail,
  stats: readEmailStats,
};

const canceled = "stopped_by_hand" satisfies EmailRuleName;

/** Why an email in each state cannot be canceled. */
const refusals: Readonly<Partial<Record<EmailState, string>>> = {
  sending: "is being sent and cannot be canceled",
  sent: "was already sent",
  bounced: "was already sent and bounced",
  failed: "already failed",
  not_sent: "is already prevented from being sent",
};

async function findEmail(mailId: number, context: HandlerContext): Promise<EmailRow> {
  const email = await selectEmails(context)
    .where("mails.id", "=", mailId)
    .where("mails.account_id", "=", accountOf(context).id)
    .executeTakeFirst();
  if (email) return email;
  throw recordNotFound("Mail", "id", mailId);
}
