import { recordNotFound } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { sameAccount, selectAccountRows } from "../../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import type { OrderLine } from "./line-facts.ts";

export interface OrderedProduct extends OrderLine {
  readonly name: string;
  /** When the service received the product with the order. */
  readonly receivedMs: number;
}

/** An email with the products that it is about, or products without an email. */
export interface EmailCase {
  readonly email: Row<"mails"> | undefined;
  readonly products: readonly OrderedProduct[];
}

/** @throws ServiceError `recordNotFound` */
export async function findOrder(order_id: string, context: HandlerContext): Promise<Row<"orders">> {
  const order = await selectAccountRows("orders", accountOf(context).id, context.transaction)
    .selectAll()
    .where("order_id", "=", order_id)
    .executeTakeFirst();
  if (order) return order;
  throw recordNotFound("Order", "order_id", order_id);
}

/**
 * Reads one case for each product that has its own email or none, and one for the email about the entire order.
 * @param product_id reads only the case of this product
 * @throws ServiceError `recordNotFound` if the order does not contain the product
 */
export async function readEmailCases(
  order: Row<"orders">,
  product_id: string | undefined,
  { transaction }: HandlerContext,
): Promise<readonly EmailCase[]> {
  const products: readonly OrderedProduct[] = await selectAccountRows("purchases", order.account_id, transaction)
    .innerJoin("products", sameAccount("products.id", "purchases.product_row"))
    .select((eb) => [
      "purchases.id",
      "purchases.created_at as receivedMs",
      "purchases.product_row",
      "products.product_id",
      "products.name",
      "products.blacklisted",
      eb.val(order.order_id).as("order_id"),
      eb.val(order.order_date).as("order_date"),
      eb.val(order.email).as("email"),
    ])
    .where("purchases.order_row", "=", order.id)
    .where("purchases.unit", "=", 1)
    .orderBy("purchases.id")
    .execute();
  const emails = await selectAccountRows("mails", order.account_id, transaction)
    .selectAll()
    .where("order_row", "=", order.id)
    .where("category", "=", "map")
    .execute();
  const emailByProduct = new Map(emails.map((email) => [email.product_row, email]));
  const orderEmail = emailByProduct.get(wholeOrderRow);
  // Same condition as in `readEmailLines`.
  const isInOrderEmail = ({ product_row, receivedMs }: OrderedProduct) =>
    orderEmail !== undefined && !emailByProduct.has(product_row) && receivedMs >= orderEmail.created_at;
  const cases: EmailCase[] = products
    .filter((product) => !isInOrderEmail(product))
    .map((product) => ({ email: emailByProduct.get(product.product_row), products: [product] }));
  if (orderEmail) cases.push({ email: orderEmail, products: products.filter(isInOrderEmail) });
  const matching = cases.filter(
    (emailCase) => product_id === undefined || emailCase.products.some((product) => product.product_id === product_id),
  );
  if (matching.length > 0) return matching;
  throw recordNotFound("Product", "product_id", product_id ?? "", ` in order ${order.order_id}`);
}
