import type { Topic } from "./topic.ts";

export const layouts: Topic = {
  name: "layouts",
  summary: "importing the exports of shop platforms",
  blocks: [
    "The layout of a file is detected from its header and reported. If the header is ambiguous, set --layout to the name of a layout or platform.",
    {
      rows: [
        ["none, native", "starpost's own columns: order_id, email, …"],
        ["catalog", "product catalog of other review services"],
        ["shopify-orders, shopify-products", "Shopify: Orders or Products, then Export"],
        ["shopify-variants", "the same, with one product per variant; never detected"],
        ["woocommerce-orders, woocommerce-products", "WooCommerce and its export extensions"],
        ["magento-orders, magento-products", "Magento 1 and 2, Adobe Commerce"],
        ["magento1-products", "Magento 1: System, Import/Export, Export"],
        ["bigcommerce-orders, bigcommerce-products", "BigCommerce: Orders or Products, then Export"],
        ["judgeme, loox, okendo, opinew, ryviu, stamped, yotpo", "reviews of the app of that name"],
        ["shopify-product-reviews, woocommerce-reviews", "reviews of Shopify Product Reviews and WooCommerce"],
        ["trustpilot", "reviews of the store on Trustpilot"],
        ["matrixify-orders", "Matrixify, an app for Shopify"],
        ["squarespace-orders, wix-orders, tiendanube-orders", "Squarespace, Wix, Tiendanube: Orders, then Export"],
        ["prestashop-orders", "PrestaShop: query of the SQL Manager, or an export module"],
        ["amazon-orders", "Amazon: Orders, then Order Reports"],
        ["etsy-orders, woocommerce-analytics-orders", "refused, because they have no email addresses"],
      ],
    },
    "If the order of day and month in dates is ambiguous, nothing is sent until --date-format specifies it.",
    "Most exports lack product URLs. --product-url builds them from a pattern, and --set provides a value for rows that lack one.",
    {
      lines: [
        "starpost orders import orders_export.csv --product-url 'https://shop.example/products/{product_id}'",
        "starpost orders import export.csv --layout woocommerce --set currency_iso=EUR",
      ],
    },
  ],
};
