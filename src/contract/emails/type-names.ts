/** Names of the email types, which commands and files accept for their numbers. Assumed: the specification has only descriptions. */
export const emailTypeNames = {
  1: "reviews",
  2: "targeted-reviews",
  3: "service",
  4: "comment-requests",
  5: "comments",
  6: "site-reviews",
  7: "invoices",
  8: "question-confirmations",
  9: "store-questions",
  10: "shopper-questions",
  11: "store-answers",
  12: "shopper-answers",
  13: "resent-reminders",
  14: "review-verifications",
  15: "targeted-product-reviews",
  16: "coupon-reminders",
  17: "coupons",
} as const;

/** The ID of an email type, from its name (in any case) or its number; undefined for anything else. */
export function readEmailTypeId(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return Object.entries(emailTypeNames).find(([id, known]) => id === name || known === name)?.[0];
}

/** The name of an email type, or its number if it has no name. */
export function nameEmailType(id: number): string {
  return (emailTypeNames as Readonly<Record<number, string>>)[id] ?? String(id);
}
