import { recordedCategories } from "../../../contract/emails/categories.ts";
import type { EmailCategory } from "../../../contract/index.ts";
import { emailType, oneOf, readEmail } from "../../program/flag-values.ts";
import { timeFlags, toTimeRange } from "../../program/relative-time.ts";

/** The filters by which emails are listed and selected, except for their states. */
export const emailFilters = {
  email: { value: "<address>", description: "only emails to this address", read: readEmail },
  category: { value: "<category>", description: "only this category", ...oneOf(recordedCategories) },
  type: { value: "<type>", description: "only this email type, by name or number, 1 to 17", ...emailType },
  ...timeFlags,
} as const;

interface EmailFilters {
  readonly state?: readonly string[] | undefined;
  readonly email?: string | undefined;
  readonly category?: EmailCategory | undefined;
  readonly type?: string | undefined;
}

/** The query of a list of emails. */
export function toEmailQuery(flags: EmailFilters & Parameters<typeof toTimeRange>[0], nowMs: number) {
  const { state, email, category, type } = flags;
  return {
    ...(state && { state: state.join(",") }),
    ...(email !== undefined && { email }),
    ...(category !== undefined && { category }),
    ...(type !== undefined && { email_type_id: Number(type) }),
    ...toTimeRange(flags, nowMs),
  };
}
