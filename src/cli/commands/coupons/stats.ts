import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("coupons.stats", { summary: "Count coupon codes by action" });
