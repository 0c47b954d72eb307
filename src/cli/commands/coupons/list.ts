import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("coupons.list", { name: "coupons list", summary: "List coupon codes" });
