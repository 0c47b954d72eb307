import { failedError } from "../../../config/user-error.ts";
import type { CouponAction } from "../../../contract/coupons.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { listHints } from "../../program/errors/failure.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { oneOf } from "../../program/flag-values.ts";

const actions = valuesOfField("coupons.issue", "coupon_action") as readonly CouponAction[];

export default command({
  summary: "Issue a coupon code to a customer",
  calls: "write",
  examples: [
    "starpost coupons issue --action map_review --to ann@mail.example",
    "starpost coupons issue --action map_review --to ann@mail.example --idempotency-key review-1001 --jq .code",
  ],
  notes: [
    "Each code is issued once, in the order of upload. If no code of the action is left, the exit status is 1.",
    "A call with the idempotency key of an earlier one returns the same code, for 24 hours.",
  ],
  flags: {
    action: {
      value: "<action>",
      description: `what the customer did: ${actions.join(", ")}`,
      ...oneOf(actions),
      required: true,
    },
    to: { value: "<address>", description: "email address of the customer", required: true },
    "idempotency-key": { value: "<key>", description: "issue only one code for all calls with this key" },
  },
  run: async (context, { flags: { action, to, "idempotency-key": idempotencyKey } }) => {
    try {
      const input = { coupon_action: action, email: to };
      const { coupon } = await context.withService(({ coupons }) => coupons.issue(input, { idempotencyKey }));
      return coupon;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.record !== "Coupon") throw error;
      throw failedError(`no coupon code for ${action} is left`, listHints.Coupon, error);
    }
  },
  render: ({ code, coupon_action, email, issued_at }) => fields({ code, coupon_action, email, issued_at }),
});
