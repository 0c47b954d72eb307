import { filteredList } from "../operations/filtered-list.ts";

export default filteredList({
  operation: "core.listProducts",
  search: "products.search",
  summary: "List products, or those whose ID or name contains a text",
  descriptions: { search: "only products whose ID or name contains this text" },
  examples: [
    "starpost products list --limit 20",
    "starpost products list --search teapot",
    "starpost products list --updated-at-min 2026-01-01T00:00:00Z --format csv > products.csv",
  ],
});
