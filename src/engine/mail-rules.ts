/**
 * When a product of an order brings a mail-after-purchase, as data.
 * Source: practice of services of this kind: no mail for an order older than six months, none to a person who reviewed
 * the same product in the last twelve, no more than five to a person in 30 days. Assumed: a mail is due 14 days after
 * the order's date, and at once where that is past; only mails that are counted together count against the five; who
 * wrote a review under an address that was never verified may be anybody, and keeps no mail back.
 */
export const mailRules = {
  /** Of mails after purchase. Source: spec "Unsubscriber". */
  emailTypeId: 1,
  dueAfterDays: 14,
  oldestOrderMonths: 6,
  reviewedWithinMonths: 12,
  mostToPerson: { mails: 5, days: 30 },
} as const;
