import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { aboutOne } from "../../program/read-records.ts";
import { formatTime } from "../mail/email-format.ts";

export default command({
  summary: "Show an order with its products",
  calls: "read",
  argument: "<order_id>",
  examples: ["starpost orders get 1001", "starpost orders get 1001 --jq '.order.products[].product_id'"],
  run: (context, { arguments: [order_id = ""] }) =>
    context.withService(({ orders }) => aboutOne("Order", order_id, () => orders.get({ order_id }))),
  render: ({ order: { products, ...order } }) =>
    fields({
      ...order,
      order_date: order.order_date.slice(0, "YYYY-MM-DD".length),
      created_at: formatTime(order.created_at),
      ...Object.fromEntries(
        products.map(({ product_id, name, quantity, price, review_id }, at) => [
          `product ${at + 1}`,
          [`${product_id}: ${name}`, quantity > 1 && `× ${quantity}`, price, review_id && `(review ${review_id})`]
            .filter((part) => typeof part === "string")
            .join(" "),
        ]),
      ),
    }),
});
