import { filteredList } from "../operations/filtered-list.ts";

export default filteredList({
  operation: "coupons.list",
  search: "coupons.search",
  summary: "List coupon codes, and to whom they were issued",
  defaults: { details: true },
  descriptions: { search: "only codes that contain this text" },
  examples: ["starpost coupons list", "starpost coupons list --search SPRING"],
});
