import { requireSignature } from "./signing-keys.ts";
import {
  type contract,
  type EmailCategory,
  type EmailEventName,
  type EmailState,
  type SuppressionKind,
  unsubscribeTypeOf,
} from "../../../contract/index.ts";
import { batchRows } from "../../../storage/batch.ts";
import type { Row } from "../../../storage/tables.ts";
import { sql } from "kysely";
import { updateAccountRows, updateRows } from "../../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { setUpEmailEvents } from "./signing-keys.ts";
import { type EmailEvent, recordEmailEvents, toDetail } from "../../kernel/email-log.ts";
import { parseMessageKey } from "../message-key.ts";
import { suppress } from "./suppressions.ts";
import { parseProviderEvents, type ProviderElement, type ProviderEmailEvent } from "./provider-events.ts";
import { unsubscribe } from "../../unsubscribers/unsubscription.ts";

export const emailEventHandlers: Handlers<typeof contract.emailEvents> = {
  /**
   * Stores and counts events reported by the provider, and applies their consequences: suppresses addresses that bounced
   * or reported spam, and unsubscribes addresses that unsubscribed at the provider.
   * @throws ServiceError `unauthorized` (earlier, see `requireSignature`), `malformedBody`, `invalidParams`
   * Assumed: an event for an email of another account, or for another recipient (a copy), counts as unknown and is not an
   * error, because the provider would retry it for days.
   */
  receive: operation("emailEvents.receive", {
    check: requireSignature,
    run: async ({ body }, context) => {
      const elements = parseProviderEvents(body);
      const emails = await findEmails(elements, context);
      const supported = elements.filter((element) => element.event !== undefined);
      const matched = supported.flatMap((element) => {
        const email = emails.get(element);
        return email ? [{ element, email, event: toEmailEvent(element, email, context) }] : [];
      });
      const events = matched.map(({ event }) => event);
      const accepted = new Set(await recordEmailEvents(events, context));
      for (const { element, email, event } of matched) {
        if (accepted.has(event)) await applyConsequence(event, { ...email, isTransient: element.isTransient }, context);
      }
      const counts = {
        accepted: accepted.size,
        repeated: matched.length - accepted.size,
        unknown: supported.length - matched.length,
        ignored: elements.length - supported.length,
      };
      const bounced = events.filter((event) => accepted.has(event) && consequences[event.event]?.state === "bounced");
      return { counts, bounced: bounced.length };
    },
    after: async ({ counts, bounced }, _input, { onBounced }) => {
      onBounced?.(bounced);
      return counts;
    },
  }),

  setUp: setUpEmailEvents,
};

const emailColumns = ["id", "category", "email", "email_key", "email_type_id", "created_at", "provider_id"] as const;
type Email = Pick<Row<"mails">, (typeof emailColumns)[number]>;

/**
 * Finds the emails that events refer to.
 * Assumed: not every event contains the Message-ID (opens and clicks often do not), but all contain the provider's ID of
 * the email, which is learned from events that contain both.
 */
async function findEmails(
  elements: readonly ProviderElement[],
  context: HandlerContext,
): Promise<ReadonlyMap<ProviderElement, Email>> {
  const idOf = (element: ProviderElement) =>
    element.messageKey === undefined ? undefined : parseMessageKey(element.messageKey, context.sealer);
  const ids = [...new Set(elements.map(idOf))].filter((id) => id !== undefined);
  const byId = await findBy("id", ids, context);
  const learned = new Map<string, Email>();
  for (const element of elements) {
    const email = byId.get(idOf(element) ?? 0);
    if (email && element.providerId !== undefined && isRecipient(element, email))
      learned.set(element.providerId, email);
  }
  await storeProviderIds(learned, context);
  const otherIds = elements
    .filter((element) => element.messageKey === undefined)
    .flatMap(({ providerId }) => (providerId === undefined || learned.has(providerId) ? [] : [providerId]));
  const byProviderId = new Map([...(await findBy("provider_id", [...new Set(otherIds)], context)), ...learned]);
  return new Map(
    elements.flatMap((element) => {
      const id = idOf(element);
      const email = element.messageKey === undefined ? byProviderId.get(element.providerId ?? "") : byId.get(id ?? 0);
      return email && isRecipient(element, email) ? [[element, email] as const] : [];
    }),
  );
}

/** Returns false for copies of an email to other recipients, which have the same Message-ID. */
function isRecipient({ addressKey }: ProviderElement, email: Email): boolean {
  return addressKey === undefined || addressKey === email.email_key;
}

/** Finds emails of the account by the values of a column, which is their key in the result. */
async function findBy<V extends string | number>(
  column: "id" | "provider_id",
  values: readonly V[],
  context: HandlerContext,
): Promise<ReadonlyMap<V, Email>> {
  if (values.length === 0) return new Map();
  const rows = values.map((value) => [value]);
  const { transaction, dialect } = context;
  const batch = batchRows({ value: column === "id" ? "integer" : "text" }, rows, dialect);
  const found = await sql<Email>`select ${sql.join(emailColumns.map((name) => sql.ref(`mails.${name}`)))}
    from ${batch} cross join mails
    where mails.account_id = ${accountOf(context).id} and ${sql.ref(`mails.${column}`)} = batch.value`.execute(
    transaction,
  );
  return new Map(found.rows.map((email) => [email[column] as V, email]));
}

async function storeProviderIds(learned: ReadonlyMap<string, Email>, context: HandlerContext): Promise<void> {
  for (const [provider_id, { id, provider_id: known }] of learned) {
    if (known === provider_id) continue;
    await updateRows("mails", { provider_id }, { id }, context);
  }
}

/** Assumed: a timestamp before the email or in the future comes from a wrong clock; it is moved to the nearest possible time. */
function toEmailEvent(
  { event, key, detail, occurredAtMs }: ProviderEmailEvent,
  { id, category, created_at }: Email,
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

/** Consequence of a new event. */
interface Consequence {
  readonly suppresses?: SuppressionKind;
  readonly unsubscribes?: true;
  /** New state of a sent email, and the reason, unless it is the detail of the event. */
  readonly state?: EmailState;
  readonly reason?: string;
}

/** Assumed: addresses on the provider's suppression list are added to ours, which prevents further attempts. */
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

async function applyConsequence(
  event: EmailEvent,
  recipient: Email & Pick<ProviderEmailEvent, "isTransient">,
  context: HandlerContext,
): Promise<void> {
  const { suppresses, unsubscribes, state, reason } = consequences[event.event] ?? {};
  const { accountId, mailId } = event;
  const { email, email_key, isTransient } = recipient;
  const email_type_id = unsubscribeTypeOf(recipient.email_type_id);
  if (suppresses && !(event.event === "bounced" && isTransient))
    await suppress({ accountId, email, kind: suppresses, mailId }, context);
  if (unsubscribes) await unsubscribe({ account_id: accountId, email, email_key, email_type_id }, context);
  if (state === undefined) return;
  const detail = event.detail === undefined ? null : toDetail(event.detail);
  await updateAccountRows("mails", accountId, context.transaction)
    .set({ state, reason: reason ?? detail })
    .where("id", "=", mailId)
    .where("state", "=", "sent")
    .execute();
}
