import { createHash } from "node:crypto";

/** Bits of a day's number, counted from the calendar's first day. */
const dayBits = 20n;
const maxDay = 2 ** Number(dayBits) - 1;
const personMask = (1n << (64n - dayBits)) - 1n;

/** What a person may get: no more than `mails` in `days` days. */
export interface PersonLimit {
  readonly mails: number;
  readonly days: number;
}

/** What came of the mails that a calendar was given. */
export interface Calendar {
  readonly mails: number;
  readonly people: number;
  /** Day to mails. */
  readonly days: ReadonlyMap<number, number>;
  /** Mails that are too many for a person. */
  readonly surplus: number;
}

/** Mails by person and day, eight bytes each, since a forecast may be of millions of them. */
export class MailCalendar {
  readonly #firstDay: number;
  #mails = new BigUint64Array(1_024);
  #count = 0;
  #lastEmail = "";
  #lastPerson = 0n;

  /** @param firstDay days since the epoch; what is due before it is due then */
  constructor(firstDay: number) {
    this.#firstDay = firstDay;
  }

  /** @param emailKey what tells a person from others */
  add(emailKey: string, day: number): void {
    if (this.#count === this.#mails.length) {
      const grown = new BigUint64Array(this.#mails.length * 2);
      grown.set(this.#mails);
      this.#mails = grown;
    }
    const offset = Math.min(Math.max(day - this.#firstDay, 0), maxDay);
    this.#mails[this.#count] = (this.#personOf(emailKey) << dayBits) | BigInt(offset);
    this.#count++;
  }

  /** Gives each person's mails out in the order of their days, as far as the limit allows. */
  close({ mails: most, days }: PersonLimit): Calendar {
    const sorted = this.#mails.subarray(0, this.#count).toSorted();
    const byDay = new Map<number, number>();
    let [people, surplus, person] = [0, 0, -1n];
    let sent: number[] = [];
    for (const mail of sorted) {
      const day = Number(mail & BigInt(maxDay)) + this.#firstDay;
      if (mail >> dayBits !== person) {
        person = mail >> dayBits;
        people++;
        sent = [];
      }
      if (sent.length === most && day - (sent[0] ?? day) < days) {
        surplus++;
        continue;
      }
      sent.push(day);
      if (sent.length > most) sent.shift();
      byDay.set(day, (byDay.get(day) ?? 0) + 1);
    }
    return { mails: this.#count - surplus, people, days: byDay, surplus };
  }

  /** 44 bits of a digest: of a million people, the odds that any two are taken for one are 1 in 35. */
  #personOf(emailKey: string): bigint {
    if (emailKey === this.#lastEmail) return this.#lastPerson;
    const digest = createHash("sha256").update(emailKey).digest();
    this.#lastEmail = emailKey;
    this.#lastPerson = digest.readBigUInt64BE() & personMask;
    return this.#lastPerson;
  }
}
