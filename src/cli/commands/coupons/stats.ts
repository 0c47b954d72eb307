import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Count the coupon codes of each action, and those that are left",
  calls: "read",
  examples: ["starpost coupons stats", "starpost coupons stats --jq .left.map_review"],
  run: (context) => context.withService((service) => service.coupons.stats({ details: true })),
  // Other services do not report how many are left.
  render: ({ stats, left }) =>
    table(
      Object.entries(stats).map(([action, codes]) => ({ action, codes, left: left?.[action] ?? null })),
      ["action", "codes", "left"],
    ),
});
