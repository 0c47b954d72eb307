import type { EmailSettings } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { evaluateProducts } from "./evaluate.ts";
import { dayOf } from "../../kernel/times.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;
type Mail = Row<"mails">;

/**
 * Whether a mail that waits would be one too many for its person on the day on which it is due: with what the person had
 * by now, and what will have gone to the person before it, by what is known now.
 */
export async function exceedsLimitWhenDue(
  mail: Mail,
  settings: EmailSettings,
  context: Context,
): Promise<boolean> {
  if (!settings.too_many_to_person) return false;
  const { transaction, nowMs } = context;
  const others = await transaction
    .selectFrom("mails")
    .selectAll()
    .where("account_id", "=", mail.account_id)
    .where("email_key", "=", mail.email_key)
    .where("order_row", "is not", null)
    .execute();
  const hadOn = others.flatMap(({ sent_at, state }) => {
    if (sent_at !== null) return [dayOf(sent_at)];
    return state === "leased" || state === "sending" ? [dayOf(nowMs)] : [];
  });
  const { most_mails_to_person, most_mails_days } = settings;
  const hasEnoughOn = (day: number) =>
    hadOn.filter((had) => had > day - most_mails_days).length >= most_mails_to_person;
  const dueOn = ({ due_at }: Mail) => dayOf(Math.max(due_at, nowMs));
  const earlier = others.filter((other) => other.state === "queued" && isEarlier(other, mail));
  for (const onDay of [...new Set(earlier.map(dueOn))].toSorted((one, other) => one - other)) {
    const due = earlier.filter((other) => dueOn(other) === onDay);
    const { open } = await evaluateProducts(due, { accountId: mail.account_id, settings, onDay }, context);
    for (let more = open.size; more > 0 && !hasEnoughOn(onDay); more--) hadOn.push(onDay);
  }
  return hasEnoughOn(dueOn(mail));
}

/** As `evaluateEmails` lets them go. */
function isEarlier(one: Mail, other: Mail): boolean {
  return one.due_at < other.due_at || (one.due_at === other.due_at && one.id < other.id);
}
