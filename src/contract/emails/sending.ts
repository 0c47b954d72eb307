import { dayMs } from "../time.ts";

/**
 * Limits of the emails that an account sends through a mail server.
 * Assumed: the specification states none. Few stores have more than 10,000 orders a day; the operator can change the
 * quota of each account.
 */
export const emailSendingLimits = {
  /** Emails per account and day (UTC). */
  perDay: { default: 10_000, max: 100_000_000 },
  /** How long an email may be held, in milliseconds. After that, it is not sent anymore. */
  holdMs: 30 * dayMs,
  /** Test recipients that the operator may approve per account. */
  testRecipients: 100,
} as const;

/**
 * Why an email is held. It stays queued. The reason is reviewed every day at 0:00 UTC, but a stopped campaign when it is
 * resumed.
 */
export const emailHolds = {
  email_not_enabled: "the operator of the service has not enabled email for the account",
  daily_quota_reached: "the account has reached its daily email quota",
  campaign_stopped: "its campaign is stopped",
} as const;
export type EmailHold = keyof typeof emailHolds;

/** Describes why a queued email is held; undefined if the reason is another one. */
export function describeHold(reason: string | null): string | undefined {
  return reason !== null && Object.hasOwn(emailHolds, reason) ? emailHolds[reason as EmailHold] : undefined;
}
