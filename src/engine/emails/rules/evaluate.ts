import type { EmailRuleName, EmailSettings } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import type { DroppedProducts } from "./dropped-products.ts";
import { findBlockingRule, type LineRuleName, lineRuleNames, reviewedSinceMs } from "./checks.ts";
import { type EmailLine, type RequestEmail, readEmailLines } from "./email-lines.ts";
import { findAddressFacts, findLineFacts, type LineFacts } from "./line-facts.ts";
import { countRecentEmails } from "./recipient-limit.ts";
import { dayOf } from "../../kernel/times.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** A mail of the outbox that is due. */
export type DueEmail = RequestEmail & Pick<Row<"mails">, "account_id" | "email_key" | "due_at">;

/** What the rules say of a mail. */
export interface EmailDecision {
  /** The rule that keeps it back; absent where it may be sent. */
  readonly obstacle?: EmailRuleName | undefined;
  /** The products that it is to speak of: none of a mail that is kept back, or of one that no order brought. */
  readonly productRows: readonly number[];
  /** What one that may be sent is not to speak of, though its order has it; absent where no order brought it. */
  readonly dropped?: DroppedProducts | undefined;
}

/**
 * Judges mails that are due now, in the transaction that is to send them or keep them back.
 * Source: `emailRuleTable`. Assumed: against the most that a person gets count the review requests that were sent to the
 * person, that are being sent, and that this call lets go, the earliest due first; mails that an order did not bring
 * (verifications, confirmations, tests) count for nothing, and are kept back only from who is unsubscribed from their
 * type, reported spam, or cannot be reached. A mail about a whole order speaks of the products that no rule keeps back,
 * and where none is left, the first rule of all of them decides.
 * @returns by the id of the mail
 */
export async function evaluateEmails(
  mails: readonly DueEmail[],
  context: Context,
): Promise<ReadonlyMap<number, EmailDecision>> {
  const judged = new Map<number, EmailDecision>();
  for (const accountId of new Set(mails.map(({ account_id }) => account_id))) {
    const own = mails.filter(({ account_id }) => account_id === accountId);
    const settings = await readEmailSettings(context, accountId);
    const asked = own.filter(({ order_row }) => order_row !== null);
    const others = own.filter(({ order_row }) => order_row === null);
    await evaluateOtherEmails(others, { accountId, settings, judged }, context);
    await evaluateRequests(asked, { accountId, settings, judged }, context);
  }
  return judged;
}

interface Evaluation {
  readonly accountId: number;
  readonly settings: EmailSettings;
  readonly judged: Map<number, EmailDecision>;
}

async function evaluateOtherEmails(
  mails: readonly DueEmail[],
  { accountId, settings, judged }: Evaluation,
  context: Context,
): Promise<void> {
  const known = await findAddressFacts(mails, accountId, context);
  for (const { id } of mails)
    judged.set(id, { obstacle: evaluateAddress(known.get(id), settings), productRows: [] });
}

/** What keeps back a mail that no order brought. */
export function evaluateAddress(
  facts: LineFacts | undefined,
  { bounced_before }: EmailSettings,
): EmailRuleName | undefined {
  if (facts?.unsubscribed) return "unsubscribed";
  if (facts?.reported_spam) return "reported_spam";
  return bounced_before && facts?.bounced_before ? "bounced_before" : undefined;
}

async function evaluateRequests(
  mails: readonly DueEmail[],
  court: Evaluation,
  context: Context,
): Promise<void> {
  const { open, kept } = await evaluateProducts(mails, { ...court, onDay: dayOf(context.nowMs) }, context);
  for (const [id, judgement] of kept) court.judged.set(id, judgement);
  await applyRecipientLimit(open, court, context);
}

interface SortedOut<Mail> {
  /** Which may be sent, as far as their people may have more. */
  readonly open: ReadonlyMap<Mail, EmailDecision>;
  /** By the id of the mail. */
  readonly kept: ReadonlyMap<number, EmailDecision>;
}

/** Judges review requests of an account one by one, as if they were sent on a day. */
export async function evaluateProducts<Mail extends RequestEmail>(
  mails: readonly Mail[],
  { accountId, settings, onDay }: Pick<Evaluation, "accountId" | "settings"> & { readonly onDay: number },
  context: Omit<Context, "nowMs">,
): Promise<SortedOut<Mail>> {
  const open = new Map<Mail, EmailDecision>();
  const kept = new Map<number, EmailDecision>();
  if (mails.length === 0) return { open, kept };
  const lines = await readEmailLines(mails, context);
  const known = new Map<number, LineFacts>();
  for (const emailTypeId of new Set(mails.map(({ email_type_id }) => email_type_id))) {
    const ofType = lines.filter((line) => line.emailTypeId === emailTypeId);
    const asking = { accountId, emailTypeId, reviewedSinceMs: reviewedSinceMs(settings, onDay) };
    for (const [id, facts] of await findLineFacts(ofType, asking, context)) known.set(id, facts);
  }
  const linesOf = new Map<number, EmailLine[]>(mails.map(({ id }) => [id, []]));
  for (const line of lines) linesOf.get(line.mailId)?.push(line);
  for (const mail of mails) {
    const told = (linesOf.get(mail.id) ?? []).map((line) => ({
      row: line.product_row,
      obstacle: findBlockingRule(line, { facts: known.get(line.id), settings, onDay }),
    }));
    const productRows = told.flatMap(({ row, obstacle }) => (obstacle === undefined ? [row] : []));
    const dropped = told.flatMap(({ row, obstacle }) => (obstacle === undefined ? [] : [[row, obstacle]]));
    if (productRows.length > 0) open.set(mail, { productRows, dropped: Object.fromEntries(dropped) });
    else
      kept.set(mail.id, {
        obstacle: findDecidingRule(told.map(({ obstacle }) => obstacle)),
        productRows: [],
      });
  }
  return { open, kept };
}

/** An order that has no product any more, which no call brings about, is as one whose products are not to be asked for. */
export function findDecidingRule(obstacles: readonly (LineRuleName | undefined)[]): LineRuleName {
  return lineRuleNames.find((name) => obstacles.includes(name)) ?? "product_blacklisted";
}

/** Lets mails go as long as their people may have more. */
async function applyRecipientLimit(
  open: ReadonlyMap<DueEmail, EmailDecision>,
  { accountId, settings, judged }: Evaluation,
  context: Context,
): Promise<void> {
  const most = settings.too_many_to_person ? settings.most_mails_to_person : Number.POSITIVE_INFINITY;
  const had = settings.too_many_to_person
    ? await countRecentEmails([...open.keys()], { accountId, days: settings.most_mails_days }, context)
    : new Map<string, number>();
  const inOrder = [...open].toSorted(([one], [other]) => one.due_at - other.due_at || one.id - other.id);
  for (const [{ id, email_key }, judgement] of inOrder) {
    const count = had.get(email_key) ?? 0;
    if (count >= most) {
      judged.set(id, { obstacle: "too_many_to_person", productRows: [] });
      continue;
    }
    had.set(email_key, count + 1);
    judged.set(id, judgement);
  }
}
