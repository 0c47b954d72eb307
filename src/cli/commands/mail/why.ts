import { UserError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { ExplainedDecision, RuleResult } from "../../../contract/index.ts";
import type { OutputOf } from "../../../service/transport.ts";
import { text, type View } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";
import { withService } from "../../program/with-service.ts";

export const mailWhy = command({
  name: "mail why",
  summary: "Explain why an order's review-request emails were or were not sent",
  argument: "<order_id>",
  examples: ["starpost mail why 1001", "starpost mail why 1001 --product teapot --json"],
  flags: {
    product: { value: "<product_id>", description: "only this product of the order", read: readText },
  },
  run: async (context, { arguments: [order_id = ""], flags: { product: product_id } }) =>
    withService(context, async (service) => {
      try {
        return await service.emails.explain({ order_id, ...(product_id !== undefined && { product_id }) });
      } catch (error) {
        throw explainNotFound(error, order_id, product_id);
      }
    }),
  render: viewOfWhy,
});

function explainNotFound(error: unknown, orderId: string, productId: string | undefined): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.record === "Product" && productId !== undefined) {
    const hint = `To list its products, run \`starpost mail why ${orderId}\`.`;
    return new UserError("failed", `order ${orderId} has no product ${productId}`, hint, error);
  }
  if (error.record !== "Order") return error;
  return new UserError(
    "failed",
    `order ${orderId} not found`,
    "The service never received it, or received it under another ID. IDs are case-sensitive, and leading zeros count.",
    error,
  );
}

const resultLabels: Readonly<Record<RuleResult, string>> = {
  passed: "passed",
  decides: "SUPPRESSES",
  off: "off",
  not_asked: "not evaluated",
};

/** Shows every rule and its result, followed by a sentence that a store can send to its customer. */
function viewOfWhy(why: OutputOf<"emails.explain">): View {
  const { order_id, email, customer_name, order_date } = why;
  const title = `Order ${order_id} of ${order_date.slice(0, 10)}, ${customer_name} <${email}>`;
  const lines = why.decisions.flatMap((decision) => ["", ...describeDecision(decision)]);
  const rows = why.decisions.flatMap((decision) =>
    decision.rules.map(({ name, result, says }) => ({
      product_id: decision.products.map((product) => product.product_id).join(" "),
      rule: name,
      result,
      says,
      decided_by: decision.decided_by,
      sentence: decision.sentence,
    })),
  );
  return text([title, ...lines], rows, ["product_id", "rule", "result", "says", "decided_by", "sentence"]);
}

function describeDecision({ products, is_whole_order, mail_id, rules, sentence }: ExplainedDecision): string[] {
  const names = products.map(({ name, product_id }) => `${name} (${product_id})`).join(", ");
  const heading = is_whole_order ? `Entire order: ${names}` : names;
  const width = Math.max(...rules.map(({ name }) => name.length));
  return [
    mail_id === null ? heading : `${heading}, email ${mail_id}`,
    ...rules.map(({ name, result, says }) => {
      const reason = result === "decides" ? `: ${says}` : "";
      return `  ${name.padEnd(width)}  ${resultLabels[result]}${reason}`;
    }),
    ...products
      .filter(({ left_out_by }) => left_out_by !== null)
      .map(({ name, left_out_by }) => `  without ${name}: ${left_out_by}`),
    sentence,
  ];
}
