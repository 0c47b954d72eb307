import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("coupons.list", {
  summary: "List coupon codes, and to whom they were issued",
  defaults: { details: true },
});
