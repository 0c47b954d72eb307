import { domainToASCII } from "node:url";
import type {
  contract,
  EmailCategory,
  EmailEventName,
  EmailState,
  SuppressionKind,
} from "../../../contract/index.ts";
import { batchRows } from "../../../storage/batch.ts";
import type { Tables } from "../../../storage/tables.ts";
import { accountOf, type HandlerContext, type Handlers } from "../../kernel/handler.ts";
import { setUpEmailEvents } from "./signing-keys.ts";
import { type EmailEvent, recordEmailEvents, toDetail } from "../../kernel/email-log.ts";
import { parseMessageKey } from "../../kernel/email-key.ts";
import { suppress } from "./suppressions.ts";
import { type ProviderElement, readProviderEvents, type ToldEvent } from "./provider-events.ts";
import { unsubscribe } from "../../unsubscribers/unsubscription.ts";

export const emailEventHandlers: Handlers<typeof contract.emailEvents> = {
  /**
   * Stores and counts what the provider tells of the account's mails, and does what follows from it: who bounced for
   * good or reported spam gets nothing more, who unsubscribed there is unsubscribed here.
   * @throws ServiceError `unauthorized` (before: see `requireSignature`), `malformedBody`, `invalidParams`
   * Assumed: an event of a mail that is not the account's, or of another receiver of it (a copy), is unknown, and no
   * error: a provider would send it again for days.
   */
  receive: async ({ body }, context) => {
    const elements = readProviderEvents(body);
    const mails = await findEmails(elements, context);
    const meant = elements.filter((element) => element.event !== undefined) as readonly ToldEvent[];
    const told = meant.flatMap((element) => {
      const mail = mails.get(element);
      return mail ? [{ mail, event: toEvent(element, mail, context) }] : [];
    });
    const fresh = new Set(
      await recordEmailEvents(
        told.map(({ event }) => event),
        context,
      ),
    );
    for (const { mail, event } of told) if (fresh.has(event)) await follow(event, mail, context);
    return {
      accepted: fresh.size,
      repeated: told.length - fresh.size,
      unknown: meant.length - told.length,
      ignored: elements.length - meant.length,
    };
  },

  setUp: setUpEmailEvents,
};

type Mail = Pick<Tables["mails"], "category" | "email" | "email_key" | "email_type_id" | "created_at"> & {
  readonly id: number;
  readonly provider_id: string | null;
};

const emailColumns = [
  "mails.id",
  "mails.category",
  "mails.email",
  "mails.email_key",
  "mails.email_type_id",
  "mails.created_at",
  "mails.provider_id",
] as const;

/**
 * The mails that elements are about.
 * Assumed: not every event names the Message-ID (opens and clicks often do not), but all name the provider's own id of
 * the mail, which is learned from those that name both.
 */
async function findEmails(
  elements: readonly ProviderElement[],
  context: HandlerContext,
): Promise<ReadonlyMap<ProviderElement, Mail>> {
  const idOf = (element: ProviderElement) =>
    element.messageKey === undefined ? undefined : parseMessageKey(element.messageKey, context.sealer);
  const byId = await findById(
    [...new Set(elements.map(idOf))].filter((id) => id !== undefined),
    context,
  );
  const learned = new Map<string, Mail>();
  for (const element of elements) {
    const mail = byId.get(idOf(element) ?? 0);
    if (mail && element.providerId !== undefined && isFor(element, mail))
      learned.set(element.providerId, mail);
  }
  await keepProviderIds(learned, context);
  const unnamed = elements
    .filter((element) => element.messageKey === undefined)
    .flatMap(({ providerId }) => (providerId === undefined || learned.has(providerId) ? [] : [providerId]));
  const byProviderId = new Map([...(await findByProviderId([...new Set(unnamed)], context)), ...learned]);
  return new Map(
    elements.flatMap((element) => {
      const id = idOf(element);
      const mail =
        element.messageKey === undefined ? byProviderId.get(element.providerId ?? "") : byId.get(id ?? 0);
      return mail && isFor(element, mail) ? [[element, mail] as const] : [];
    }),
  );
}

/** A copy of a mail goes to others under the same Message-ID. */
function isFor({ addressKey }: ProviderElement, mail: Mail): boolean {
  return (
    addressKey === undefined || addressKey === mail.email_key || asSent(addressKey) === asSent(mail.email_key)
  );
}

/** As the provider was given the address: its domain in ASCII. */
function asSent(addressKey: string): string {
  const at = addressKey.lastIndexOf("@");
  return `${addressKey.slice(0, at)}@${domainToASCII(addressKey.slice(at + 1))}`;
}

async function findById(ids: readonly number[], context: HandlerContext): Promise<ReadonlyMap<number, Mail>> {
  if (ids.length === 0) return new Map();
  const rows = ids.map((id) => [id]);
  const found = await context.transaction
    .selectFrom(batchRows<{ mail_id: number }>({ mail_id: "integer" }, rows, context.dialect))
    .crossJoin("mails")
    .whereRef("mails.id", "=", "batch.mail_id")
    .where("mails.account_id", "=", accountOf(context).id)
    .select(emailColumns)
    .execute();
  return new Map(found.map((mail) => [mail.id, mail]));
}

async function findByProviderId(
  names: readonly string[],
  context: HandlerContext,
): Promise<ReadonlyMap<string, Mail>> {
  if (names.length === 0) return new Map();
  const rows = names.map((name) => [name]);
  const found = await context.transaction
    .selectFrom(batchRows<{ name: string }>({ name: "text" }, rows, context.dialect))
    .crossJoin("mails")
    .where("mails.account_id", "=", accountOf(context).id)
    .whereRef("mails.provider_id", "=", "batch.name")
    .select(emailColumns)
    .execute();
  return new Map(found.map((mail) => [mail.provider_id ?? "", mail]));
}

async function keepProviderIds(
  learned: ReadonlyMap<string, Mail>,
  { transaction }: HandlerContext,
): Promise<void> {
  for (const [provider_id, { id, provider_id: known }] of learned) {
    if (known === provider_id) continue;
    await transaction.updateTable("mails").set({ provider_id }).where("id", "=", id).execute();
  }
}

/** Assumed: a time before the mail or after now is a clock that is wrong, and counts as the nearest that can be. */
function toEvent(
  { event, key, detail, occurredAtMs }: ToldEvent,
  { id, category, created_at }: Mail,
  context: HandlerContext,
): EmailEvent {
  return {
    accountId: accountOf(context).id,
    mailId: id,
    category: category as EmailCategory,
    event,
    key,
    detail,
    occurredAtMs: Math.min(context.nowMs, Math.max(created_at, occurredAtMs ?? context.nowMs)),
  };
}

/** What follows from an event that is new. */
interface Consequence {
  readonly suppresses?: SuppressionKind;
  readonly unsubscribes?: true;
  /** What becomes of a mail that counted as sent, and why where the event has no words for it. */
  readonly state?: EmailState;
  readonly reason?: string;
}

/** Assumed: what a provider drops because of its own list is on this one from then on; nothing else would stop the next. */
const consequences: Readonly<Partial<Record<EmailEventName, Consequence>>> = {
  bounced: { suppresses: "bounces", state: "bounced" },
  invalid_address: { suppresses: "bounces", state: "bounced" },
  blocked: { state: "failed" },
  spam_reported: { suppresses: "spamreports" },
  unsubscribed: { unsubscribes: true },
  spam_dropped: { state: "failed" },
  failed: { state: "failed" },
  dropped_bounced: { suppresses: "bounces", state: "not_sent", reason: "bounced_before" },
  dropped_spam_reported: { suppresses: "spamreports", state: "not_sent", reason: "reported_spam" },
  dropped_unsubscribed: { unsubscribes: true, state: "not_sent", reason: "unsubscribed" },
};

async function follow(event: EmailEvent, mail: Mail, context: HandlerContext): Promise<void> {
  const { suppresses, unsubscribes, state, reason } = consequences[event.event] ?? {};
  const { accountId, mailId } = event;
  const { email, email_key, email_type_id } = mail;
  if (suppresses) await suppress({ accountId, email, kind: suppresses, mailId }, context);
  if (unsubscribes) await unsubscribe({ account_id: accountId, email, email_key, email_type_id }, context);
  if (state === undefined) return;
  const told = event.detail === undefined ? null : toDetail(event.detail);
  await context.transaction
    .updateTable("mails")
    .set({ state, reason: reason ?? told })
    .where("id", "=", mailId)
    .where("state", "=", "sent")
    .execute();
}
