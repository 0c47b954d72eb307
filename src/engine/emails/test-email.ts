import type * as z from "zod";
import { type contract, emailTypeOf, ServiceError } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { queueEmail } from "../kernel/outbox.ts";
import { findOwner } from "../accounts/store-owner.ts";
import { dateOf, dayOf } from "../kernel/times.ts";

type Input = z.output<typeof contract.emails.sendTest.input>;

const sample = {
  is_test: true,
  order_id: "1001",
  product: { product_id: "sample", name: "Sample product", image_url: null },
} as const;

/**
 * Queues a review request for a sample order.
 * @throws ServiceError `invalidParams` if there is no address, or the address is unsubscribed
 * Source: spec "Mail and statistics". Assumed: the default address is that of the account's first owner; test emails are
 * not sent to unsubscribed addresses either, and the caller gets an error; the URL of the sample product is the store's
 * domain, and the order date is today.
 */
export async function sendTestEmail(
  { email }: Input,
  context: HandlerContext,
): Promise<Record<string, never>> {
  const accountId = accountOf(context).id;
  const owner = await findOwner(accountId, context);
  const to = email ?? owner?.email;
  if (!to) {
    throw new ServiceError(
      "invalidParams",
      "Missing email: the account has no email address; specify the recipient",
      { field: "email" },
    );
  }
  const { domain } = await readAccountProfile(context, accountId);
  const { product, ...order } = sample;
  const isQueued = await queueEmail(
    {
      accountId,
      category: "map",
      email: to,
      name: owner?.display_name ?? to,
      data: () => ({
        ...order,
        order_date: dateOf(dayOf(context.nowMs)),
        products: [{ ...product, url: domain }],
      }),
    },
    context,
  );
  if (isQueued) return {};
  throw new ServiceError("invalidParams", `email is unsubscribed from emails of type ${emailTypeOf.map}`, {
    field: "email",
  });
}
