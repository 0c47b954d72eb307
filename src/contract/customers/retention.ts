import * as z from "zod";
import { lazily } from "../lazily.ts";

/** How long records may stay, in days. */
const retentionLimits = { min: 1, max: 3_650 } as const;

const badRetention = `must be a number of days from ${retentionLimits.min} to ${retentionLimits.max}, such as 90d, or forever`;

/** A number of days; 0 for `forever`. */
export const retention = lazily(() =>
  z
    .union([z.number().transform((days) => `${days}d`), z.string()], { error: badRetention })
    .refine((value) => value === "forever" || isRetention(value), { error: badRetention })
    .transform((value) => (value === "forever" ? 0 : Number.parseInt(value, 10))),
);

function isRetention(value: string): boolean {
  const days = /^\d{1,4}d$/.test(value) ? Number.parseInt(value, 10) : 0;
  return days >= retentionLimits.min && days <= retentionLimits.max;
}

/** The settings of an account, in days. */
export const retentionSettings = lazily(() => ({
  /** After how many days the address and content of emails are removed; absent if they stay. */
  retain_emails: z.number().int().optional(),
  /** After how many days webhook deliveries are deleted; absent if they stay. */
  retain_webhooks: z.number().int().optional(),
}));
