import { filteredList } from "../operations/filtered-list.ts";

export default filteredList({
  operation: "orders.list",
  search: "orders.search",
  summary: "List all order lines, or those that match filters",
  descriptions: {
    email: "only orders of this customer",
    product_id: "only lines with this product",
    order_id: "only this order",
    search: "only orders whose ID, address, or name contains this text",
    since_date: "only orders stored from this time on: 7d, 24h, 2w, yesterday, or a date or timestamp (UTC)",
    until_date: "only orders stored up to this time, or the end of this day (UTC)",
  },
  examples: [
    "starpost orders list --email ann@mail.example",
    "starpost orders list --search smith",
    "starpost orders list --product teapot --since 7d",
    "starpost orders list --since 7d --sort newest --limit 20",
    "starpost orders list --limit 20",
    "starpost orders list --since-date 2026-01-01 --details --format csv > orders.csv",
  ],
});
