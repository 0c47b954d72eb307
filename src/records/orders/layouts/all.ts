import type { Layout } from "../../../import/layouts/layout.ts";
import { bigcommerceOrders } from "./bigcommerce.ts";
import { squarespace, tiendanube, wix } from "./hosted-shops.ts";
import { magentoOrders } from "./magento.ts";
import { amazon, etsy } from "./marketplaces.ts";
import { matrixify } from "./matrixify.ts";
import { prestashop } from "./prestashop.ts";
import { shopifyOrders, woocommerceAnalytics, woocommerceOrders } from "./woocommerce.ts";

/** The layouts of orders; `kind.ts` lists their names. */
export const orderLayouts: readonly Layout[] = [
  shopifyOrders,
  matrixify,
  woocommerceOrders,
  woocommerceAnalytics,
  magentoOrders,
  prestashop,
  bigcommerceOrders,
  squarespace,
  wix,
  tiendanube,
  amazon,
  etsy,
];
