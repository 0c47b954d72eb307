import type { Generated } from "kysely";

export interface ProductTables {
  products: {
    id: Generated<number>;
    account_id: number;
    /** The product ID as the store knows it. */
    product_id: string;
    name: string;
    url: string;
    image_url: string | null;
    description: string | null;
    currency_iso: string | null;
    price: string | null;
    product_tags: string | null;
    blacklisted: Generated<number>;
    upc: string | null;
    mpn: string | null;
    brand: string | null;
    isbn: string | null;
    sku: string | null;
    external_sku: string | null;
    created_at: number;
    updated_at: number;
    /** 1 if only a review or a question without a token of the account has named the product. */
    named_by_visitor: Generated<number>;
  };
  /** Order line items that were skipped because of their product ID. */
  missed_products: {
    id: Generated<number>;
    account_id: number;
    order_id: string;
    product_sku: string;
    product_name: string;
    user_email: string;
    user_name: string;
    order_date: number;
    created_at: number;
  };
  promoted_products: {
    account_id: number;
    /** Starting from 1. */
    position: number;
    product_row: number;
  };
  product_groups: {
    id: Generated<number>;
    account_id: number;
    name: string;
    created_at: number;
    updated_at: number;
  };
  group_products: {
    account_id: number;
    group_row: number;
    product_row: number;
  };
  coupons: {
    id: Generated<number>;
    account_id: number;
    action: string;
    code: string;
    created_at: number;
  };
}
