import {
  type contract,
  type EmailCategory,
  type EmailEventName,
  type EmailState,
  ServiceError,
  recordNotFound,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { recordEmailEvent } from "../kernel/email-log.ts";
import { iso } from "../kernel/times.ts";
import { listEmails, type EmailRow, selectEmails, toRecord } from "./email-list.ts";
import { explainEmails } from "./rules/explain.ts";
import { forecastEmails } from "./rules/forecast.ts";
import { renderMessage } from "./sending/email-message.ts";
import { readEmailStats } from "./statistics.ts";
import { sendTestEmail } from "./test-email.ts";

export const emailHandlers: Handlers<typeof contract.emails> = {
  /**
   * Lists mails.
   * Assumed: `since_id` is the lowest id that may be listed; `count` is at most the contract's most.
   */
  list: async (query, context) => ({ mails: (await listEmails(query, context)).map(toRecord) }),

  /** @throws ServiceError `recordNotFound` */
  get: async ({ mail_id }, context) => {
    const mail = await findEmail(mail_id, context);
    const events = await context.transaction
      .selectFrom("mail_events")
      .select(["event", "occurred_at", "created_at", "detail"])
      .where("mail_row", "=", mail_id)
      .orderBy("occurred_at")
      .orderBy("id")
      .execute();
    return {
      mail: toRecord(mail),
      message: (await renderMessage(mail_id, context)) ?? null,
      events: events.map(({ event, occurred_at, created_at, detail }) => ({
        event: event as EmailEventName,
        occurred_at: iso(occurred_at),
        noted_at: iso(created_at),
        detail,
      })),
    };
  },

  /**
   * Keeps a mail from being sent; one that was stopped so already stays it.
   * @throws ServiceError `recordNotFound`; `invalidParams` for one that is being sent, or that has ended
   * Assumed: one that a worker holds and has not begun to hand over can be stopped, since the worker looks once more
   * before it does; one in `sending` may be under way to its reader.
   */
  cancel: async ({ mail_id }, context) => {
    const mail = await findEmail(mail_id, context);
    if (mail.reason === stopped && mail.state === "not_sent") return { mail: toRecord(mail) };
    const refusal = unstoppable[mail.state as EmailState];
    if (refusal !== undefined) throw new ServiceError("invalidParams", `mail ${mail_id} ${refusal}`);
    const change = { state: "not_sent", reason: stopped } as const;
    await context.transaction
      .updateTable("mails")
      .set({ ...change, worker: null, leased_until: null })
      .where("id", "=", mail_id)
      .execute();
    const noted = {
      accountId: accountOf(context).id,
      mailId: mail_id,
      category: mail.category as EmailCategory,
      event: "not_sent",
      detail: stopped,
    } as const;
    await recordEmailEvent(noted, context);
    return { mail: toRecord({ ...mail, ...change }) };
  },

  explain: explainEmails,
  forecast: forecastEmails,
  sendTest: sendTestEmail,
  stats: readEmailStats,
};

const stopped = "stopped_by_hand";

/** Why a mail can no longer be stopped; nothing for one that can. */
const unstoppable: Readonly<Partial<Record<EmailState, string>>> = {
  sending: "is being sent at this moment: it cannot be stopped any more",
  sent: "was sent: it cannot be stopped any more",
  bounced: "was sent, and refused by its receiver: there is nothing to stop",
  failed: "was given up: there is nothing to stop",
  not_sent: "is not going to be sent: there is nothing to stop",
};

async function findEmail(mailId: number, context: HandlerContext): Promise<EmailRow> {
  const found = await selectEmails(context)
    .where("mails.id", "=", mailId)
    .where("mails.account_id", "=", accountOf(context).id)
    .executeTakeFirst();
  if (found) return found;
  throw recordNotFound("Mail", "id", mailId);
}
