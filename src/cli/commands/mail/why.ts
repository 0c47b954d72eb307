import { UserError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";
import { viewOfWhy } from "./why-view.ts";

export const mailWhy = command({
  name: "mail why",
  summary: "Say of an order why its mails were sent or not, rule by rule",
  argument: "<order_id>",
  examples: ["starpost mail why 1001"],
  flags: {
    product: { value: "<id>", description: "only of this product of the order", read: readText },
  },
  run: async (context, { arguments: [order_id = ""], flags: { product: product_id } }) =>
    withService(context, async (service) => {
      try {
        return await service.emails.explain({ order_id, ...(product_id !== undefined && { product_id }) });
      } catch (error) {
        throw asUnknown(error, order_id, product_id);
      }
    }),
  render: viewOfWhy,
});

/** An order that is not there has nothing to do with who is signed in. */
function asUnknown(error: unknown, orderId: string, productId: string | undefined): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "recordNotFound") return error;
  if (productId !== undefined && error.record === "Product") {
    return new UserError(
      "failed",
      `order ${orderId} has no product ${productId}`,
      `\`starpost mail why ${orderId}\` names its products.`,
      error,
    );
  }
  if (error.record !== "Order") return error;
  return new UserError(
    "failed",
    `the account has no order ${orderId}`,
    "No order, no mail: it never came to the service, or under another id. Ids are told apart by capital letters and leading zeros.",
    error,
  );
}
