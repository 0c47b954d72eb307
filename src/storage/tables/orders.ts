import type { Generated } from "kysely";

export interface OrderTables {
  orders: {
    id: Generated<number>;
    account_id: number;
    order_id: string;
    platform: string;
    email: string;
    customer_name: string;
    /** Midnight UTC of the order date, or the time of the call if no date was passed. */
    order_date: number;
    currency_iso: string | null;
    user_reference: string | null;
    created_at: number;
    /** Whether emails are sent for it. Not for orders imported as past orders. */
    sends_mail: Generated<number>;
  };
  /** The email addresses of orders, added on demand. The last row shows how far. */
  order_emails: {
    account_id: number;
    order_row: number;
    /** In lower case, as converted by the database. */
    email_key: string;
  };
  purchases: {
    id: Generated<number>;
    account_id: number;
    order_row: number;
    product_row: number;
    /** The number of the order's line item for this product, starting from 1. */
    unit: number;
    price: string | null;
    created_at: number;
  };
  /** Purchases by day of creation, so that the total of a list takes constant time. */
  purchase_days: {
    account_id: number;
    /** Days since the epoch, UTC. */
    day: number;
    /** The lowest ID of the day's purchases. */
    first_id: number;
    purchases: number;
  };
}
