/**
 * A token bucket: it holds `burst` tokens and is refilled with `perHour` tokens an hour. Each call takes a token; a call
 * that finds the bucket empty is refused.
 */
export interface TokenBucket {
  readonly burst: number;
  readonly perHour: number;
}

/**
 * The default limits of calls that anyone can make and that store something or send email, in calls by client (IP address;
 * for IPv6, the /64 network), by account, and by recipient of the email across all accounts. Calls with a token of the
 * account are not limited. `failures` are calls with an invalid token, secret, or signature.
 * Assumed: the specification defines no such limits.
 */
export const publicLimits = {
  "submissions-per-client": { burst: 20, perHour: 20 },
  "submissions-per-account": { burst: 100, perHour: 100 },
  "submissions-per-recipient": { burst: 5, perHour: 1 },
  "votes-per-client": { burst: 60, perHour: 360 },
  "votes-per-account": { burst: 600, perHour: 3_600 },
  "images-per-client": { burst: 30, perHour: 60 },
  "sign-ups-per-client": { burst: 5, perHour: 5 },
  "failures-per-client": { burst: 20, perHour: 600 },
} as const satisfies Readonly<Record<string, TokenBucket>>;

export type PublicLimitName = keyof typeof publicLimits;

/** The limits that a server enforces. Calls are not limited by a name that is missing. */
export type PublicLimits = Readonly<Partial<Record<PublicLimitName, TokenBucket>>>;

/** What a public call does, which decides its limits. `submissions` are reviews and questions. */
export type PublicCallKind = "submissions" | "votes" | "images" | "sign-ups";
