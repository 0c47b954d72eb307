import type { Layout } from "../../../import/layouts/layout.ts";
import { asDay, asOrderNumber, asPrice } from "../../../import/layouts/values.ts";
import { idsBySku, statusFrom } from "./lines.ts";

/** Squarespace: Orders → Export. A row is a line item; only an order's first row has the order's own fields. */
export const squarespace: Layout = {
  name: "squarespace-orders",
  title: "a Squarespace orders export",
  signatures: [["Order ID", "Email", "Created at", "Lineitem name", "Lineitem quantity", "Lineitem variant"]],
  fields: {
    order_id: { from: ["Order ID"], as: asOrderNumber },
    email: { from: ["Email"] },
    customer_name: { from: ["Billing Name", "Shipping Name"] },
    order_date: { from: ["Created at", "Paid at"], as: asDay },
    currency_iso: { from: ["Currency"] },
    ...idsBySku("Lineitem sku", "Lineitem name", "Lineitem variant"),
    product_name: { from: ["Lineitem name"] },
    product_price: { from: ["Lineitem price"], as: asPrice },
    sku: { from: ["Lineitem sku"] },
    quantity: { from: ["Lineitem quantity"] },
    order_status: statusFrom("Financial Status"),
  },
  storePath: "/search?q={product_name}",
  groups: { by: { columns: ["Order ID"] }, makes: "lines" },
  notes: ["an order's own fields come from its first row"],
};

/** Wix: Orders → Export, one row per line item. */
export const wix: Layout = {
  name: "wix-orders",
  title: "a Wix orders export",
  signatures: [["Order number", "Date created", "Contact email", "Item"]],
  fields: {
    order_id: { from: ["Order number"], as: asOrderNumber },
    email: { from: ["Contact email"] },
    customer_name: { from: ["Billing name", "Recipient name", "Contact name"] },
    order_date: { from: ["Date created"], as: asDay },
    currency_iso: { from: ["Currency"] },
    ...idsBySku("SKU", "Item", "Variant"),
    product_name: { from: ["Item"] },
    product_price: { from: ["Price"], as: asPrice },
    sku: { from: ["SKU"] },
    quantity: { from: ["Qty"] },
    order_status: { from: ["Order status", "Payment status"] },
  },
  storePath: "/search-results?q={product_name}",
  groups: { by: { columns: ["Order number"] }, makes: "lines" },
};

const tiendanubeOrders = ["Número de orden", "Número do Pedido"];

/** Tiendanube and Nuvemshop: the export of orders, in Spanish or Portuguese, one row per line item. */
export const tiendanube: Layout = {
  name: "tiendanube-orders",
  title: "a Tiendanube orders export",
  // cspell:disable
  signatures: [
    ["Número de orden", "Email", "Fecha", "Nombre del producto"],
    ["Número do Pedido", "Email", "Data", "Nome do Produto"],
  ],
  fields: {
    order_id: { from: tiendanubeOrders, isOneColumn: true, as: asOrderNumber },
    email: { from: ["Email"] },
    customer_name: {
      from: ["Nombre del comprador", "Nome do comprador", "Nombre para el envío", "Nome para a entrega"],
    },
    order_date: { from: ["Fecha", "Data"], as: asDay },
    currency_iso: { from: ["Moneda", "Moeda"] },
    ...idsBySku("SKU", "Nombre del producto", "Nome do Produto"),
    product_name: { from: ["Nombre del producto", "Nome do Produto"] },
    product_price: { from: ["Precio del producto", "Valor do Produto"], as: asPrice },
    sku: { from: ["SKU"] },
    quantity: { from: ["Cantidad del producto", "Quantidade Comprada"] },
    order_status: {
      from: [["Estado de la orden", "Estado del pago", "Status do Pedido", "Status do Pagamento"]],
    },
  },
  storePath: "/search/?q={product_name}",
  // cspell:enable
  groups: { by: { columns: tiendanubeOrders }, makes: "lines" },
};
