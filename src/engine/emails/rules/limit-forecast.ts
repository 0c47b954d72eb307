import type { EmailSettings } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { isOfOrder } from "./email-lines.ts";
import { evaluateProducts } from "./evaluation.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "sealer" | "nowMs">;
type Email = Row<"mails">;

/**
 * Returns whether a queued email will exceed the limit of its recipient on its due day, counting the emails already sent
 * to the recipient and those that will be sent before it, based on current data.
 */
export async function exceedsLimitWhenDue(email: Email, settings: EmailSettings, context: Context): Promise<boolean> {
  if (!settings.too_many_to_person) return false;
  const { transaction, nowMs } = context;
  const recipientEmails = await selectAccountRows("mails", email.account_id, transaction)
    .selectAll()
    .where("email_key", "=", email.email_key)
    .where(isOfOrder)
    .execute();
  const sentOn = recipientEmails.flatMap(({ sent_at, state }) => {
    if (sent_at !== null) return [dayOf(sent_at)];
    return state === "leased" || state === "sending" ? [dayOf(nowMs)] : [];
  });
  const { most_mails_to_person: max, most_mails_days: period } = settings;
  const isLimitReached = (day: number) => sentOn.filter((sent) => sent > day - period).length >= max;
  const dueOn = ({ due_at }: Email) => dayOf(Math.max(due_at, nowMs));
  const earlier = recipientEmails.filter((other) => other.state === "queued" && isEarlier(other, email));
  for (const onDay of [...new Set(earlier.map(dueOn))].toSorted((a, b) => a - b)) {
    const due = earlier.filter((other) => dueOn(other) === onDay);
    const query = { accountId: email.account_id, settings, onDay };
    const { approved } = await evaluateProducts(due, query, context);
    for (let left = approved.size; left > 0 && !isLimitReached(onDay); left--) sentOn.push(onDay);
  }
  return isLimitReached(dueOn(email));
}

/** The order in which `evaluateEmails` approves emails. */
function isEarlier(a: Email, b: Email): boolean {
  return a.due_at < b.due_at || (a.due_at === b.due_at && a.id < b.id);
}
