import { UserError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { silent } from "../../../terminal/view.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Service } from "../../../service/service.ts";
import { aboutOne, withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import type { Context } from "../../program/context.ts";
import { readText, readWholeNumber } from "../../program/flag-values.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export const mailStop = command({
  name: "mail stop",
  summary: "Stop the mails of an order, or of products in it, or one mail that waits",
  argument: "[order_id]",
  examples: [
    "starpost mail stop 1001",
    "starpost mail stop 1001 --product teapot",
    "starpost mail stop --mail 12",
  ],
  flags: {
    product: {
      value: "<id>",
      description: "only about this product of the order",
      isRepeatable: true,
      read: readText,
    },
    mail: { value: "<id>", description: "this one mail, by its id", read: readWholeNumber },
  },
  run: async (context, { arguments: [orderId], flags }) => {
    const { mail: mailId, product = [] } = flags;
    if ((orderId === undefined) === (mailId === undefined)) {
      throw new UserError(
        "usage",
        "say what to stop: an order's id, or one mail with --mail",
        "`starpost mail stop 1001`, or `starpost mail stop --mail 12`.",
      );
    }
    if (mailId === undefined) return stopOrder(context, orderId ?? "", product);
    if (product.length > 0)
      throw new UserError("usage", "--product is for an order, and not for --mail", "Leave one of them out.");
    return stopMail(context, mailId);
  },
  render: () => silent(),
});

/** Assumed: an order that has not arrived yet can be stopped as well, as over the API; the person is told. */
async function stopOrder(context: Context, orderId: string, products: readonly string[]) {
  const what =
    products.length === 0
      ? `the mails of order ${orderId}`
      : `the mails of order ${orderId} about ${products.join(", ")}`;
  const { waiting, doubt } = await withService(context, async (service) => {
    const { mails } = await service.emails.list({ order_id: orderId, state: "queued,leased", count: 1_000 });
    const those = mails.filter(
      ({ product_id }) => products.length === 0 || products.includes(product_id ?? ""),
    );
    return { waiting: those, doubt: those.length > 0 ? "" : await findDoubt(service, orderId, products) };
  });
  const waits = `${doubt}${countOf(waiting.length, "such mail waits", "such mails wait")} now.`;
  await confirmDestruction(context, `Stop ${what}? ${waits} This cannot be taken back.`);
  await withService(context, (service) =>
    service.orders.cancelEmails({
      orders: [{ order_id: orderId, ...(products.length > 0 && { skus: [...products] }) }],
    }),
  );
  const rest =
    waiting.length > 0
      ? `What waits stays in the queue until it is due, and is not sent then: starpost mail why ${orderId}`
      : `${doubt}No such mail waits now; what is still to come is not sent.`;
  context.messages.info(`Stopped ${what}. ${rest}`);
  return { order_id: orderId, products, waiting: waiting.map(({ id }) => id) };
}

/** Says that an id is not known, which may be a wrong one. */
async function findDoubt(service: Service, orderId: string, products: readonly string[]): Promise<string> {
  try {
    const { decisions } = await service.emails.explain({ order_id: orderId });
    const known = new Set(decisions.flatMap((decision) => decision.products.map((one) => one.product_id)));
    const unknown = products.filter((id) => !known.has(id));
    return unknown.length === 0 ? "" : `Order ${orderId} has no product ${unknown.join(", ")} so far. `;
  } catch (error) {
    if (error instanceof ServiceError && error.record === "Order") {
      return `The account has no order ${orderId} so far. `;
    }
    throw error;
  }
}

async function stopMail(context: Context, mailId: number) {
  const { mail } = await withService(context, (service) =>
    aboutOne("Mail", mailId, () => service.emails.get({ mail_id: mailId })),
  );
  await confirmDestruction(context, `Stop mail ${mailId} to ${mail.email}? This cannot be taken back.`);
  const stopped = await withService(context, (service) =>
    aboutOne("Mail", mailId, () => service.emails.cancel({ mail_id: mailId })),
  );
  context.messages.info(`Stopped mail ${mailId} to ${mail.email}.`);
  return stopped;
}
