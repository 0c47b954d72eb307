import { orderFields } from "../../contract/record-fields.ts";
import { account, bigint, columnsOf, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

export const orderTables = defineTables({
  orders: {
    columns: {
      id: rowId,
      account_id: account,
      /** `order_date` is midnight UTC, or the time of the call if no date was passed. */
      ...columnsOf(orderFields),
      platform: text,
      created_at: bigint,
      /** Whether emails are sent for it. Not for orders imported as past orders. */
      sends_mail: withDefault(integer, 0),
    },
    unique: { orders_id: ["account_id", "order_id"] },
  },
  /** The keys of the email addresses of orders, added on demand. The last row shows how far. */
  order_emails: {
    columns: {
      account_id: account,
      order_row: bigint,
      email_key: text,
    },
    key: ["account_id", "order_row"],
    hasManyRows: true,
    indexes: { order_emails_by_email: "(account_id, email_key, order_row)" },
  },
  purchases: {
    columns: {
      id: rowId,
      account_id: account,
      order_row: bigint,
      product_row: bigint,
      /** The number of the order's line item for this product, starting from 1. */
      unit: integer,
      price: optional(text),
      created_at: bigint,
    },
    unique: { purchases_unit: ["account_id", "order_row", "product_row", "unit"] },
    indexes: { purchases_by_product: "(account_id, product_row, id)" },
    fileIndexes: { purchases_by_account: "(account_id, id)" },
  },
  /** Purchases by day of creation, so that the total of a list takes constant time. */
  purchase_days: {
    columns: {
      account_id: account,
      /** Days since the epoch, UTC. */
      day: bigint,
      /** The lowest ID of the day's purchases. */
      first_id: bigint,
      purchases: bigint,
    },
    key: ["account_id", "day"],
    hasManyRows: true,
  },
});
