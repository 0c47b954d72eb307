import { createHash } from "node:crypto";
import type { EmailSettings } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { isRequest } from "./email-lines.ts";
import { evaluateProducts } from "./evaluation.ts";

/** Bits for the day, counted from the first day of the calendar, and for whether the email counts. */
const [dayBits, countedBits] = [19n, 1n];
const maxDay = 2 ** Number(dayBits) - 1;
const recipientMask = (1n << (64n - dayBits - countedBits)) - 1n;

/** At most `emails` per recipient in `days` days. */
interface RecipientLimit {
  readonly emails: number;
  readonly days: number;
}

interface CalendarSummary {
  readonly emails: number;
  readonly recipients: number;
  readonly days: ReadonlyMap<number, number>;
  /** Emails above the limit per recipient. */
  readonly overLimit: number;
}

/** Emails by recipient and day. Uses eight bytes per email, because a forecast may cover millions of them. */
export class SendCalendar {
  readonly #firstDay: number;
  readonly #today: number;
  #entries = new BigUint64Array(1_024);
  #count = 0;
  #lastAddressKey = "";
  #lastRecipient = 0n;

  /**
   * @param today days since the epoch; overdue emails are sent on this day
   * @param daysBack number of past days for which emails can be reserved
   */
  constructor(today: number, daysBack = 0) {
    this.#today = today;
    this.#firstDay = today - daysBack;
  }

  /** Adds an email to the forecast. */
  add(addressKey: string, day: number): void {
    this.#put(addressKey, Math.max(day, this.#today), 1n);
  }

  /** Adds an email that is not part of the forecast but counts toward the limit of its recipient. */
  reserve(addressKey: string, day: number): void {
    this.#put(addressKey, day, 0n);
  }

  #put(addressKey: string, day: number, counted: bigint): void {
    if (this.#count === this.#entries.length) {
      const grown = new BigUint64Array(this.#entries.length * 2);
      grown.set(this.#entries);
      this.#entries = grown;
    }
    const offset = Math.min(Math.max(day - this.#firstDay, 0), maxDay);
    const when = (BigInt(offset) << countedBits) | counted;
    this.#entries[this.#count] = (this.#hashRecipient(addressKey) << (dayBits + countedBits)) | when;
    this.#count++;
  }

  /** Assigns each recipient's emails in order of their days, up to the limit. */
  summarize({ emails: max, days }: RecipientLimit): CalendarSummary {
    const sorted = this.#entries.subarray(0, this.#count).toSorted();
    const byDay = new Map<number, number>();
    let [emails, recipients, overLimit, recipient, isNew] = [0, 0, 0, -1n, true];
    let sent: number[] = [];
    for (const entry of sorted) {
      const day = Number((entry >> countedBits) & BigInt(maxDay)) + this.#firstDay;
      const isCounted = (entry & 1n) === 1n;
      if (entry >> (dayBits + countedBits) !== recipient) {
        recipient = entry >> (dayBits + countedBits);
        [sent, isNew] = [[], true];
      }
      if (isCounted && isNew) [recipients, isNew] = [recipients + 1, false];
      if (isCounted && sent.length === max && day - (sent[0] ?? day) < days) {
        overLimit++;
        continue;
      }
      sent.push(day);
      if (sent.length > max) sent.shift();
      if (!isCounted) continue;
      emails++;
      byDay.set(day, (byDay.get(day) ?? 0) + 1);
    }
    return { emails, recipients, days: byDay, overLimit };
  }

  /** Returns 44 bits of a digest. With a million recipients, the probability of any collision is 1 in 35. */
  #hashRecipient(addressKey: string): bigint {
    if (addressKey === this.#lastAddressKey) return this.#lastRecipient;
    const digest = createHash("sha256").update(addressKey).digest();
    this.#lastAddressKey = addressKey;
    this.#lastRecipient = digest.readBigUInt64BE() & recipientMask;
    return this.#lastRecipient;
  }
}

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
    .where(isRequest)
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
