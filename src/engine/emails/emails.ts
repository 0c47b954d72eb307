import {
  type contract,
  type EmailCategory,
  type EmailEventName,
  type EmailRuleName,
  type EmailState,
  emailTypeNames,
  emailTypeOf,
  invalidField,
  recordNotFound,
  ServiceError,
} from "../../contract/index.ts";
import { findRow, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { partIndex } from "../kernel/lists/part-index.ts";
import { recordEmailEvent } from "../kernel/email-log.ts";
import { dateOf, dayOf, iso } from "../kernel/times.ts";
import { type EmailRow, isOfFewEmails, listEmails, selectEmails, toRecord } from "./email-list.ts";
import { previewSend, sendEmails } from "./sending/sent-to-addresses.ts";
import { previewResend, resendEmails } from "./sending/resends.ts";
import { explainEmails } from "./rules/explanation.ts";
import { forecastEmails } from "./rules/forecast.ts";
import { readEmailStats } from "./statistics.ts";
import type { OutgoingEmail } from "../../email/outgoing-email.ts";
import type { Row } from "../../storage/tables.ts";
import { readDroppedProducts, readEmailLines } from "./rules/email-lines.ts";
import { buildOutgoingEmails } from "./sending/outgoing-emails.ts";
import type * as z from "zod";
import { findOwner, readAccountProfile } from "../accounts/account-profile.ts";
import { hideLinks } from "../kernel/signed-link.ts";
import { queueEmail } from "../kernel/outbox.ts";

export const emailHandlers: Handlers<typeof contract.emails> = {
  /** Assumed: `since_id` is the lowest ID to list; a `count` above the maximum page size is reduced to it. */
  list: operation("emails.list", {
    before: (query) => (query.search === undefined || isOfFewEmails(query) ? undefined : partIndex(["mails"])),
    run: async (query, context) => {
      const { rows, pagination } = await listEmails(query, context);
      return { mails: rows.map(toRecord), pagination };
    },
  }),

  /**
   * Assumed: for a token with a role, links in the content have no tokens.
   * @throws ServiceError `recordNotFound`
   */
  get: operation("emails.get", {
    run: async ({ mail_id }, context) => {
      const email = await findEmail(mail_id, context);
      const events = await selectAccountRows("mail_events", accountOf(context).id, context.transaction)
        .select(["event", "occurred_at", "created_at", "detail"])
        .where("mail_row", "=", mail_id)
        .orderBy("occurred_at")
        .orderBy("id")
        .execute();
      const message = await findSentMessage(mail_id, context);
      return {
        mail: toRecord(email),
        message,
        events: events.map(({ event, occurred_at, created_at, detail }) => ({
          event: event as EmailEventName,
          occurred_at: iso(occurred_at),
          noted_at: iso(created_at),
          detail,
        })),
        ...(message === null && { outgoing: await buildOutgoingEmail(mail_id, context) }),
      };
    },
    after: async (found, _input, call) => hideLinks(await renderFoundEmail(found), call),
  }),

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
    await updateRows("mails", { ...change, worker: null, leased_until: null }, { id: mail_id }, context);
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

  previewResend,
  resend: resendEmails,
  previewSend,
  send: sendEmails,
  explain: explainEmails,
  forecast: forecastEmails,
  sendTest: sendTestEmail,
  stats: readEmailStats,
  statsOfAll: readEmailStats,
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

/** Finds a message as it was sent. */
async function findSentMessage(mailId: number, context: HandlerContext) {
  const found = await findRow("mail_messages", ["subject", "text", "html", "headers"], { mail_row: mailId }, context);
  return found ?? null;
}

/** An email, and the data of its content, which is rendered after the transaction. */
type FoundEmail = z.output<typeof contract.emails.get.output> & { readonly outgoing?: OutgoingEmail | undefined };

/**
 * Renders the content of an email, unless it is stored as it was sent.
 * Assumed: this uses the current template and product data, and new links.
 */
async function renderFoundEmail({
  outgoing,
  ...found
}: FoundEmail): Promise<z.output<typeof contract.emails.get.output>> {
  if (!outgoing) return found;
  const { renderWithFallback } = await import("../../email/templates/render-custom.ts");
  const { TemplateError } = await import("../../email/templates/template-error.ts");
  try {
    const { subject, text, html } = await renderWithFallback(outgoing, "calls");
    return { ...found, message: { subject, text, html, headers: null } };
  } catch (error) {
    if (error instanceof TemplateError) return found;
    throw error;
  }
}

async function buildOutgoingEmail(mailId: number, context: HandlerContext): Promise<OutgoingEmail | undefined> {
  const row = await selectAccountRows("mails", accountOf(context).id, context.transaction)
    .selectAll()
    .where("id", "=", mailId)
    .executeTakeFirstOrThrow();
  const productRows = row.product_row ? [row.product_row] : await findProducts(row, context);
  const [outgoing] = await buildOutgoingEmails([{ row, productRows }], context);
  return outgoing;
}

/** Finds the products that an email about an entire order mentions. */
async function findProducts(row: Row<"mails">, context: HandlerContext): Promise<readonly number[]> {
  if (row.order_row === null) return [];
  const dropped = readDroppedProducts(row);
  const lines = await readEmailLines([row], row.account_id, context);
  return lines.map(({ product_row }) => product_row).filter((product) => dropped[product] === undefined);
}

type Input = z.output<typeof contract.emails.sendTest.input>;

const sample = {
  is_test: true,
  order_id: "1001",
  product: { product_id: "sample", name: "Sample product", image_url: null },
} as const;

/**
 * Queues a review request for a sample order.
 * @throws ServiceError `invalidParams` if there is no address, or the address is unsubscribed
 * Source: spec "Mail and statistics". Assumed: the default address is that of the account's first owner; test emails are
 * not sent to unsubscribed addresses either, and the caller gets an error; the URL of the sample product is the store's
 * domain, and the order date is today.
 */
async function sendTestEmail({ email }: Input, context: HandlerContext): Promise<Record<string, never>> {
  const accountId = accountOf(context).id;
  const owner = await findOwner(accountId, context);
  const to = email ?? owner?.email;
  if (!to) {
    throw new ServiceError("invalidParams", "Missing email: the account has no email address; specify the recipient", {
      field: "email",
    });
  }
  const { domain } = await readAccountProfile(context, accountId);
  const { product, ...order } = sample;
  const isQueued = await queueEmail(
    {
      accountId,
      category: "map",
      email: to,
      name: owner?.display_name ?? to,
      data: () => ({
        ...order,
        order_date: dateOf(dayOf(context.nowMs)),
        products: [{ ...product, url: domain }],
      }),
    },
    context,
  );
  if (isQueued) return {};
  throw new ServiceError(
    "invalidParams",
    `${to} is unsubscribed from review requests (type ${emailTypeNames[emailTypeOf.map]})`,
  );
}
