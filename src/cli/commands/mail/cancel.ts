import { usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { Service } from "../../../service/service.ts";
import { countOf } from "../../../terminal/plural.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import type { Context } from "../../program/context.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { aboutOne } from "../../program/read-records.ts";

export default command({
  summary: "Cancel the unsent emails of an order, or a single email",
  calls: "write",
  argument: "[order_id]",
  examples: [
    "starpost mail cancel 1001",
    "starpost mail cancel 1001 --product teapot",
    "starpost mail cancel --email-id 12",
  ],
  flags: {
    product: {
      value: "<product_id>",
      description: "only emails about this product of the order",
      exclusive: ["email-id"],
      isRepeatable: true,
    },
    "email-id": { value: "<id>", description: "cancel this email", read: readWholeNumber },
  },
  run: async (context, { arguments: [orderId], flags }) => {
    const { "email-id": emailId, product = [] } = flags;
    if (orderId === undefined && emailId === undefined) {
      throw usageError(
        "missing order ID or --email-id",
        "For example: `starpost mail cancel 1001` or `starpost mail cancel --email-id 12`.",
      );
    }
    if (emailId === undefined) return cancelOrder(context, orderId ?? "", product);
    if (orderId !== undefined) throw usageError("--email-id cannot be used with an order ID");
    return cancelEmail(context, emailId);
  },
  render: () => silent(),
});

/** Assumed: as in the API, the emails of an order that has not arrived yet can be canceled; a message points this out. */
async function cancelOrder(context: Context, orderId: string, products: readonly string[]) {
  const emails =
    products.length === 0
      ? `the emails of order ${orderId}`
      : `the emails of order ${orderId} about ${products.join(", ")}`;
  const { pending, warning, isDone } = await context.withService(async (service) => {
    const { mails } = await service.emails.list({ order_id: orderId, state: "queued,leased", count: 1_000 });
    const found = mails.filter(({ product_id }) => products.length === 0 || products.includes(product_id ?? ""));
    const isKnown = found.length > 0;
    return {
      pending: found,
      warning: isKnown ? "" : await describeUnknown(service, orderId, products),
      isDone: isKnown && (await areCanceled(service, orderId, found)),
    };
  });
  if (isDone) {
    context.messages.info(`Nothing to do: ${emails} are already canceled.`);
    return { order_id: orderId, products, waiting: pending.map(({ id }) => id) };
  }
  const count = countOf(pending.length, "email is queued", "emails are queued");
  await confirmDestruction(context, `Cancel ${emails}? ${warning}${count}. This cannot be undone.`);
  await context.withService((service) =>
    service.orders.cancelEmails({
      orders: [{ order_id: orderId, ...(products.length > 0 && { skus: [...products] }) }],
    }),
  );
  const consequence =
    pending.length > 0
      ? `They stay in the queue until they are due and are then not sent. For details, run \`starpost mail why ${orderId}\`.`
      : `${warning}No email is queued; emails queued later are not sent.`;
  context.messages.info(`Canceled ${emails}. ${consequence}`);
  return { order_id: orderId, products, waiting: pending.map(({ id }) => id) };
}

/** Whether the order's emails, which stay in the queue until they are due, are all canceled. */
async function areCanceled(service: Service, orderId: string, queued: readonly { readonly id: number }[]) {
  const { decisions } = await service.emails.explain({ order_id: orderId });
  const canceled = new Set(decisions.flatMap((one) => (one.decided_by === "mails_stopped" ? one.mail_id : [])));
  return queued.every(({ id }) => canceled.has(id));
}

/** Warns about an order ID or product IDs that may be wrong, because the account does not have them. */
async function describeUnknown(service: Service, orderId: string, products: readonly string[]): Promise<string> {
  try {
    const { decisions } = await service.emails.explain({ order_id: orderId });
    const known = new Set(decisions.flatMap((decision) => decision.products.map((one) => one.product_id)));
    const unknown = products.filter((id) => !known.has(id));
    return unknown.length === 0 ? "" : `Order ${orderId} has no product ${unknown.join(", ")} yet. `;
  } catch (error) {
    if (error instanceof ServiceError && error.record === "Order") {
      return `The account has no order ${orderId} yet. `;
    }
    throw error;
  }
}

async function cancelEmail(context: Context, emailId: number) {
  const { mail } = await context.withService((service) =>
    aboutOne("Mail", emailId, () => service.emails.get({ mail_id: emailId })),
  );
  if (mail.state === "not_sent" && mail.reason === "stopped_by_hand") {
    context.messages.info(`Nothing to do: email ${emailId} to ${mail.email} is already canceled.`);
    return { mail };
  }
  await confirmDestruction(context, `Cancel email ${emailId} to ${mail.email}? This cannot be undone.`);
  const canceled = await context.withService((service) =>
    aboutOne("Mail", emailId, () => service.emails.cancel({ mail_id: emailId })),
  );
  context.messages.info(`Canceled email ${emailId} to ${mail.email}.`);
  return canceled;
}
