import { type contract, emailKeyOf, type EmailRuleName, type RecipientOutcome } from "../../../contract/index.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { queueEmails } from "../../kernel/outbox.ts";
import { evaluateEmails, toDueEmail } from "../rules/evaluation.ts";
import type * as z from "zod";

type Input = z.output<typeof contract.emails.send.input>;
type Recipient = Input["recipients"][number];
type Output = z.output<typeof contract.emails.send.output>;

/**
 * Sends emails to addresses that the store names.
 * Assumed: all rules apply, when an email is queued and again when it is sent. An email is repeated if its address got one of
 * the category with the same reference, or, without references, with the same date; without either, none is.
 */
export async function sendEmails({ category, recipients }: Input, context: HandlerContext): Promise<Output> {
  const outcomes = await decide({ category, recipients }, context);
  const { id: accountId } = accountOf(context);
  const chosen = [...recipients.entries()].filter(([at]) => isSendable(outcomes[at]));
  const emails = chosen.map(([, { email, name = "", reference, date }]) => {
    return { accountId, category, email, name, data: () => ({ is_test: false, reference, date }) };
  });
  const ids = await queueEmails(emails, accountId, context);
  const idAt = new Map(chosen.map(([at], nth) => [at, ids[nth] ?? null]));
  return { recipients: outcomes.map((outcome, at) => Object.assign(outcome, { mail_id: idAt.get(at) ?? null })) };
}

/** Reports what `sendEmails` would do. */
export async function previewSend(input: Input, context: HandlerContext): Promise<Output> {
  return { recipients: [...(await decide(input, context))] };
}

function isSendable(outcome: RecipientOutcome | undefined): boolean {
  return outcome?.is_repeated === false && outcome.rule === null;
}

async function decide(input: Input, context: HandlerContext): Promise<readonly RecipientOutcome[]> {
  const isRepeated = await findRepeated(input, context);
  const emails = input.recipients.map(({ email, date }, id) => {
    // Its age decides whether the case is too old.
    const created_at = date === undefined ? context.nowMs : Date.parse(date);
    return { ...toDueEmail(input.category, email, context), id, created_at };
  });
  const decisions = await evaluateEmails(
    emails.filter(({ id }) => isRepeated[id] === false),
    context,
  );
  return input.recipients.map(({ email, reference }, at) => ({
    email,
    reference: reference ?? null,
    is_repeated: isRepeated[at] === true,
    rule: (decisions.get(at)?.rule ?? null) satisfies EmailRuleName | null,
    mail_id: null,
  }));
}

/** What identifies an email to an address; undefined if nothing does. */
function keyOf(email: string, { reference, date }: Pick<Recipient, "reference" | "date">): string | undefined {
  const subject = reference || date;
  return subject === undefined ? undefined : JSON.stringify([emailKeyOf(email), subject]);
}

/** Finds the recipients who got the same email before, or twice in the call. */
async function findRepeated({ category, recipients }: Input, context: HandlerContext): Promise<readonly boolean[]> {
  const known = new Set<string | undefined>();
  const keys = [...new Set(recipients.map(({ email }) => emailKeyOf(email)))];
  const found = await selectAccountRows("mails", accountOf(context).id, context.transaction)
    .select(["email", "data"])
    .where("email_key", "in", keys)
    .where("category", "=", category)
    .execute();
  for (const { email, data } of found) known.add(keyOf(email, JSON.parse(data) as Recipient));
  known.delete(undefined);
  return recipients.map((recipient) => {
    const key = keyOf(recipient.email, recipient);
    const isKnown = known.has(key);
    if (key !== undefined) known.add(key);
    return isKnown;
  });
}
