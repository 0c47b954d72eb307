import {
  type contract,
  type EmailState,
  emailTypeOf,
  resendCategories,
  type ResendProblem,
  templateCategoryOf,
} from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { findRows } from "../../kernel/account-rows.ts";
import { noteDue } from "../../kernel/due-times.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { selectEmails, toRecord } from "../email-list.ts";
import { readRequestData } from "../rules/email-lines.ts";
import { type EmailDecision, evaluateEmails } from "../rules/evaluation.ts";
import type * as z from "zod";

type Input = z.output<typeof contract.emails.resend.input>;
type Resent = z.output<typeof contract.emails.resend.output>;
type Email = Row<"mails">;

/** Why an email in each state cannot be resent. The others may not have arrived. */
const stateProblems: Readonly<Partial<Record<EmailState, ResendProblem>>> = {
  queued: "not_ended",
  leased: "not_ended",
  sending: "not_ended",
  not_sent: "not_sent",
};

/**
 * Queues copies of review requests and reminders for orders, of the categories of manual resends.
 * Assumed: all rules apply to a copy, when it is queued and again when it is sent, and it counts toward the limit per customer. It
 * is not sent to customers who unsubscribed from its type or from that of the first email. Each email has at most one copy, so that
 * nobody gets two if two people resend it.
 */
export async function resendEmails({ mail_ids }: Input, context: HandlerContext): Promise<Resent> {
  const found = await findCandidates(mail_ids, context);
  for (const [id, copy] of await insertCopies(found.approved, context)) found.copies.set(id, copy);
  return toResent(found, context);
}

/** Reports what `resendEmails` would do. */
export async function previewResend({ mail_ids }: Input, context: HandlerContext): Promise<Resent> {
  return toResent(await findCandidates(mail_ids, context), context);
}

interface Candidates {
  readonly ids: readonly number[];
  readonly problems: ReadonlyMap<number, ResendProblem | null>;
  readonly decisions: ReadonlyMap<number, EmailDecision>;
  /** Copies that no rule prevents, with the IDs of the emails. */
  readonly approved: readonly FoundEmail[];
  /** The copies of emails. */
  readonly copies: Map<number, number>;
}

async function findCandidates(mailIds: readonly number[], context: HandlerContext): Promise<Candidates> {
  const ids = [...new Set(mailIds)];
  const emails = await findRows("mails", allColumns, { id: ids }, context);
  const copies = await findCopies(emails, context);
  const problems = new Map(
    ids.map((id) => [
      id,
      findProblem(
        emails.find((email) => email.id === id),
        copies,
      ),
    ]),
  );
  const sendable = emails.filter(({ id }) => problems.get(id) === null).map(toCopy);
  const decisions = await evaluateEmails(sendable, context);
  const approved = sendable.filter(({ id }) => decisions.get(id)?.rule === undefined);
  return { ids, problems, decisions, approved, copies };
}

async function toResent({ ids, problems, decisions, copies }: Candidates, context: HandlerContext): Promise<Resent> {
  const records = await selectEmails(context)
    .where("mails.account_id", "=", accountOf(context).id)
    .where("mails.id", "in", ids)
    .execute();
  const mails = new Map(records.map((row) => [row.id, toRecord(row)]));
  return {
    mails: ids.map((id) => ({
      mail_id: id,
      problem: problems.get(id) ?? null,
      rule: decisions.get(id)?.rule ?? null,
      copy_id: copies.get(id) ?? null,
      mail: mails.get(id) ?? null,
    })),
  };
}

const copiedColumns = [
  "account_id",
  "order_row",
  "product_row",
  "email",
  "email_key",
  "name",
  "created_at",
  "data",
] as const;
const allColumns = ["id", "category", "email_type_id", "state", "due_at", ...copiedColumns] as const;

type FoundEmail = Pick<Email, (typeof allColumns)[number]>;

/** Finds the copies of emails. @returns their IDs, by those of the emails */
async function findCopies(emails: readonly FoundEmail[], context: HandlerContext): Promise<Map<number, number>> {
  const order_row = emails.flatMap((email) => email.order_row ?? []);
  if (order_row.length === 0) return new Map();
  const copies = await findRows(
    "mails",
    ["id", "resends"],
    { order_row, resends: emails.map(({ id }) => id) },
    context,
  );
  return new Map(copies.map(({ id, resends }) => [resends, id]));
}

function findProblem(email: FoundEmail | undefined, copies: ReadonlyMap<number, number>): ResendProblem | null {
  if (!email) return "not_found";
  if (email.order_row === null || copyCategoryOf(email) === undefined) return "other_category";
  if (copies.has(email.id)) return "already_resent";
  return stateProblems[email.state as EmailState] ?? null;
}

/** The category of the copy of an email, or of a copy. */
function copyCategoryOf({ category }: Pick<Email, "category">) {
  const categories: Readonly<Record<string, string>> = resendCategories;
  return categories[templateCategoryOf(category)];
}

/** A copy, with the ID of the email. Its time of creation and the products of a campaign stay, which determine what it is about. */
function toCopy(email: FoundEmail): FoundEmail {
  const { only } = readRequestData(email);
  const data = JSON.stringify({ ...(only && { only }) });
  return { ...email, data, category: copyCategoryOf(email) ?? "", email_type_id: emailTypeOf.resend_map };
}

async function insertCopies(copies: readonly FoundEmail[], context: HandlerContext): Promise<[number, number][]> {
  if (copies.length === 0) return [];
  const inserted = await context.transaction
    .insertInto("mails")
    .values(
      copies.map(({ id, due_at: _due, state: _state, ...copy }) => ({
        ...copy,
        resends: id,
        state: "queued",
        due_at: context.nowMs,
      })),
    )
    .returning(["id", "resends"])
    .execute();
  await noteDue("emails_due_at", accountOf(context).id, context);
  return inserted.map(({ id, resends }) => [resends, id]);
}
