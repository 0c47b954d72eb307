import { productFields } from "../../contract/record-fields.ts";
import { account, bigint, columnsOf, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

export const productTables = defineTables({
  products: {
    columns: {
      id: rowId,
      account_id: account,
      /** The product ID as the store knows it. */
      product_id: text,
      ...columnsOf(productFields),
      created_at: bigint,
      updated_at: bigint,
      /** 1 if only visitors have named the product, 2 if the store has also published a review of it; see `namedBy`. */
      named_by_visitor: withDefault(integer, 0),
    },
    unique: { products_id: ["account_id", "product_id"] },
    indexes: {
      products_by_change: "(account_id, updated_at, id)",
      products_by_store: "(account_id, id) where named_by_visitor = 0",
    },
    fileIndexes: { products_by_account: "(account_id, id)" },
    uniqueIndexes: { products_by_external_sku: "(account_id, external_sku) where external_sku is not null" },
  },
  /** Order line items that were skipped because of their product ID. */
  missed_products: {
    columns: {
      id: rowId,
      account_id: account,
      order_id: text,
      product_sku: text,
      product_name: text,
      user_email: text,
      user_name: text,
      order_date: bigint,
      created_at: bigint,
      /** The key of the email address. */
      email_key: withDefault(text, ""),
    },
    unique: { missed_products_line: ["account_id", "order_id", "product_sku"] },
    indexes: { missed_products_by_email: "(account_id, email_key)" },
    fileIndexes: { missed_products_by_account: "(account_id, id)" },
  },
  promoted_products: {
    columns: {
      account_id: account,
      /** Starting from 1. */
      position: integer,
      product_row: bigint,
    },
    key: ["account_id", "position"],
    hasManyRows: true,
  },
  product_groups: {
    columns: {
      id: rowId,
      account_id: account,
      name: text,
      created_at: bigint,
      updated_at: bigint,
    },
    unique: { product_groups_name: ["account_id", "name"] },
  },
  group_products: {
    columns: {
      account_id: account,
      group_row: bigint,
      product_row: bigint,
    },
    key: ["account_id", "product_row"],
    hasManyRows: true,
    indexes: { group_products_by_group: "(account_id, group_row, product_row)" },
  },
  coupons: {
    columns: {
      id: rowId,
      account_id: account,
      action: text,
      code: text,
      created_at: bigint,
      /** When the code was issued, if it was. Each code is issued once. */
      issued_at: optional(bigint),
      /** The address of the customer that it was issued to; null after an erasure. */
      issued_to: optional(text),
      email_key: optional(text),
      /** The order whose review it was issued for. */
      order_row: optional(bigint),
    },
    unique: { coupons_code: ["account_id", "code"] },
    indexes: {
      coupons_by_action: "(account_id, action, id)",
      coupons_left: "(account_id, action, id) where issued_at is null",
      coupons_by_email: "(account_id, email_key) where email_key is not null",
    },
    uniqueIndexes: { coupons_of_orders: "(account_id, order_row) where order_row is not null" },
    fileIndexes: { coupons_by_account: "(account_id, id)" },
  },
});
