import { createHash } from "node:crypto";

/** Bits of a day's number, counted from the calendar's first day, and one that says whether the mail is counted. */
const [dayBits, countedBits] = [19n, 1n];
const maxDay = 2 ** Number(dayBits) - 1;
const personMask = (1n << (64n - dayBits - countedBits)) - 1n;

/** What a person may get: no more than `mails` in `days` days. */
export interface RecipientLimit {
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
export class SendCalendar {
  readonly #firstDay: number;
  readonly #today: number;
  #mails = new BigUint64Array(1_024);
  #count = 0;
  #lastEmail = "";
  #lastPerson = 0n;

  /**
   * @param today days since the epoch; what was due before is due then
   * @param daysBack so far back go mails that are only heeded
   */
  constructor(today: number, daysBack = 0) {
    this.#today = today;
    this.#firstDay = today - daysBack;
  }

  /** @param addressKey what tells a person from others */
  add(addressKey: string, day: number): void {
    this.#put(addressKey, Math.max(day, this.#today), 1n);
  }

  /** A mail that the person has had, or will have anyway: it leaves room for fewer others, and is not counted. */
  heed(addressKey: string, day: number): void {
    this.#put(addressKey, day, 0n);
  }

  #put(addressKey: string, day: number, counted: bigint): void {
    if (this.#count === this.#mails.length) {
      const grown = new BigUint64Array(this.#mails.length * 2);
      grown.set(this.#mails);
      this.#mails = grown;
    }
    const offset = Math.min(Math.max(day - this.#firstDay, 0), maxDay);
    const when = (BigInt(offset) << countedBits) | counted;
    this.#mails[this.#count] = (this.#personOf(addressKey) << (dayBits + countedBits)) | when;
    this.#count++;
  }

  /** Gives each person's mails out in the order of their days, as far as the limit allows. */
  close({ mails: most, days }: RecipientLimit): Calendar {
    const sorted = this.#mails.subarray(0, this.#count).toSorted();
    const byDay = new Map<number, number>();
    let [mails, people, surplus, person, isNew] = [0, 0, 0, -1n, true];
    let sent: number[] = [];
    for (const mail of sorted) {
      const day = Number((mail >> countedBits) & BigInt(maxDay)) + this.#firstDay;
      const isCounted = (mail & 1n) === 1n;
      if (mail >> (dayBits + countedBits) !== person) {
        person = mail >> (dayBits + countedBits);
        [sent, isNew] = [[], true];
      }
      if (isCounted && isNew) [people, isNew] = [people + 1, false];
      if (isCounted && sent.length === most && day - (sent[0] ?? day) < days) {
        surplus++;
        continue;
      }
      sent.push(day);
      if (sent.length > most) sent.shift();
      if (!isCounted) continue;
      mails++;
      byDay.set(day, (byDay.get(day) ?? 0) + 1);
    }
    return { mails, people, days: byDay, surplus };
  }

  /** 44 bits of a digest: of a million people, the odds that any two are taken for one are 1 in 35. */
  #personOf(addressKey: string): bigint {
    if (addressKey === this.#lastEmail) return this.#lastPerson;
    const digest = createHash("sha256").update(addressKey).digest();
    this.#lastEmail = addressKey;
    this.#lastPerson = digest.readBigUInt64BE() & personMask;
    return this.#lastPerson;
  }
}
