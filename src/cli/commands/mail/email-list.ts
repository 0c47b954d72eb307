import { UserError } from "../../../config/user-error.ts";
import type { EmailRecord, EmailSort } from "../../../contract/emails/emails.ts";
import { withService } from "../../program/with-service.ts";
import type { FlagValues } from "../../program/command.ts";
import type { Context } from "../../program/context.ts";
import { readText, readWholeNumber } from "../../program/flag-values.ts";

/** The flags of commands that list mails. */
export const mailListFlags = {
  email: { value: "<address>", description: "those to this person alone", read: readText },
  order: { value: "<order_id>", description: "those that this order brings", read: readText },
  limit: { value: "<n>", description: "how many at most (20)", read: readWholeNumber },
} as const;

const usualLimit = 20;

/** Lists mails, and says where there are more of them. */
export async function listMails(
  context: Context,
  { email, order, limit = usualLimit }: FlagValues<typeof mailListFlags>,
  { state, sort }: { readonly state: string; readonly sort: EmailSort },
): Promise<readonly EmailRecord[]> {
  const { emailPage } = await import("../../../contract/emails/emails.ts");
  if (limit >= emailPage.max)
    throw new UserError("usage", `--limit: at most ${emailPage.max - 1} are listed at once`);
  const query = {
    state,
    sort,
    count: limit + 1,
    ...(email !== undefined && { email }),
    ...(order !== undefined && { order_id: order }),
  };
  const { mails } = await withService(context, (service) => service.emails.list(query));
  if (mails.length > limit) context.messages.info(`There are more than these ${limit}; --limit shows more.`);
  return mails.slice(0, limit);
}
