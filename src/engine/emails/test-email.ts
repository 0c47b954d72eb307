import type * as z from "zod";
import { type contract, emailTypeOf, ServiceError } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { queueEmail } from "../kernel/outbox.ts";
import { findOwner } from "../accounts/store-owner.ts";
import { dateOf, dayOf } from "../kernel/times.ts";

type Input = z.output<typeof contract.emails.sendTest.input>;

const reviewRequestType = emailTypeOf.map;

/** What a test mail speaks of. */
const sample = {
  is_test: true,
  order_id: "1001",
  product: { product_id: "sample", name: "Sample product", image_url: null },
} as const;

/**
 * Queues a mail-after-purchase of a sample order.
 * @throws ServiceError `invalidParams` when there is no address, or it has unsubscribed
 * Source: spec "Mail and statistics". Assumed: the account's email is that of its first owner; a test mail is no
 * reason to mail an address that has unsubscribed, and whoever waits for it is told; its product is at the store's
 * own address, and the order is of today.
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
  throw new ServiceError("invalidParams", `email is unsubscribed from mails of type ${reviewRequestType}`);
}
