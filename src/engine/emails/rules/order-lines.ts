import { recordNotFound } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import type { OrderLine } from "./line-facts.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";

/** A product of the order. */
export interface OrderedProduct extends OrderLine {
  readonly name: string;
  readonly arrivedMs: number;
}

/** What one mail is about, there or not. */
export interface EmailCase {
  readonly mail: Row<"mails"> | undefined;
  readonly products: readonly OrderedProduct[];
}

/** @throws ServiceError `recordNotFound` */
export async function findOrder(order_id: string, context: HandlerContext): Promise<Row<"orders">> {
  const found = await context.transaction
    .selectFrom("orders")
    .selectAll()
    .where("account_id", "=", accountOf(context).id)
    .where("order_id", "=", order_id)
    .executeTakeFirst();
  if (found) return found;
  throw recordNotFound("Order", "order_id", order_id);
}

/**
 * One case for each product that has a mail of its own, or none, and one for the mail about the whole order.
 * @param product_id only the case of this product
 * @throws ServiceError `recordNotFound` where the order has no such product
 */
export async function gatherCases(
  order: Row<"orders">,
  product_id: string | undefined,
  { transaction }: HandlerContext,
): Promise<readonly EmailCase[]> {
  const products: readonly OrderedProduct[] = await transaction
    .selectFrom("purchases")
    .innerJoin("products", "products.id", "purchases.product_row")
    .select((eb) => [
      "purchases.id",
      "purchases.created_at as arrivedMs",
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
  const mails = await transaction
    .selectFrom("mails")
    .selectAll()
    .where("order_row", "=", order.id)
    .where("category", "=", "map")
    .execute();
  const mailOf = new Map(mails.map((mail) => [mail.product_row, mail]));
  const whole = mailOf.get(wholeOrderRow);
  // As `readEmailLines` has it.
  const isOfWhole = ({ product_row, arrivedMs }: OrderedProduct) =>
    whole !== undefined && !mailOf.has(product_row) && arrivedMs >= whole.created_at;
  const cases: EmailCase[] = products
    .filter((product) => !isOfWhole(product))
    .map((product) => ({ mail: mailOf.get(product.product_row), products: [product] }));
  if (whole) cases.push({ mail: whole, products: products.filter(isOfWhole) });
  const wanted = cases.filter(
    (one) => product_id === undefined || one.products.some((product) => product.product_id === product_id),
  );
  if (wanted.length > 0) return wanted;
  throw recordNotFound("Product", "product_id", product_id ?? "", ` in order ${order.order_id}`);
}
