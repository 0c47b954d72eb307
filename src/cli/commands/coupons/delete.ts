import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("coupons.delete", {
  summary: "Delete all coupon codes of an action",
});
