import { sql } from "kysely";
import type {
  EmailCategory,
  EmailEventName,
  EmailHold,
  EmailRuleName,
  EmailSettings,
} from "../../../contract/index.ts";
import type { OutgoingEmail } from "../../../email/outgoing-email.ts";
import type { Row } from "../../../storage/tables.ts";
import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";
import { renewDue } from "../../kernel/due-times.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { saveDroppedProducts } from "../rules/email-lines.ts";
import { type EmailPermission, readEmailPermission } from "../../accounts/email-permissions.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { findDueCampaigns, queueCampaignEmails } from "../campaigns/campaign-queue.ts";
import { evaluateEmails } from "../rules/evaluation.ts";
import { type HeldEmails, holdEmails } from "./holds.ts";
import { buildOutgoingEmails } from "./outgoing-emails.ts";
import { createDeferredStatement, createStatement } from "../../../storage/statement.ts";
import { isAmong } from "../../../storage/batch.ts";

/** An email that is leased to a worker. */
export interface ClaimedEmail {
  readonly email: OutgoingEmail;
  /** The worker that was lost while sending the email. It is unknown whether the email was sent. */
  readonly previousWorker?: string | undefined;
  /** The rule that now prevents an email of a lost worker, if any: it must not be sent again. */
  readonly rule?: EmailRuleName | undefined;
}

export interface Claim {
  /** Number of claimed emails whose lease expired before their worker started to send them. */
  readonly recovered: number;
  readonly emails: readonly ClaimedEmail[];
  readonly notSent: readonly UnsentEmail[];
  readonly held: readonly HeldEmails[];
}

/** The worker that claims emails, and the duration of its leases. */
export interface LeaseHolder {
  readonly worker: string;
  readonly leaseMs: number;
  /** Whether emails are written to the outbox folder, for which accounts need no permission. */
  readonly usesOutbox?: boolean | undefined;
}

/**
 * Queues the next emails of the account's campaigns. Evaluates emails of an account that are due, leases those that may be sent, and stores why the others are not sent.
 * Assumed: a review request counts as a request of its category once the rules approve it.
 */
export async function claimEmails(limit: number, holder: LeaseHolder, context: HandlerContext): Promise<Claim> {
  const accountId = accountIdOf(context);
  const [campaigns, first, permission, settings] = await context.dialect.runAll([
    () => findDueCampaigns(context),
    () => selectDueEmails(limit, context),
    () => readEmailPermission(accountId, context),
    () => readEmailSettings(context, accountId),
  ]);
  const prevented = await markNotSent(await queueCampaignEmails(campaigns, context), context);
  const due = campaigns.length === 0 ? first : await selectDueEmails(limit, context);
  const claim = await claimDue(due, { holder, permission, settings }, context);
  await renewDue("emails_due_at", accountId, context);
  return { ...claim, notSent: [...prevented, ...claim.notSent] };
}

interface Claiming {
  readonly holder: LeaseHolder;
  readonly permission: EmailPermission;
  readonly settings: EmailSettings;
}

async function claimDue(
  selected: readonly Row<"mails">[],
  { holder, permission, settings }: Claiming,
  context: HandlerContext,
): Promise<Claim> {
  if (selected.length === 0) return { emails: [], notSent: [], held: [], recovered: 0 };
  const { usesOutbox = false } = holder;
  const {
    permitted: due,
    expired,
    held,
  } = usesOutbox ? passHeld(selected) : await holdEmails(selected, permission, context);
  const decisions = await evaluateEmails(due, context, settings);
  const ruleFor = ({ id }: Row<"mails">) => decisions.get(id)?.rule;
  const rejected = due.flatMap((row) => {
    const rule = mayHaveBeenSent(row) ? undefined : ruleFor(row);
    return rule === undefined ? [] : [{ row, rule }];
  });
  for (const row of expired) rejected.push({ row, rule: "held_too_long" });
  const notSent = await markNotSent(rejected, context);
  const claimed = due.filter((row) => mayHaveBeenSent(row) || ruleFor(row) === undefined);
  await lease(claimed, holder, context);
  await recordEmailEvents(claimed.flatMap(listEvents), context);
  await saveDroppedProducts(claimed, decisions, context);
  const approved = claimed.map((row) => ({ row, productRows: decisions.get(row.id)?.productRows ?? [] }));
  const outgoing = await buildOutgoingEmails(approved, context);
  const emails = claimed.map((row, index) => ({
    email: outgoing[index] as OutgoingEmail,
    previousWorker: mayHaveBeenSent(row) ? (row.worker ?? "") : undefined,
    rule: ruleFor(row),
  }));
  const recovered = due.filter(({ state }) => state === "leased").length;
  return { emails, notSent, held, recovered };
}

/** Emails that are written to the outbox folder are not held, but those of a campaign that is stopped are not sent. */
function passHeld(due: readonly Row<"mails">[]) {
  const isStopped = ({ reason }: Row<"mails">) => reason === ("campaign_stopped" satisfies EmailHold);
  return { permitted: due.filter((row) => !isStopped(row)), expired: due.filter(isStopped), held: [] };
}

/** Returns whether a worker started to send the email and no outcome is known. A queued email then still names its worker. */
function mayHaveBeenSent({ state, worker }: Row<"mails">): boolean {
  return state === "sending" || (state === "queued" && worker !== null);
}

/** Emails that may have been sent keep the state `sending`, so that the next worker also knows. */
async function lease(
  rows: readonly Row<"mails">[],
  { worker, leaseMs }: LeaseHolder,
  context: HandlerContext,
): Promise<void> {
  if (rows.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  await leaseAll(transaction, dialect, {
    accountId: accountIdOf(context),
    worker,
    until: nowMs + leaseMs,
    ids: listIds(rows),
  });
}

const listIds = (rows: readonly Pick<Row<"mails">, "id">[]) => JSON.stringify(rows.map(({ id }) => [id]));

const leaseAll = createDeferredStatement<{ accountId: number; worker: string; until: number; ids: string }>(
  (slot, dialect) => sql`
    update mails set worker = ${slot("worker")}, leased_until = ${slot("until")},
      state = case when state = 'sending' or (state = 'queued' and worker is not null) then 'sending' else 'leased' end
    where account_id = ${slot("accountId")} and ${isAmong(slot("ids"), dialect)}`,
);

/** Lists the events that the claim itself causes. */
function listEvents(row: Row<"mails">): EmailEvent[] {
  const subject = toEventSubject(row);
  // Emails without an order were counted as requested when they were queued.
  const events: EmailEvent[] = row.order_row === null ? [] : [{ ...subject, event: "requested" }];
  if (!mayHaveBeenSent(row)) return events;
  const detail = row.worker ?? undefined;
  return [...events, { ...subject, event: "taken_up", key: String(row.attempts), detail }];
}

interface DueQuery {
  readonly accountId: number;
  readonly nowMs: number;
  readonly limit: number;
}

/** Emails of disabled accounts stay in the queue. */
export const isOfActiveAccount = sql<boolean>`not exists (
  select 1 from accounts where accounts.id = mails.account_id and accounts.disabled_at is not null
)`;

/**
 * Emails whose leases have expired come first. The limits are subqueries, so that plans do not depend on them: PostgreSQL would
 * plan the statement each time.
 */
const selectDue = createStatement<DueQuery, Row<"mails">>(
  (slot) => sql`
    select * from (
      select * from mails
      where account_id = ${slot("accountId")} and state in ('leased', 'sending') and leased_until <= ${slot("nowMs")}
        and ${isOfActiveAccount}
      order by leased_until, id limit (select cast(${slot("limit")} as bigint))
    ) as due_leases
    union all
    select * from (
      select * from mails where account_id = ${slot("accountId")} and state = 'queued' and due_at <= ${slot("nowMs")}
        and ${isOfActiveAccount}
      order by due_at, id limit (select cast(${slot("limit")} as bigint))
    ) as due_queued`,
);

async function selectDueEmails(limit: number, context: HandlerContext): Promise<readonly Row<"mails">[]> {
  const { transaction, dialect, nowMs } = context;
  const { rows } = await selectDue(transaction, dialect, { accountId: accountIdOf(context), nowMs, limit });
  const isQueued = ({ state }: Row<"mails">) => Number(state === "queued");
  return rows.toSorted((a, b) => isQueued(a) - isQueued(b)).slice(0, limit);
}

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

const preventAll = createDeferredStatement<{ accountId: number; rule: string; ids: string }>(
  (slot, dialect) => sql`
    update mails set state = 'not_sent', reason = ${slot("rule")}, worker = null, leased_until = null
    where account_id = ${slot("accountId")} and ${isAmong(slot("ids"), dialect)}`,
);

/** Stores that rules prevented emails of an account. */
export async function markNotSent(
  unsent: readonly { readonly row: EmailRow; readonly rule: EmailRuleName }[],
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "account" | "ownerId">,
): Promise<UnsentEmail[]> {
  for (const rule of new Set(unsent.map((email) => email.rule))) {
    const ids = listIds(unsent.filter((email) => email.rule === rule).map(({ row }) => row));
    await preventAll(context.transaction, context.dialect, { accountId: accountIdOf(context), rule, ids });
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
