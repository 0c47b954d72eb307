import type { Topic } from "./topic.ts";

export const layouts: Topic = {
  name: "layouts",
  summary: "files that shops export, read as they are",
  blocks: [
    "The layout of a file is known by its header, and said. --layout names it where the header does not tell; the shop's name alone will do.",
    {
      rows: [
        ["none, native", "our own columns: order_id, email, …"],
        ["catalogue", "the product catalogue of other vendors of reviews"],
        ["shopify-orders, shopify-products", "Shopify: Orders or Products, then Export"],
        ["shopify-variants", "the same, with a product for each variant; only where asked for"],
        ["woocommerce-orders, woocommerce-products", "WooCommerce, and its export extensions"],
        ["magento-orders, magento-products", "Magento 1 and 2, Adobe Commerce"],
        ["bigcommerce-orders, bigcommerce-products", "BigCommerce: Orders or Products, then Export"],
      ],
    },
    "Where a file's dates do not say what is day and what is month, -dmy or -mdy behind the layout's name does.",
    "Hardly an export has the addresses of products. --product-url makes them of a pattern, --set gives a field a value where a row has none.",
    {
      lines: [
        "starpost orders import orders_export.csv --product-url 'https://shop.example/products/{product_id}'",
        "starpost orders import export.csv --layout woocommerce --set currency_iso=EUR",
      ],
    },
  ],
};
